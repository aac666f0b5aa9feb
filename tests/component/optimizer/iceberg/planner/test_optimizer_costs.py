"""Tests costs: many Iceberg tables need no more statements per page or queue turn than few."""

from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from optimizer.core.domain.tasks import TaskState
from optimizer.core.services.dispatcher import choose
from optimizer.iceberg.planner.domain.conflicts import REMEMBERED
from optimizer.iceberg.planner.services.maintainer import ICEBERG
from optimizer.iceberg.planner.services.planner import decide_due, facts_of
from optimizer.models import IcebergTable, OptimizeTask, PolicyVersion
from optimizer.policies.selectors.policies import policies_of
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import NOW, commit, iceberg, looks, partition, task
from tests.component.whole.test_page_costs import just_seen

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
FEW, MANY = 3, 40
ADDRESSES = (
    "/optimizer/tables/",
    "/optimizer/tables/?sort=-score",
    "/optimizer/tables/?show=task",
    "/optimizer/queue/",
    "/optimizer/queue/?state=HELD",
    "/optimizer/queue/now/",
)
STATEMENTS_A_TABLE = 9


def grow(first: int, last: int, *, now: datetime) -> None:
    """Make tables with a past: looks, a partition, a commit, and tasks in every state."""
    for n in range(first, last):
        row = iceberg(f"t{n}", now=now, health=float(n), decided_at=None)
        looks(row, [80.0, 70.0], now=now)
        partition(row, "at_day=2026-11-22")
        commit(row, 7, at=now)
        task(row, now=now, state=(TaskState.WAITING, TaskState.HELD, TaskState.SENT)[n % 3])
        task(row, now=now, state=TaskState.DONE, commits=[])


def statements(client: Client, address: str) -> int:
    """Count what a page asks of the database."""
    just_seen(client)
    with CaptureQueriesContext(connection) as caught:
        answer: Any = client.get(address)
    assert answer.status_code == 200, answer.content[:400]
    return len(caught)


def test_pages_ask_as_much_for_many_tables_as_for_few(people: People) -> None:
    now = timezone.now()
    grow(0, FEW, now=now)
    client = Client()
    client.force_login(people.admin)
    for address in ADDRESSES:
        client.get(address)
    few = {address: statements(client, address) for address in ADDRESSES}
    grow(FEW, MANY, now=now)
    assert {address: statements(client, address) for address in ADDRESSES} == few


def test_deciding_a_table_takes_few_statements_and_ranking_no_more_for_many(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    PolicyVersion.objects.create(
        lake="main", scope="*", version=1, values={"is_on": True}, by="ada", at=NOW, reason="test"
    )
    grow(0, MANY, now=NOW)
    with django_assert_max_num_queries(5 + STATEMENTS_A_TABLE * MANY):
        assert decide_due("main", now=NOW) == MANY
    assert not IcebergTable.objects.filter(decided_at=None).exists()
    OptimizeTask.objects.filter(is_open=True).update(state=TaskState.WAITING)
    with django_assert_max_num_queries(9):
        assert choose(ICEBERG, "main", now=NOW)


def test_of_a_tables_commits_those_are_weighed_that_could_conflict() -> None:
    row = iceberg()
    commit(row, 1, at=NOW - REMEMBERED * 2, operation="overwrite")
    commit(row, 2, at=NOW, operation="append")
    commit(row, 3, at=NOW, operation="overwrite", is_ours=True)
    commit(row, 4, at=NOW, operation="overwrite")
    commit(row, 5, at=NOW, operation="")
    found = policies_of(row.lake).of(row.db, row.table)
    assert {one.operation for one in facts_of(row, found, now=NOW).commits} == {"overwrite", ""}
    assert len(facts_of(row, found, now=NOW).commits) == 2
