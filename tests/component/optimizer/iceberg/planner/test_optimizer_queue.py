"""Tasks get into the queue once, with a reason, go into one run, and come out with an outcome."""

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.core.services.dispatcher import choose, claim
from optimizer.core.services.results import reclaim, results_ingest
from optimizer.core.services.task_lifecycle import MOST_TRIES
from optimizer.discovery.services.event_handlers import on_events
from optimizer.iceberg.planner.run_kinds import OptimizeKind
from optimizer.iceberg.planner.services.actions import optimize_now
from optimizer.iceberg.planner.services.maintainer import ICEBERG
from optimizer.iceberg.planner.services.planner import decide_due
from optimizer.models import (
    IcebergTable,
    LayoutWrite,
    OptimizeTask,
    PartitionHealth,
    PolicyVersion,
)
from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from portal.safety.services import emergency_stop_start
from tests.component.optimizer.iceberg.iceberg_said import NOW, altered, at, created, parameters

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
MIB = 1024**2
ON = {"is_on": True, "target_bytes": 128 * MIB, "min_interval_minutes": 60}


def policy(scope: str = "*", version: int = 1, **values: Any) -> None:
    """Set the policy of a scope without asking anybody."""
    PolicyVersion.objects.filter(scope=scope).update(is_current=None)
    PolicyVersion.objects.create(
        lake="main", scope=scope, version=version, values=ON | values, by="ada", at=NOW, reason="t"
    )


def commit(n_files: int, *, now: datetime = NOW, ours: bool = False, table: str = "clicks") -> None:
    """Let a commit be heard after which the table has so many files of 1 MiB."""
    summary = {
        "added-data-files": "1",
        "total-data-files": str(n_files),
        "total-files-size": str(n_files * MIB),
    }
    if ours:
        summary["lakewarden.task-id"] = "1"
    key = str(uuid.uuid5(uuid.NAMESPACE_DNS, table))
    before = parameters(0, uuid=key)
    after = parameters(n_files + 1, uuid=key, summary=summary)
    if not IcebergTable.objects.filter(table=table).exists():
        on_events([created(before, table=table)], now)
    on_events([altered(before, after, table=table)], now)


def looked(n_files: int, *, now: datetime, n_bytes: int = MIB) -> IcebergTable:
    """Write what a look at the table's partition finds."""
    row = IcebergTable.objects.get()
    IcebergTable.objects.update(
        inspected_at=now, looked_snapshot_id=row.snapshot_id, n_partitions=1
    )
    PartitionHealth.objects.all().delete()
    PartitionHealth.objects.create(
        table=row,
        snapshot_id=row.snapshot_id or 0,
        digest="x",
        partition="dt=1",
        spec_id=0,
        n_files=n_files,
        n_bytes=n_files * n_bytes,
        n_rows=n_files,
        n_small=n_files if n_bytes == MIB else 0,
        small_bytes=n_files * n_bytes if n_bytes == MIB else 0,
        n_big=0,
        two_smallest_bytes=2 * n_bytes,
        squared_error=0.9 if n_bytes == MIB else 0.0,
        newest_commit_at=now,
        health=50,
        **dict.fromkeys(
            (
                *("n_pos_delete_files", "n_pos_deleted_rows", "n_eq_delete_files"),
                *("n_eq_deleted_rows", "n_dvs", "n_laid_out", "laid_out_bytes"),
            ),
            0,
        ),
    )
    row.refresh_from_db()
    return row


def run_of(now: datetime = NOW) -> Run:
    """Make a run of the kind, which takes its tasks."""
    run = Run.objects.create(lake="main", kind="optimize", requested_by="test", queued_at=now)
    claim(ICEBERG, run, now=now)
    return run


def started(now: datetime) -> int:
    """Let the scheduler start what it would, and return how many runs there are."""
    OptimizeKind().start("main", now=now)
    return Run.objects.count()


