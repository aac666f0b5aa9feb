"""However many very large tables wait, a small table has its turn.

By lanes, and behind the lock of 2.2.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from refresh.models import Cluster, Refresh, RefreshOutcome, RefreshTarget
from refresh.worker.domain.lanes import Lane
from refresh.worker.domain.steps import StepKind
from refresh.worker.services.worker import Worker
from stack.clusters import RESOURCE
from stack.stack import Stack
from stack.starrocks.spec import ResourceTable
from tests.support.refreshed import follow, govern, govern_old, work
from tests.support.sql import SqlShell

pytestmark = [pytest.mark.django_db(transaction=True)]
DB = "lanes"
GIANTS = ("g1", "g2", "g3")
SMALL = "small"
TABLES = (*GIANTS, SMALL)
COLUMNS = (("id", "bigint(20)"), ("dt", "varchar(64)"))
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# What a table of 100,000 partitions took, as the worker remembers it.
SLOW = {kind.value: [[100.0, 1]] for kind in StepKind}


@pytest.fixture
def tables(embedded_sql: SqlShell) -> None:
    """Four tables with a partition each."""
    embedded_sql.run(
        f"drop database if exists {DB} cascade",
        f"create database {DB}",
        *(
            f"create table {DB}.{name} (id bigint) partitioned by (dt string) stored as parquet"
            for name in TABLES
        ),
        *(f"alter table {DB}.{name} add partition (dt='1')" for name in TABLES),
    )


@pytest.fixture
def worker() -> Iterator[Worker]:
    """A worker of this process."""
    one = Worker(holder="test", clock=timezone.now)
    yield one
    one.stop()


def change_all(sql: SqlShell) -> None:
    """Let Spark add a partition to each, the very large tables first, and hear of it."""
    sql.run(*(f"alter table {DB}.{name} add partition (dt='2')" for name in TABLES))
    follow()
    RefreshTarget.objects.filter(table__in=GIANTS).update(past=SLOW)
    RefreshTarget.objects.exclude(due_at=None).update(due_at=timezone.now(), not_before=None)


def turn(worker: Worker) -> None:
    """Let a worker send what may be sent now, and wait for the answers."""
    worker.turn()
    assert worker.wait_idle(60)


def sent() -> list[str]:
    """Return the tables in the order in which statements for them began."""
    return list(Refresh.objects.order_by("began_at", "pk").values_list("target__table", flat=True))


@pytest.mark.usefixtures("tables")
def test_r4_n15_of_many_giants_one_goes_at_a_time_and_a_small_table_beside_it(
    worker: Worker, embedded_stack: Stack, embedded_sql: SqlShell, settings: Any
) -> None:
    cluster = govern(embedded_stack, settings)
    follow()
    work(worker)
    Cluster.objects.filter(pk=cluster.pk).update(per_fe=3, per_catalog=3)
    Refresh.objects.all().delete()
    change_all(embedded_sql)
    turn(worker)
    lanes = dict(RefreshTarget.objects.exclude(steps=None).values_list("table", "lane"))
    assert lanes == {**dict.fromkeys(GIANTS, Lane.GIANT), SMALL: Lane.FAST}, "all are planned"
    turn(worker)
    assert sorted(sent()) == ["g1", SMALL], (
        "the last to change goes beside the first of the very large tables"
    )
    work(worker)
    assert set(sent()) == set(TABLES), "and every very large table comes to its turn"
    assert set(Refresh.objects.values_list("ending", flat=True)) == {RefreshOutcome.DONE}


@pytest.mark.usefixtures("tables")
def test_r4_behind_the_one_lock_giants_wait_for_their_hours_and_then_for_the_others(
    worker: Worker, embedded_stack: Stack, embedded_sql: SqlShell, settings: Any
) -> None:
    for name in TABLES:
        table = ResourceTable("ext", name, RESOURCE, DB, name, COLUMNS)
        embedded_stack.old_starrocks.add_table(table)
    cluster = govern_old(embedded_stack, settings)
    follow()
    work(worker)
    another_day = DAYS[(timezone.now().weekday() + 3) % len(DAYS)]
    Cluster.objects.filter(pk=cluster.pk).update(large_table_window=f"{another_day} 00:00-01:00")
    Refresh.objects.all().delete()
    change_all(embedded_sql)
    for _ in range(6):
        turn(worker)
    assert set(sent()) == {SMALL}, "no very large table goes out of its hours"

    Refresh.objects.all().delete()
    embedded_sql.run(f"alter table {DB}.{SMALL} add partition (dt='3')")
    follow()
    RefreshTarget.objects.exclude(due_at=None).update(due_at=timezone.now(), not_before=None)
    turn(worker)
    assert not RefreshTarget.objects.filter(steps=None).exists(), "all are planned"
    Cluster.objects.filter(pk=cluster.pk).update(large_table_window="")
    while RefreshTarget.objects.filter(table=SMALL).exclude(due_at=None).exists():
        turn(worker)
    n_small = sent().count(SMALL)
    assert sent()[:n_small] == [SMALL] * n_small, (
        "who came last went first, with all that it needed"
    )
    work(worker)
    assert set(sent()) == set(TABLES)
    assert set(Refresh.objects.values_list("ending", flat=True)) == {RefreshOutcome.DONE}
