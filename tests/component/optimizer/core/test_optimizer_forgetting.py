"""What is old goes, in the order of its age and by an index; what something is told by stays."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.core.services import retention, speeds
from optimizer.core.services.retention import LEAST, tasks_forget
from optimizer.iceberg.tables.services.poll import commits_forget
from optimizer.models import Commit, IcebergTable, OptimizeTask, RemovalPlan
from tests.component.optimizer.optimizer_rows import NOW, commit, iceberg, task

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def test_commits_of_the_lake_go_after_their_days(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, other = iceberg(), iceberg(lake="other")
    for n, days in enumerate((29, 31, 40, 50)):
        commit(row, n, at=ago(days))
        commit(other, n, at=ago(days))
    monkeypatch.setattr(retention, "CHUNK", 2)
    assert commits_forget("main", now=NOW) == 3
    assert commits_forget("main", now=NOW) == 0
    assert [one.at for one in row.commits.all()] == [ago(29)]
    assert other.commits.count() == 4

    settings.LAKEWARDEN_OPTIMIZER_COMMIT_DAYS = 0
    commit(row, 9, at=NOW - LEAST + timedelta(minutes=1))
    assert commits_forget("main", now=NOW) == 1
    assert [one.snapshot_id for one in row.commits.all()] == [9]


def test_old_commits_are_found_by_their_index() -> None:
    commit(iceberg(), 1, at=ago(40))
    with CaptureQueriesContext(connection) as caught:
        commits_forget("main", now=NOW)
    wanted = caught.captured_queries[0]["sql"]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {wanted}")
        plan = " ".join(str(row[-1]) for row in cursor.fetchall())
    assert "INDEX optimizer_commit_old" in plan, plan
    assert "TEMP B-TREE" not in plan
    assert not Commit.objects.exists()


def ended(
    of: IcebergTable, days: float, *, state: TaskState = TaskState.DONE, **values: Any
) -> OptimizeTask:
    """A task that ended so many days ago."""
    return task(of, state=state, ended_at=ago(days), **{"commits": [], "seconds": None, **values})


def test_tasks_go_after_their_days_but_for_the_last_of_each_kind_and_outcome(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row, quiet = iceberg(), iceberg("quiet")
    lately = ended(row, 179)
    gone = [ended(row, days) for days in (181, 200, 300)]
    last_nothing = ended(row, 250, state=TaskState.NOTHING)
    gone.append(ended(row, 260, state=TaskState.NOTHING))
    last_full = ended(row, 400, kind=TaskKind.FULL)
    last_quiet = ended(quiet, 999)
    waits = task(row, kind=TaskKind.CLUSTER, created_at=ago(999))
    elsewhere = [ended(iceberg(lake="other"), days) for days in (200, 300)]
    elsewhere.append(ended(elsewhere[0].iceberg, 400))
    monkeypatch.setattr(retention, "CHUNK", 2)

    assert tasks_forget("main", now=NOW) == len(gone)
    assert tasks_forget("main", now=NOW) == 0
    kept = {lately, last_nothing, last_full, last_quiet, waits, *elsewhere}
    assert set(OptimizeTask.objects.all()) == kept


def test_tasks_that_tell_the_speed_or_have_a_list_of_removals_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = iceberg()
    done = [{"bytes_removed": 10, "bytes_added": 10, "n_removed": 2}]
    measured = [ended(row, days, seconds=10.0, commits=done) for days in (190, 200, 210)]
    ended(row, 180, seconds=None)
    expired = [ended(row, days, kind=TaskKind.EXPIRE) for days in (181, 200)]
    RemovalPlan.objects.create(
        table=row, task=expired[1], kind="EXPIRE", snapshot_id=7, digest="d", items_uri="file:/l",
        n_items=1, n_files=1, n_bytes=1, reason="old", created_at=ago(200),
    )  # fmt: skip
    monkeypatch.setattr(speeds, "LAST", 2)
    before = speeds.speed_of("main")
    assert before is not None

    assert tasks_forget("main", now=NOW) == 1
    assert not OptimizeTask.objects.filter(pk=measured[2].pk).exists()
    assert RemovalPlan.objects.filter(task=expired[1]).exists()
    assert speeds.speed_of("main") == before