def outcome(task: OptimizeTask, state: str = "DONE", **more: Any) -> dict[str, Any]:
    """Return a manifest with one result, in the job's form."""
    commits = [
        {
            "snapshot_id": 9001,
            "sequence": 9,
            "n_removed": 40,
            "n_added": 1,
            "bytes_removed": 40 * MIB,
            "bytes_added": 40 * MIB,
            "write_ids": ["w-1"],
            "partition": "dt=1",
        }
    ]
    result = {"task": task.pk, "outcome": state, "code": "", "reason": "", "seconds": 4.0}
    found = result | {"commits": commits if state == "DONE" else [], "conflicts": 2} | more
    return {"outcome": "done", "error": None, "result": {"results": [found], "stopped": ""}}


def test_a_commit_is_queued_as_it_is_heard_without_a_look() -> None:
    policy()
    commit(40)
    task = OptimizeTask.objects.get()
    assert (task.kind, task.state, task.partitions) == (TaskKind.MINOR, TaskState.WAITING, None)
    assert "40 files of 1 MiB on average, and 128 MiB" in task.reason
    assert (task.created_at, task.event_at, task.target_bytes) == (NOW, NOW, 128 * MIB)
    assert task.policy_versions == [PolicyVersion.objects.get().pk]
    assert (task.estimate["n_files_read"], task.estimate["n_files_written"]) == (40, 1)
    commit(41, now=at(1))
    assert OptimizeTask.objects.get().created_at == NOW, "one open task a table and kind"


@pytest.mark.parametrize(
    ("n_files", "values", "ours"),
    [
        (5, {}, False),
        (40, {"is_on": False}, False),
        (40, {"kinds": ["MANIFESTS"]}, False),
        (40, {"target_bytes": MIB}, False),
        (40, {}, True),
    ],
)
def test_what_needs_nothing_or_may_not_is_not_queued(
    n_files: int, values: dict[str, Any], ours: bool
) -> None:
    policy(**values)
    commit(n_files, ours=ours)
    assert not OptimizeTask.objects.exists()
    assert IcebergTable.objects.get().inspect_due_at == NOW


def test_a_table_just_rewritten_and_a_paused_one_are_left_alone() -> None:
    policy()
    commit(40)
    task = OptimizeTask.objects.get()
    run = run_of()
    results_ingest(ICEBERG, run, outcome(task), now=at(1))
    commit(40, now=at(30))
    assert OptimizeTask.objects.count() == 1
    commit(41, now=at(62))
    assert OptimizeTask.objects.count() == 2
    OptimizeTask.objects.all().delete()
    IcebergTable.objects.update(is_paused=True)
    commit(42, now=at(200))
    assert not OptimizeTask.objects.exists()


def test_the_look_has_the_last_word() -> None:
    policy()
    commit(40)
    looked(40, now=at(1))
    assert decide_due("main", now=at(2)) == 1
    task = OptimizeTask.objects.get(is_open=True, kind=TaskKind.MINOR)
    assert (task.partitions, task.created_at) == (["dt=1"], NOW)
    row = IcebergTable.objects.get()
    assert (row.decided_at, row.score) == (at(2), task.score)
    assert task.kind in row.decision
    assert decide_due("main", now=at(3)) == 0, "nothing was inspected since"
    looked(2, now=at(4), n_bytes=128 * MIB)
    assert decide_due("main", now=at(5)) == 1
    task.refresh_from_db()
    assert (task.state, task.outcome_code) == (TaskState.CANCELLED, "task.not_needed")
    assert IcebergTable.objects.get().decision


def test_what_a_person_asked_for_is_taken_back_by_people_only() -> None:
    policy()
    commit(40)
    OptimizeTask.objects.update(requested_by="olga")
    looked(2, now=at(4), n_bytes=128 * MIB)
    decide_due("main", now=at(5))
    assert OptimizeTask.objects.get(kind=TaskKind.MINOR).state == TaskState.WAITING


def test_what_the_policy_allows_is_queued_and_no_more() -> None:
    policy(kinds=["MINOR", "EXPIRE"], expire_days=1, keep_snapshots=1)
    commit(40)
    looked(40, now=at(1))
    IcebergTable.objects.update(n_snapshots=500, n_manifests=500)
    decide_due("main", now=at(3000))
    assert {one.kind for one in OptimizeTask.objects.all()} == {TaskKind.MINOR, TaskKind.EXPIRE}


