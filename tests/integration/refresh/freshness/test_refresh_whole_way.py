"""From what Spark writes to what every front end answers: follower, worker, real metastore."""

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from portal.lake.errors import ExternalFailure
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from quality.ready_flag.services.marking import Mark, partitions_mark
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.services.record_changes import Change, note_change
from refresh.changes.services.webhooks import WriteReport, report_write
from refresh.clusters.domain.frontends import FeState
from refresh.clusters.services.front_ends import front_ends_read, login_of
from refresh.core.connectors.front_end import FrontEndClient
from refresh.core.domain.names import ClusterId, ExternalTable
from refresh.core.domain.versions import Dialect
from refresh.freshness.domain.coverage import Wish
from refresh.freshness.domain.freshness import Danger, Freshness
from refresh.freshness.domain.visibility import Visibility
from refresh.freshness.selectors.waiting import Asked, look
from refresh.models import (
    ChangedPartition,
    Cluster,
    Refresh,
    RefreshOutcome,
    RefreshTarget,
    TargetFrontEnd,
)
from refresh.verify.services.file_checks import look_at_files
from refresh.verify.services.probing import probe
from refresh.verify.services.sweeping import LIMITS
from refresh.worker.services.worker import Worker
from stack.clusters import CATALOG
from stack.stack import LAKE, Stack
from stack.starrocks.front_end import Life
from stack.starrocks.link import Trouble
from tests.component.stack.starrocks.starrocks_cluster import wait_until
from tests.support.refreshed import follow, govern, pictures, work
from tests.support.sql import SqlShell

pytestmark = [pytest.mark.django_db(transaction=True)]
DB = "whole_way"
N_BACKFILLED = 500


@pytest.fixture
def cluster(embedded_stack: Stack, embedded_sql: SqlShell, settings: Any) -> Cluster:
    """The cluster `bi`, a table with two partitions, and a follower that has heard of both."""
    row = govern(embedded_stack, settings)
    embedded_sql.run(
        f"drop database if exists {DB} cascade",
        f"create database {DB}",
        f"create table {DB}.sales (id bigint) partitioned by (dt string) stored as parquet",
    )
    follow()
    insert(embedded_sql, "2026-11-01", 1)
    insert(embedded_sql, "2026-11-02", 1)
    follow()
    return row


@pytest.fixture
def worker() -> Iterator[Worker]:
    """A worker of this process."""
    one = Worker(holder="test", clock=timezone.now)
    yield one
    one.stop()


def insert(sql: SqlShell, day: str, n_rows: int) -> None:
    into = f"table {DB}.sales partition (dt='{day}')"
    sql.run(" ".join(("insert overwrite", into, "select id from", f"range({n_rows})")))


def test_r2_r6_all_that_spark_does_to_a_table_reaches_every_front_end(
    cluster: Cluster, worker: Worker, embedded_stack: Stack, embedded_sql: SqlShell
) -> None:
    server, sql = embedded_stack.starrocks, embedded_sql
    work(worker)
    before = pictures(cluster, server, f"{DB}.sales")
    assert before == [before[0]] * 3
    assert before[0].n_partitions == 2

    # A new partition: the metastore tells of it.
    insert(sql, "2026-11-03", 1)
    follow()
    work(worker)
    assert {one.n_partitions for one in pictures(cluster, server, f"{DB}.sales")} == {3}

    # Into a partition that is there: no event; the job's hook tells of it (N16).
    insert(sql, "2026-11-02", 100_000)
    follow()
    assert not RefreshTarget.objects.exclude(due_at=None).exists(), "Spark leaves no event"
    hive = TableName(LakeId(LAKE), DB, "sales")
    told = Change(hive, Cause.HOOK, partitions={"dt=2026-11-02": PartitionChange.UPDATED})
    note_change(told, now=timezone.now())
    work(worker)
    after = pictures(cluster, server, f"{DB}.sales")
    assert after == [after[0]] * 3
    assert (after[0].cardinality or 0) > 10 * (before[0].cardinality or 0)

    view = "create temporary view days as select id, concat('b', id) dt from"
    # A drop, and a backfill that the metastore tells of partition by partition.
    sql.run(
        f"alter table {DB}.sales drop partition (dt='2026-11-01')",
        "set hive.exec.dynamic.partition.mode=nonstrict",
        " ".join((view, f"range({N_BACKFILLED})")),
        f"insert into {DB}.sales partition (dt) table days",
    )
    follow()
    n_before = Refresh.objects.count()
    work(worker)
    n_left = 2 + N_BACKFILLED
    assert {one.n_partitions for one in pictures(cluster, server, f"{DB}.sales")} == {n_left}
    assert Refresh.objects.count() - n_before <= 3, "many partitions are few statements"

    # On a busy machine a front end may answer too late for a moment, and is away for so long.
    deadline = time.monotonic() + 120
    while stands := TargetFrontEnd.objects.exclude(freshness=Freshness.FRESH).values_list("reason"):
        assert time.monotonic() < deadline, list(stands)
        worker.turn()
        assert worker.wait_idle(60)
    assert TargetFrontEnd.objects.exists()
    assert set(Refresh.objects.values_list("ending", flat=True)) == {RefreshOutcome.DONE}
    assert not ChangedPartition.objects.exists()


