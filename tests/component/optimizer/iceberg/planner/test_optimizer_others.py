"""N22: the queue waits for other writers to pause, not for ever, and takes cold data first."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.core.services.dispatcher import choose, claim
from optimizer.iceberg.planner.domain.conflicts import LONGEST_WAIT
from optimizer.iceberg.planner.run_kinds import OptimizeKind
from optimizer.iceberg.planner.services.actions import optimize_now
from optimizer.iceberg.planner.services.maintainer import ICEBERG, MAX_COMMITS, MAX_GROUP_BYTES
from optimizer.iceberg.planner.services.planner import decide_due, queue_events
from optimizer.models import IcebergTable, OptimizeTask
from portal.runs.models import Run
from tests.component.optimizer.iceberg.planner.test_optimizer_queue import policy
from tests.component.optimizer.optimizer_rows import NOW, commit, iceberg, partition, task

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
COLD, HOT = "day=2026-11-01", "day=2026-11-23"


def contested(*, n: int = 60, every: timedelta = timedelta(seconds=2)) -> IcebergTable:
    """A table whose newest day is overwritten again and again; the other day lies still."""
    policy(min_interval_minutes=1)
    row = iceberg(decided_at=None)
    partition(row, HOT, newest_commit_at=NOW)
    partition(row, COLD, newest_commit_at=NOW - timedelta(days=20))
    for place in range(n):
        commit(row, 100 + place, at=NOW - every * place, operation="overwrite")
    return row


def overwritten(row: IcebergTable, now: datetime, *, first: int) -> None:
    """Let the newest day be overwritten until now, and the table be looked at again."""
    for place in range(60):
        commit(row, first + place, at=now - timedelta(seconds=2 * place), operation="overwrite")
    row.partitions.filter(partition=HOT).update(newest_commit_at=now)
    IcebergTable.objects.update(inspected_at=now)
    row.refresh_from_db()


def decided(row: IcebergTable, now: datetime = NOW) -> OptimizeTask:
    """Decide what is due, and give the table's open task."""
    decide_due("main", now=now)
    row.refresh_from_db()
    assert row.tasks.filter(is_open=True).exists(), row.decision
    return row.tasks.get(is_open=True)


def test_hot_partitions_are_left_for_later_and_cold_ones_go() -> None:
    row = contested()
    found = decided(row)
    assert (found.partitions, found.state, found.is_cold) == ([COLD], TaskState.WAITING, True)
    assert "1 of 2 partitions wait for other writers to pause." in found.reason
    assert (found.not_before, found.risk) == (None, 0)
    assert row.waits_since == NOW
    assert row.decide_again_at is not None
    assert NOW < row.decide_again_at <= NOW + LONGEST_WAIT
    assert choose(ICEBERG, "main", now=NOW) == [found]


def test_where_all_is_hot_the_task_is_held_until_they_pause() -> None:
    row = contested()
    row.partitions.filter(partition=COLD).delete()
    found = decided(row)
    assert (found.state, found.partitions) == (TaskState.HELD, [HOT])
    assert "waits until they pause" in found.waits_for
    assert found.not_before == row.decide_again_at
    assert choose(ICEBERG, "main", now=NOW) == []
    pause = row.decide_again_at
    assert pause is not None
    again = decided(row, now=pause)
    assert (again.pk, again.state, again.waits_for) == (found.pk, TaskState.WAITING, "")
    assert again.not_before is None
    assert choose(ICEBERG, "main", now=pause) == [again]


def test_who_never_pauses_is_not_waited_for_longer_than_a_day_and_keeps_the_turn() -> None:
    row = contested()
    decided(row)
    later = NOW + LONGEST_WAIT
    overwritten(row, later, first=500)
    found = decided(row, now=later)
    assert found.partitions == [COLD, HOT]
    assert found.group_seconds == 20
    assert row.waits_since == NOW
    # A look before its run begins does not send it back to the end of the wait.
    IcebergTable.objects.update(inspected_at=later + timedelta(minutes=1))
    assert decided(row, now=later + timedelta(minutes=1)).partitions == [COLD, HOT]
    OptimizeTask.objects.update(
        state=TaskState.DONE, is_open=None, ended_at=later + timedelta(minutes=5)
    )
    overwritten(row, later + timedelta(minutes=6), first=900)
    assert decided(row, now=later + timedelta(minutes=6)).partitions == [COLD]
    assert row.waits_since == later + timedelta(minutes=6)


def test_a_person_is_not_made_to_wait_for_other_writers() -> None:
    row = contested()
    asked = optimize_now(
        row, TaskKind.MINOR, user=None, reason="tonight", partitions=[HOT], now=NOW
    )
    found = decided(row)
    assert (found.pk, found.partitions, found.state) == (asked.pk, [HOT], TaskState.WAITING)
    assert found.reason.endswith("tonight")
    assert choose(ICEBERG, "main", now=NOW) == [found]


def test_small_groups_reach_the_job_with_a_commit_each() -> None:
    row = contested(n=10, every=timedelta(minutes=10))
    small, whole = task(row, group_seconds=2.0), task(row, kind=TaskKind.FULL)
    run = Run.objects.create(lake="main", kind="optimize", requested_by="test", queued_at=NOW)
    OptimizeTask.objects.update(state=TaskState.SENT, run=run.pk)
    asked = OptimizeKind().request(run)["tasks"]
    orders: dict[int, Any] = {one["task"]: one for one in asked}
    assert orders[whole.pk]["max_group_bytes"] == MAX_GROUP_BYTES
    assert orders[whole.pk]["max_commits"] == MAX_COMMITS
    assert orders[small.pk]["max_group_bytes"] == 50 * 1024**2
    assert orders[small.pk]["max_commits"] > MAX_COMMITS


def test_of_equal_tasks_the_cold_one_goes_first_and_the_risky_one_last() -> None:
    policy()
    tables = [iceberg(name) for name in ("risky", "plain", "cold")]
    estimate = {"n_files_read": 9000, "n_files_written": 2, "bytes_read": 1}
    risky, plain, cold = (
        task(row, estimate=estimate, risk=0.15 * (row.table == "risky"), is_cold=n == 2)
        for n, row in enumerate(tables)
    )
    assert choose(ICEBERG, "main", now=NOW) == [cold, plain, risky]


def test_what_others_overwrite_is_queued_when_heard_and_waits_for_the_look() -> None:
    policy()
    row = iceberg(n_bytes=100 * 1024**2)
    commit(row, 8, at=NOW, operation="overwrite")
    assert queue_events([row], now=NOW) == 1
    found = row.tasks.get()
    assert (found.state, choose(ICEBERG, "main", now=NOW)) == (TaskState.HELD, [])
    assert "inspected first" in found.waits_for
    later = NOW + timedelta(minutes=16)
    assert choose(ICEBERG, "main", now=later) == [found]
    run = Run.objects.create(lake="main", kind="optimize", requested_by="test", queued_at=later)
    assert claim(ICEBERG, run, now=later) == 1
