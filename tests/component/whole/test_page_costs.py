"""Tests page costs: the same at 200,000 partitions (and a million) as at ten thousand.

Work is counted, not timed: queries, steps of SQLite's virtual machine (on MariaDB rows read by
its handlers), and calls of Python functions. Two pictures of the lake and its history are made by
bulk inserts (`big_lake.py`).
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from types import FrameType
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.access.models import LakeRole, User
from portal.connectors.lake_config import LakeConfig
from portal.ui.lists.keyset import SIZE
from tests.component.conftest import LAKE, People
from tests.component.lifecycle.big_lake import BigLake

SMALL, BIG = 10_000, 200_000
GROWTH_AT_MOST = 1.2
QUERIES_FOR_BADGES = 2  # of the menu; owners decide on nothing, and need one
QUERIES_OF_A_LIST, QUERIES_OF_A_PAGE = 14 + QUERIES_FOR_BADGES, 36 + QUERIES_FOR_BADGES
# A month beside the list; the discussion of a plan; the header above a tab of a table.
QUERIES_MORE = {"/lifecycle/calendar/": 2, "/lifecycle/plans/": 1, "/t7/lifecycle/": 4}
# What somebody answers for: databases they administer, names of services they stand for.
QUERIES_FOR_RIGHTS = 2
ROWS_AT_MOST = 20 * SIZE
# Reading a row takes SQLite some five steps, showing one of forty columns some fifty.
STEPS_AT_MOST = 30 * ROWS_AT_MOST


@dataclass(frozen=True)
class Cost:
    """What one page costs."""

    queries: int
    rows: int
    calls: int


def pages(lake: BigLake) -> list[str]:
    """Return the addresses that are measured for an admin and for an owner."""
    return [
        "/",
        "/lifecycle/expiring/",
        "/lifecycle/expiring/?sort=name",
        "/lifecycle/expiring/?sort=due",
        "/lifecycle/expiring/?show=week",
        "/lifecycle/paths/",
        "/lifecycle/paths/?sort=owner",
        "/lifecycle/paths/?reason=OWNER_PATH_FAIL",
        "/lifecycle/databases/",
        "/tables/",
        "/tables/?sort=name",
        "/tables/?part=expiry",
        "/tables/?cols=health,owner,size,due,first_due,file_score,refreshed_at",
        "/tables/db0/t7/",
        "/tables/db0/t7/partitions/",
        "/tables/db0/t7/lifecycle/",
        "/tables/db0/t7/checks/",
        "/readiness/checks/",
        "/readiness/checks/coverage/",
        "/lifecycle/tables/db0/t7/why/?partition=dt=125",
        "/lifecycle/plans/",
        f"/lifecycle/plans/{lake.plan.pk}/",
        "/lifecycle/holds/",
        "/lifecycle/calendar/",
        "/lifecycle/backups/",
        "/lifecycle/dropped/",
        "/lifecycle/policy-requests/",
        "/runs/",
        "/mails/",
    ]


@contextmanager
def counting_calls(counted: list[int]) -> Iterator[None]:
    """Count calls of Python functions of this thread."""

    def count(frame: FrameType, event: str, _argument: Any) -> None:
        counted[0] += event == "call" and frame.f_code.co_name != "step"

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)


@contextmanager
def counting_rows(counted: list[int]) -> Iterator[None]:
    """Count what the database does: SQLite's steps, or the rows that MariaDB's handlers read."""
    if connection.vendor == "mysql":
        before = _rows_read()
        yield
        counted[0] += _rows_read() - before
        return
    every = 10

    def step() -> int:
        counted[0] += every
        return 0

    connection.connection.set_progress_handler(step, every)
    try:
        yield
    finally:
        connection.connection.set_progress_handler(None, every)


def _rows_read() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SHOW SESSION STATUS LIKE 'Handler_read%'")
        return sum(int(value) for _, value in cursor.fetchall())


def measure(client: Client, url: str) -> Cost:
    """Open a page and count; `warm_up` opened it before, so that templates are compiled."""
    just_seen(client)
    rows, calls = [0], [0]
    with CaptureQueriesContext(connection) as caught, counting_rows(rows):
        with counting_calls(calls):
            answer = client.get(url)
        n_queries = len(caught)
    assert answer.status_code == 200, (url, answer.content[:500])
    return Cost(n_queries, rows[0], calls[0])


def just_seen(client: Client) -> None:
    """Note activity now: the first visit after each minute writes the session."""
    client.get("/profile/")  # the menu counts again what waits
    session = client.session
    session["lw_seen_at"] = timezone.now().timestamp()
    session.save()


def warm_up(client: Client, lake: BigLake) -> None:
    """Open every page once."""
    for url in pages(lake):
        client.get(url)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    client.get("/profile/")  # the first visit writes the session
    return client


def keeper_of_the_lake() -> User:
    """Return an admin of this lake alone, to whom the rows of others are not open."""
    user = User.objects.create(username="kim")
    LakeRole.objects.create(user=user, role="admin", lake=LAKE)
    return user


@pytest.mark.timeout(1200)  # the machine may have other work
@pytest.mark.parametrize("n_partitions", [BIG, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_pages_cost_the_same_however_many_partitions(
    people: People, lake: LakeConfig, monkeypatch: pytest.MonkeyPatch, n_partitions: int
) -> None:
    """Also: few queries, and few rows behind a page of 50."""
    # What is opened again after a minute is written again, and a slow machine takes longer.
    monkeypatch.setattr("portal.search.services.opened.AGAIN_AFTER", timedelta(days=1))
    # At the lake's midnight a page would ask for another day than before.
    noon = timezone.now().replace(hour=12)
    monkeypatch.setattr("django.utils.timezone.now", lambda: noon)
    clients = {
        "admin": client_of(people.admin),
        "keeper": client_of(keeper_of_the_lake()),
        "owner": client_of(people.owner),
    }
    big = BigLake(noon.date())
    big.grow(SMALL)
    for client in clients.values():
        warm_up(client, big)
    small = costs(clients, big)
    big.grow(n_partitions)
    found = costs(clients, big)
    broken = [line for name in found for line in breaches(name, small[name], found[name])]
    assert broken == [], "\n" + "\n".join(broken)


def test_the_pages_of_a_plan_of_10_000_items_read_few_rows(
    people: People, lake: LakeConfig
) -> None:
    """Run on MariaDB too (test_portal_on_mariadb.py), which counts rows where SQLite has steps."""
    plan = BigLake(timezone.now().date()).plan
    for user in (people.admin, people.owner):
        client = client_of(user)
        for url in ("/lifecycle/plans/", f"/lifecycle/plans/{plan.pk}/"):
            client.get(url)
            cost = measure(client, url)
            assert 0 < cost.rows <= rows_at_most(), (user.username, url, cost)


def costs(clients: dict[str, Client], lake: BigLake) -> dict[tuple[str, str], Cost]:
    found = {
        (who, url): measure(client, url) for who, client in clients.items() for url in pages(lake)
    }
    # An owner has no database here, and the audit's events of one's own tables have no index.
    of_admin = ("/lifecycle/databases/db0/", "/audit/")
    staff = ("admin", "keeper")
    return found | {(who, url): measure(clients[who], url) for who in staff for url in of_admin}


def queries_at_most(who: str, url: str) -> int:
    """A list asks few; home has its cards, and a table's pages say much of one thing."""
    of_one_thing = url == "/" or "/tables/" in url
    more = 0 if who == "admin" else QUERIES_FOR_RIGHTS
    more += next((n for part, n in QUERIES_MORE.items() if part in url), 0)
    return more + (QUERIES_OF_A_PAGE if of_one_thing else QUERIES_OF_A_LIST)


def rows_at_most() -> int:
    """Return the limit of what `counting_rows` counts."""
    return ROWS_AT_MOST if connection.vendor == "mysql" else STEPS_AT_MOST


def breaches(name: tuple[str, str], small: Cost, big: Cost) -> list[str]:
    """Say which limits a page breaks."""
    limits: list[tuple[str, float, Callable[[Cost], int]]] = [
        ("queries", min(queries_at_most(*name), small.queries), lambda cost: cost.queries),
        ("rows", min(rows_at_most(), GROWTH_AT_MOST * small.rows), lambda cost: cost.rows),
        ("calls", GROWTH_AT_MOST * small.calls, lambda cost: cost.calls),
    ]
    return [
        f"{name}: {of(big)} {what} at many, {of(small)} at ten thousand, {limit:.0f} allowed"
        for what, limit, of in limits
        if of(big) > limit
    ]
