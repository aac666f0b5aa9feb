"""Tests the API of tables, queue and history: it returns what the pages show."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.access.models import User
from refresh.models import Cluster, RefreshOutcome
from tests.component.conftest import People
from tests.component.refresh.refresh_rows import cluster
from tests.component.refresh.refresh_tables import running, statement, target, waiting, wrong

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
ROOT = "/api/v1/refresh/"
LISTS = (
    *("/refresh/tables/", "/refresh/queue/", "/refresh/queue/now/", "/refresh/history/"),
    *(f"{ROOT}tables/", f"{ROOT}queue/", f"{ROOT}queue/now/", f"{ROOT}history/"),
)
QUERIES_AT_MOST = 14  # two of them are the badges of the menu
# A list, and the picture of what runs above it with the addresses of its front ends.
QUERIES_OF_THE_QUEUE = 16


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    client.get("/profile/")  # the first visit writes the session
    return client


def got(user: User, path: str) -> Any:
    answer = client_of(user).get(f"{ROOT}{path}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_tables(people: People, now: datetime) -> None:
    bi = cluster()
    target(bi, "fresh", now=now)
    row = wrong(bi, "orders", now=now, owner="paul")
    found = got(people.admin, "tables/")["results"]
    assert [one["table"] for one in found] == ["orders", "fresh"]
    assert found[0]["hive_table"] == "shop.orders"
    assert [fe["front_end"] for fe in found[0]["front_ends"]] == [
        "127.0.0.2:9030",
        "127.0.0.3:9030",
    ]
    assert [one["table"] for one in got(people.owner, "tables/")["results"]] == ["fresh"]
    one = got(people.admin, f"tables/{row.pk}/")
    assert (one["danger"], one["front_ends"][1]["n_tries"]) == ("WRONG", 0)
    owed = got(people.admin, f"tables/{row.pk}/changes/")["results"]
    assert [(change["name"], change["touch"]) for change in owed] == [("dt=2026-11-21", "UPDATED")]
    assert client_of(people.owner).get(f"{ROOT}tables/{row.pk}/").status_code == 404
    assert client_of(people.owner).get(f"{ROOT}tables/{row.pk}/changes/").status_code == 404
    bad = client_of(people.admin).get(f"{ROOT}tables/?freshness=NONSENSE")
    assert bad.status_code == 400


def test_the_queue(people: People, now: datetime) -> None:
    bi = cluster()
    running(bi, "busy", now=now)
    waiting(bi, "carts", now=now, n_tries=1, not_before=now + timedelta(minutes=5))
    found = got(people.admin, "queue/now/")
    assert [one["table"] for one in found["running"]] == ["busy"]
    assert [one["n_retries"] for one in found["lanes"]] == [0, 1, 0, 0]
    counts = {one["lane"]: one["n_waiting"] for one in found["lanes"]}
    assert counts == {"NEW": 0, "FAST": 1, "SLOW": 0, "GIANT": 0}
    waits = got(people.admin, "queue/?lane=FAST")["results"]
    assert [(one["table"], one["lane"]) for one in waits] == [("carts", "FAST")]
    assert got(people.stranger, "queue/")["results"] == []


def test_the_history_turns_its_pages(people: People, now: datetime) -> None:
    row = target(cluster(), "orders", now=now)
    made = [statement(row, began=now - timedelta(minutes=n)) for n in range(5, 0, -1)]
    statement(row, began=now, ending=RefreshOutcome.RUNNING, on_fes={})
    first = got(people.owner, "history/?size=4")
    rest = client_of(people.owner).get(first["next"]).json()
    ids = [one["id"] for one in (*first["results"], *rest["results"])]
    assert ids[1:] == [str(one.public_id) for one in reversed(made)]
    assert rest["next"] is None
    one = got(people.owner, f"history/{made[0].public_id}/")
    assert one["on_fes"]["127.0.0.3:9030"][0] == "FAILED"
    assert (one["waited"], one["seconds"]) == (4.0, 2.5)
    address = f"{ROOT}history/{made[0].public_id}/"
    assert client_of(people.stranger).get(address).status_code == 404


def grow(bi: Cluster, names: Iterable[str], *, now: datetime) -> None:
    for name in names:
        statement(waiting(bi, name, now=now), began=now)
        running(bi, f"{name}_running", now=now)


def test_lists_ask_few_questions_and_not_more_for_more_rows(people: People, now: datetime) -> None:
    client = client_of(people.admin)

    def n_queries(path: str) -> int:
        with CaptureQueriesContext(connection) as caught:
            assert client.get(path).status_code == 200
        return len(caught)

    bi = cluster(n_fes=3)
    grow(bi, "abc", now=now)
    few = {path: n_queries(path) for path in LISTS}
    grow(bi, (f"t{n}" for n in range(40)), now=now)
    many = {path: n_queries(path) for path in LISTS}
    assert many == few
    assert many.pop("/refresh/queue/") <= QUERIES_OF_THE_QUEUE
    assert {path: n for path, n in many.items() if n > QUERIES_AT_MOST} == {}