def test_a_run_takes_its_tasks_once() -> None:
    policy()
    for table in ("clicks", "taps"):
        commit(40, table=table)
    kind = OptimizeKind()
    assert started(at(1)) == started(at(1)) == 1, "one run at a time"
    first, second = run_of(at(1)), run_of(at(1))
    assert started(at(2)) == 3, "nor beside those of people"
    sent = OptimizeTask.objects.filter(state=TaskState.SENT)
    assert set(sent.values_list("run", flat=True)) == {first.pk}
    assert [len(kind.request(run)["tasks"]) for run in (first, second)] == [2, 0]
    assert claim(ICEBERG, first, now=at(2)) == 2
    (order, _) = kind.request(first)["tasks"]
    assert order.keys() >= {"task", "db", "table", "uuid", "kind", "partitions", "target_bytes"}
    assert (order["layout"], order["boundaries"], order["write_ids"]) == ("", None, [])


def test_a_table_has_one_task_in_a_run() -> None:
    policy()
    commit(40)
    row = IcebergTable.objects.get()
    OptimizeTask.objects.create(
        table=row, kind=TaskKind.FULL, reason="many", target_bytes=1, created_at=NOW
    )
    for _ in range(2):  # a person may start a run beside the one that is under way
        run_of()
        assert OptimizeTask.objects.filter(state=TaskState.SENT).count() == 1


def test_quiet_hours_hold_and_say_until_when(lake: LakeConfig) -> None:
    local = NOW.astimezone(lake.zone)
    later = (local + timedelta(hours=1)).strftime("%H:%M")
    policy(quiet=f"{local - timedelta(hours=1):%H:%M}-{later}")
    commit(40)
    assert started(NOW) == 0
    task = OptimizeTask.objects.get()
    assert task.state == TaskState.HELD
    assert f"begins at {later}" in task.waits_for
    OptimizeTask.objects.update(requested_by="olga")
    assert choose(ICEBERG, "main", now=NOW), "who asks for it now does not wait"
    OptimizeTask.objects.update(requested_by="")
    assert choose(ICEBERG, "main", now=at(61))


def test_a_budget_that_is_spent_holds() -> None:
    policy(budget_gb_hours=0.000001)
    commit(40)
    OptimizeTask.objects.update(estimate={"gb_hours": 1.0, "n_files_read": 40})
    assert choose(ICEBERG, "main", now=NOW) == []
    assert "GB-hours" in OptimizeTask.objects.get().waits_for


def test_the_red_button_keeps_tasks_from_going() -> None:
    policy()
    commit(40)
    emergency_stop_start(lake="main", pressed_by="ada", reason="stop", now=NOW)
    assert started(NOW) == 0
    run = run_of()
    assert OptimizeKind().waits(run, now=NOW)
    assert not OptimizeTask.objects.filter(state=TaskState.SENT).exists()


def test_an_outcome_is_kept_with_the_layout_of_its_writes() -> None:
    policy()
    commit(40)
    task = OptimizeTask.objects.get()
    OptimizeTask.objects.update(layout="sort(id)", kind=TaskKind.CLUSTER)
    IcebergTable.objects.update(inspect_due_at=None)
    run = run_of()
    for _ in range(2):
        results_ingest(
            ICEBERG, run, outcome(task, before={"n_files": 40}, after={"n_files": 1}), now=at(1)
        )
    task.refresh_from_db()
    assert (task.state, task.is_open, task.ended_at) == (TaskState.DONE, None, at(1))
    assert task.outcome == "40 files became 1, in 1 commit."
    assert (task.n_conflicts, task.n_tries, task.before) == (2, 1, {"n_files": 40})
    write = LayoutWrite.objects.get()
    assert (write.write_id, write.layout, write.partition) == ("w-1", "sort(id)", "dt=1")
    assert IcebergTable.objects.get().inspect_due_at == at(1)


@pytest.mark.parametrize("state", ["NOTHING", "FAILED", "ABANDONED"])
def test_every_outcome_has_its_reason(state: str) -> None:
    policy()
    commit(40)
    task = OptimizeTask.objects.get()
    said = outcome(task, state, code="iceberg.conflict", reason="Others won.")
    results_ingest(ICEBERG, run_of(), said, now=at(1))
    task.refresh_from_db()
    assert (task.state, task.outcome_code) == (state, "iceberg.conflict")
    assert task.outcome == "Others won."