def test_r6_a_renamed_table_is_gone_under_its_old_name_and_there_under_the_new(
    cluster: Cluster, worker: Worker, embedded_stack: Stack, embedded_sql: SqlShell
) -> None:
    work(worker)
    server = embedded_stack.starrocks
    assert {one.n_partitions for one in pictures(cluster, server, f"{DB}.sales")} == {2}
    embedded_sql.run(f"alter table {DB}.sales rename to {DB}.sold")
    follow()
    work(worker)
    assert {one.n_partitions for one in pictures(cluster, server, f"{DB}.sold")} == {2}
    for host, port in server.addresses:
        client = FrontEndClient.connect(
            host, port, login=login_of(cluster), dialect=Dialect.CATALOGS
        )
        assert isinstance(client, FrontEndClient)
        with client, pytest.raises(ExternalFailure):
            client.plan(ExternalTable(ClusterId("bi"), CATALOG, DB, "sales"))
    gone = RefreshTarget.objects.get(table="sales")
    assert gone.watched.is_deleted
    assert gone.due_at is None


def test_r3_n12_n14_n16_a_silent_overwrite_is_found_shown_as_a_danger_and_waited_for(
    cluster: Cluster, worker: Worker, embedded_stack: Stack, embedded_sql: SqlShell
) -> None:
    server = embedded_stack.starrocks
    work(worker)
    before = pictures(cluster, server, f"{DB}.sales")
    watched = RefreshTarget.objects.get().watched
    assert look_at_files(watched, clock=timezone.now, limits=LIMITS) == 2
    insert(embedded_sql, "2026-11-02", 100_000)
    follow()
    assert look_at_files(watched, clock=timezone.now, limits=LIMITS) == 2
    assert ChangedPartition.objects.get().name == "dt=2026-11-02"

    # Its refresh fails while front ends cannot reach the metastore: queries are wrong now.
    server.set_weather(None, Trouble.DOWN)
    RefreshTarget.objects.update(due_at=timezone.now())
    for _ in range(2):
        worker.turn()
        assert worker.wait_idle(60)
    row = RefreshTarget.objects.get()
    assert (row.freshness, row.danger, row.rank) == (Freshness.STALE, Danger.WRONG, 1)
    assert row.problem
    server.set_weather(None, Trouble.NONE)

    told = report_write(
        WriteReport(LAKE, f"{DB}.sales", ("dt=2026-11-02",)), user=None, now=timezone.now()
    )
    asked = Asked(
        told.hive,
        Wish(told.written_at, is_partitioned=True, partitions=frozenset({"dt=2026-11-02"})),
        deadline=told.written_at + timedelta(minutes=5),
        is_strict=True,
    )
    assert not look(asked, now=timezone.now()).is_visible
    dead = server.addresses[2][0]
    server.set_life(dead, Life.DEAD)
    wait_until(lambda: _is_listed_dead(cluster, dead))
    work(worker)
    seen = look(asked, now=timezone.now())
    assert seen.is_visible, seen
    (on_bi,) = seen.clusters
    assert [fe.visibility for fe in on_bi.fes].count(Visibility.EXCLUDED) == 1
    server.set_life(dead, Life.RUNNING)
    after = pictures(cluster, server, f"{DB}.sales")
    assert after == [after[0]] * 3
    assert (after[0].cardinality or 0) > 10 * (before[0].cardinality or 0)


def test_n13_a_front_end_that_answers_from_other_data_is_found_and_mended(
    cluster: Cluster, worker: Worker, embedded_stack: Stack, embedded_sql: SqlShell
) -> None:
    server = embedded_stack.starrocks
    work(worker)
    pictures(cluster, server, f"{DB}.sales")
    insert(embedded_sql, "2026-11-02", 100_000)
    server.restart_front_end(server.addresses[2][0])
    front_ends_read(cluster, now=timezone.now())
    seen = pictures(cluster, server, f"{DB}.sales")
    assert seen[0] == seen[1] != seen[2], "only the restarted one loaded what is there now"
    target = RefreshTarget.objects.select_related("cluster", "watched").get()
    assert probe(target, clock=timezone.now)
    target.refresh_from_db()
    assert (target.freshness, target.danger) == (Freshness.DIVERGED, Danger.WRONG)
    work(worker)
    after = pictures(cluster, server, f"{DB}.sales")
    assert after == [after[0]] * 3


def _is_listed_dead(cluster: Cluster, host: str) -> bool:
    front_ends_read(cluster, now=timezone.now())
    return cluster.front_ends.get(host=host).state is FeState.DEAD


@pytest.mark.rows("B3")
def test_what_is_not_ready_is_published_by_its_flip(
    cluster: Cluster, worker: Worker, embedded_stack: Stack, embedded_sql: SqlShell
) -> None:
    work(worker)
    before, n_before = pictures(cluster, embedded_stack.starrocks, f"{DB}.sales"), n_sent()

    def say(*, ready: bool) -> None:
        mark = Mark(LAKE, f"{DB}.sales", ("dt=2026-11-02",), ready=ready)
        assert partitions_mark(mark, user=None, now=timezone.now()).n_changed == 1
        follow()
        work(worker)

    say(ready=False)
    insert(embedded_sql, "2026-11-02", 100_000)
    told = WriteReport(LAKE, f"{DB}.sales", ("dt=2026-11-02",))
    report_write(told, user=None, now=timezone.now())
    work(worker)
    assert n_sent() == n_before, "nobody is told of what is not ready, whoever says that it is new"
    say(ready=True)
    assert n_sent() == n_before + 1
    after = pictures(cluster, embedded_stack.starrocks, f"{DB}.sales")
    assert after == [after[0]] * 3
    assert (after[0].cardinality or 0) > 10 * (before[0].cardinality or 0)


def n_sent() -> int:
    return Refresh.objects.count()
