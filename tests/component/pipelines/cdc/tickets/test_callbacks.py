"""The caller of a ticket is told by a real HTTP server of an allow-list, and by no other."""

import hashlib
import hmac
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from pipelines.cdc.tickets.services.callbacks import callbacks_send
from pipelines.cdc.tickets.services.following import tickets_follow
from pipelines.cdc.tickets.services.opening import ticket_open
from pipelines.models import Pipeline, SchemaTicket
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import RuleViolation
from portal.notices.callbacks import MOST_TRIES
from tests.component.conftest import LAKE
from tests.component.pipelines.cdc.control.test_pipelines import OTTO
from tests.component.pipelines.cdc.tickets.ticket_rows import in_the_lake, shop_with_rows, wanted
from tests.support.called import Called, called, here

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller(settings: Any) -> Iterator[Called]:
    """A tool on loopback that the settings allow."""
    with called(settings) as made:
        yield made


@pytest.fixture
def shop(lake: LakeConfig, now: datetime) -> Pipeline:
    return shop_with_rows(now)


def released(shop: Pipeline, url: str, now: datetime) -> None:
    ticket_open(shop, wanted("MODIFY qty bigint", callback_url=url), by=OTTO, now=now)
    in_the_lake(id="int", qty="bigint")
    tickets_follow(LAKE, now=now)


def test_the_caller_is_told_once_of_a_release(
    shop: Pipeline, caller: Called, now: datetime
) -> None:
    released(shop, caller.url, now)
    for _ in range(2):
        callbacks_send(LAKE, now=now, resolver=here)
    (said,) = caller.told
    ticket = SchemaTicket.objects.get()
    assert said == {
        "ticket": str(ticket.pk),
        "state": "RELEASED",
        "pipeline": "shop",
        "table": "shop.orders",
        "note": "",
    }
    assert (ticket.callback_sent_at, ticket.callback_problem) == (now, "")


def test_a_caller_that_fails_is_told_again_until_it_is_hopeless(
    shop: Pipeline, caller: Called, now: datetime
) -> None:
    caller.status = 503
    released(shop, caller.url, now)
    later = now
    for _ in range(MOST_TRIES + 2):
        callbacks_send(LAKE, now=later, resolver=here)
        later += timedelta(days=1)
    ticket = SchemaTicket.objects.get()
    assert len(caller.told) == MOST_TRIES
    assert (ticket.callback_at, ticket.callback_sent_at) == (None, None)
    assert "503" in ticket.callback_problem


def test_an_address_that_the_settings_do_not_name_is_refused(
    shop: Pipeline, caller: Called, now: datetime
) -> None:
    for url in ("https://elsewhere.example/", "ftp://tool.example/", "http://u:p@tool.example/"):
        with pytest.raises(RuleViolation) as refused:
            ticket_open(shop, wanted("MODIFY qty bigint", callback_url=url), by=OTTO, now=now)
        assert refused.value.code == "ticket.callback"
    assert not SchemaTicket.objects.exists()


def test_a_name_that_leads_inside_is_not_called(
    shop: Pipeline, caller: Called, now: datetime, settings: Any
) -> None:
    settings.LAKEWARDEN_WEBHOOK_NETWORKS = ()
    released(shop, caller.url, now)
    callbacks_send(LAKE, now=now, resolver=here)
    assert caller.told == []
    assert "127.0.0.1" in SchemaTicket.objects.get().callback_problem


def test_the_body_is_signed_by_the_secret_of_the_settings(
    shop: Pipeline, caller: Called, now: datetime, settings: Any
) -> None:
    settings.LAKEWARDEN_CALLBACK_SECRET = "both know it"
    released(shop, caller.url, now)
    callbacks_send(LAKE, now=now, resolver=here)
    mac = hmac.new(b"both know it", caller.bodies[0], hashlib.sha256).hexdigest()
    assert caller.signatures == [f"sha256={mac}"]