def test_a_run_that_is_lost_gives_its_tasks_back_and_then_up() -> None:
    policy()
    commit(40)
    died: dict[str, Any] = {"outcome": "died", "error": None, "result": {}, "log": []}
    for n in range(MOST_TRIES):
        run = run_of(at(n))
        assert OptimizeTask.objects.get().run == run.pk
        results_ingest(ICEBERG, run, died, now=at(n))
    task = OptimizeTask.objects.get()
    assert (task.state, task.n_tries, task.is_open) == (TaskState.FAILED, MOST_TRIES, None)
    assert "Given up after 3 runs" in task.outcome


def test_a_lake_whose_jobs_cannot_work_says_why_and_is_not_hammered() -> None:
    policy()
    commit(40)
    run = run_of()
    error = {"code": "iceberg.jar", "message": "Spark was started without Iceberg.", "fields": {}}
    results_ingest(ICEBERG, run, {"outcome": "failed", "error": error, "result": {}}, now=at(1))
    Run.objects.update(state="FAILED", finished_at=at(1))
    assert OptimizeTask.objects.get().waits_for == "Spark was started without Iceberg."
    assert started(at(2)) == 1
    assert started(at(7)) == 2


def test_a_run_that_was_stopped_costs_its_tasks_no_try() -> None:
    policy()
    commit(40)
    stopped: dict[str, Any] = {"outcome": "cancelled", "error": None, "result": {}, "log": []}
    results_ingest(ICEBERG, run_of(), stopped, now=at(1))
    task = OptimizeTask.objects.get()
    assert (task.state, task.n_tries, task.run) == (TaskState.WAITING, 0, None)


def test_tasks_of_a_run_that_ended_without_a_word_are_taken_back() -> None:
    policy()
    commit(40)
    run = run_of()
    assert reclaim(ICEBERG, "main", now=at(1)) == 0
    Run.objects.update(finished_at=at(1))
    assert started(at(2)) == 1, "nothing waits before it is taken back"
    OptimizeKind().decide("main", now=at(2))
    assert started(at(2)) == 2
    task = OptimizeTask.objects.get()
    assert (task.state, task.n_tries, task.run) == (TaskState.WAITING, 1, None)
    Run.objects.filter(pk=run.pk).delete()
    assert reclaim(ICEBERG, "main", now=at(3)) == 0


def test_only_what_orders_rows_or_counts_columns_is_sent_with_a_layout() -> None:
    policy(layout="sort(id)", kinds=["MINOR", "CLUSTER", "STATISTICS"])
    commit(40)
    assert not OptimizeTask.objects.exists(), (
        "the inspection decides: it is ordered and merged at once"
    )
    looked(40, now=at(1))
    decide_due("main", now=at(2))
    tasks = OptimizeTask.objects.filter(is_open=True)
    assert {task.kind: task.layout for task in tasks} == {
        TaskKind.CLUSTER: "sort(id)",
        TaskKind.STATISTICS: "sort(id)",
    }
    row = IcebergTable.objects.get()
    for kind, layout in (
        (TaskKind.MINOR, ""),
        (TaskKind.MAJOR, "sort(id)"),
        (TaskKind.DELETES, "sort(id)"),
        (TaskKind.MANIFESTS, ""),
    ):
        asked = optimize_now(row, kind, user=None, reason="now", now=at(3))
        assert asked.layout == layout


def test_many_commits_at_once_take_few_statements(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    policy()
    summary = {"added-data-files": "1", "total-data-files": "40"}
    summary["total-files-size"] = str(40 * MIB)
    said = [
        altered(
            parameters(0, uuid=f"u{n}"),
            parameters(1, uuid=f"u{n}", summary=summary),
            table=f"t{n}",
        )
        for n in range(200)
    ]
    with django_assert_max_num_queries(40):
        on_events(said, NOW)
    assert OptimizeTask.objects.count() == 200
    with django_assert_max_num_queries(12):
        assert len(choose(ICEBERG, "main", now=at(1))) == 20
