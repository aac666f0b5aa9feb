"""After an answer the person is where they were and sees it, and the same is not offered again."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from lifecycle.models import DeletionRequest, PolicyRequest
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.lifecycle.answers.owned_lake import DUE, READ, scan_tables, table

pytestmark = pytest.mark.django_db
PAGE = "/tables/sales/t1/lifecycle/?lake=main"
NEW = "/lifecycle/policy-requests/new/"
ABOUT = {"db": "sales", "table": "t1", "reason": "law", "next": PAGE}


@pytest.fixture
def olga(people: People, lake: LakeConfig) -> Client:
    scan_tables(lake, table(1, DUE, READ), now=timezone.now() - timedelta(minutes=5))
    found = Client()
    found.force_login(people.owner)
    return found


def send(client: Client, url: str, **said: Any) -> str:
    answer = client.post(url, {**ABOUT, **said})
    assert (answer.status_code, answer["Location"]) == (302, PAGE), answer.content.decode()[:900]
    return client.get(PAGE).content.decode()


def test_each_answer_leads_back_and_is_not_offered_again(olga: Client, lake: LakeConfig) -> None:
    before = olga.get(PAGE).content.decode()
    for offered in ("Keep for ever…", "Hand over…", "Request deletion now…", "recent reads…"):
        assert offered in before

    asked = send(olga, NEW, kind="SET", seen_level=1, seen_ttl=60, level=0, ttl=60)
    assert "Requested for sales.t1: an admin has to approve." in asked
    assert "Keep for ever…" not in asked
    assert "Withdraw…" in asked

    offered = send(olga, NEW, kind="HAND_OVER", seen_owner="olga", owner="dora")
    assert "Hand over…" not in offered

    wished = send(olga, "/lifecycle/wishes/new/")
    assert "Request deletion now…" not in wished
    assert "Deletion requested" in wished.replace("  ", " ")

    until = timezone.localdate(timezone=lake.zone) + timedelta(days=9)
    consented = send(olga, "/lifecycle/still-read/new/", until=until)
    assert "recent reads…" not in consented
    assert "olga consented" in consented


def test_a_kept_table_offers_to_keep_it_longer(olga: Client, lake: LakeConfig) -> None:
    until = timezone.localdate(timezone=lake.zone) + timedelta(days=30)
    days = {"kind": "EXTEND", "days": 30, "until": until}
    kept = send(olga, NEW, **days)
    assert "Keep 30 days more…" not in kept
    assert "Keep 30 days longer…" in kept


def test_what_was_asked_is_withdrawn_from_where_it_is_seen(olga: Client) -> None:
    send(olga, NEW, kind="SET", seen_level=1, seen_ttl=60, level=0, ttl=60)
    send(olga, "/lifecycle/wishes/new/")
    request, wish = PolicyRequest.objects.get(), DeletionRequest.objects.get()
    send(olga, f"/lifecycle/policy-requests/{request.pk}/withdraw/")
    after = send(olga, f"/lifecycle/wishes/{wish.pk}/close/")
    assert "Keep for ever…" in after
    assert "Request deletion now…" in after


def test_the_digest_of_a_request_is_behind_details(olga: Client) -> None:
    send(olga, NEW, kind="SET", seen_level=1, seen_ttl=60, level=0, ttl=60)
    request = PolicyRequest.objects.get()
    text = olga.get(f"/lifecycle/policy-requests/{request.pk}/").content.decode()
    assert text.index("<summary>Details</summary>") < text.index("<dt>Digest</dt>")


def test_no_answer_leads_to_another_site(olga: Client) -> None:
    said = {**ABOUT, "kind": "SET", "seen_level": 1, "seen_ttl": 60, "level": 0, "ttl": 60}
    answer = olga.post(NEW, {**said, "next": "https://evil.example/"})
    assert answer["Location"] == "/"
