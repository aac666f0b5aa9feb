"""From a commit of Spark to a queued task: a real writer, a real metastore's log, the follower."""

from collections.abc import Iterable
from typing import Any

import pytest
from django.utils import timezone

from optimizer.core.domain.tasks import TaskState
from optimizer.models import Commit, IcebergTable, OptimizeTask, PolicyVersion
from portal.events.selectors import alarms_open
from stack.stack import LAKE, Stack
from tests.support.refreshed import follow
from tests.support.sql import SqlShell

pytestmark = [pytest.mark.django_db]
DB = "heard"
ICE = "org.apache.iceberg.spark.SparkCatalog"


@pytest.fixture
def sql(embedded_stack: Stack, embedded_sql: SqlShell, settings: Any) -> SqlShell:
    """The shared shell with the lake's Iceberg tables as `ice`, all switched on."""
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    PolicyVersion.objects.create(
        lake=LAKE,
        scope="*",
        version=1,
        values={"is_on": True},
        by="a",
        at=timezone.now(),
        reason="t",
    )
    embedded_sql.run(
        f"set spark.sql.catalog.ice={ICE}",
        "set spark.sql.catalog.ice.type=hive",
        f"set spark.sql.catalog.ice.uri={embedded_stack.config().metastore_uri}",
        f"create database if not exists {DB}",
        f"drop table if exists ice.{DB}.clicks",
    )
    follow()
    return embedded_sql


def rows_of(commits: Iterable[Commit]) -> list[tuple[str, int, str]]:
    return [(one.operation, one.n_added, one.source) for one in commits]


def test_a_commit_is_a_queued_task_by_the_follower_s_next_turn(
    sql: SqlShell,
) -> None:
    sql.run(f"create table ice.{DB}.clicks (id bigint) using iceberg")
    follow()
    made = IcebergTable.objects.get(db=DB)
    assert (made.snapshot_id, made.is_deleted) == (None, False)
    spread = "select /*+ repartition(14) */ id from range(140)"
    sql.run(f"insert into ice.{DB}.clicks {spread}")
    follow()
    task = OptimizeTask.objects.get()
    made.refresh_from_db()
    assert (task.table_id, task.state) == (made.pk, TaskState.WAITING)
    assert "14 files" in task.reason
    assert made.committed_at is not None
    assert made.committed_at <= task.created_at
    assert rows_of(made.commits.all()) == [("append", 14, "event")]

    sql.run(f"alter table ice.{DB}.clicks rename to ice.{DB}.taps")
    follow()
    made.refresh_from_db()
    assert (made.table, made.commits.count()) == ("taps", 1)
    sql.run(f"drop table ice.{DB}.taps", f"create table ice.{DB}.taps (id bigint) using iceberg")
    follow()
    made.refresh_from_db()
    task.refresh_from_db()
    assert (made.is_deleted, task.state) == (True, TaskState.ABANDONED)
    assert IcebergTable.objects.get(db=DB, is_deleted=False).uuid != made.uuid
    assert not alarms_open(LAKE).exists()
