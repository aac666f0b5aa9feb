"""The caller of a ticket is told by a real HTTP server of an allow-list, and by no other."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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

pytestmark = pytest.mark.django_db


@dataclass
class Caller:
    """What the tool that opened a ticket was told."""

    url: str = ""
    status: int = 200
    told: list[dict[str, Any]] = field(default_factory=list)


@pytest.fixture
def caller(settings: Any) -> Iterator[Caller]:
    """A tool on loopback that the settings allow."""
    made = Caller()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            made.told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(made.status)
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    made.url = f"http://tool.example:{server.server_port}/hook"
    settings.LAKEWARDEN_CALLBACK_HOSTS = (f"tool.example:{server.server_port}",)
    settings.LAKEWARDEN_WEBHOOK_NETWORKS = ("127.0.0.1/32",)
    settings.LAKEWARDEN_WEBHOOK_PLAIN = True
    yield made
    server.shutdown()
    server.server_close()


@pytest.fixture
def shop(lake: LakeConfig, now: datetime) -> Pipeline:
    return shop_with_rows(now)


def here(_host: str, _port: int) -> list[str]:
    return ["127.0.0.1"]


def released(shop: Pipeline, url: str, now: datetime) -> None:
    ticket_open(shop, wanted("MODIFY qty bigint", callback_url=url), by=OTTO, now=now)
    in_the_lake(id="int", qty="bigint")
    tickets_follow(LAKE, now=now)


def test_the_caller_is_told_once_of_a_release(
    shop: Pipeline, caller: Caller, now: datetime
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
    shop: Pipeline, caller: Caller, now: datetime
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
    shop: Pipeline, caller: Caller, now: datetime
) -> None:
    for url in ("https://elsewhere.example/", "ftp://tool.example/", "http://u:p@tool.example/"):
        with pytest.raises(RuleViolation) as refused:
            ticket_open(shop, wanted("MODIFY qty bigint", callback_url=url), by=OTTO, now=now)
        assert refused.value.code == "ticket.callback"
    assert not SchemaTicket.objects.exists()


def test_a_name_that_leads_inside_is_not_called(
    shop: Pipeline, caller: Caller, now: datetime, settings: Any
) -> None:
    settings.LAKEWARDEN_WEBHOOK_NETWORKS = ()
    released(shop, caller.url, now)
    callbacks_send(LAKE, now=now, resolver=here)
    assert caller.told == []
    assert "127.0.0.1" in SchemaTicket.objects.get().callback_problem
