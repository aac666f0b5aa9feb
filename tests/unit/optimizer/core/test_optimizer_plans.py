"""Tests dry runs: what would be done, its cost, what holds it, and the reason for the rest."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from optimizer.core.domain.estimates import Speed
from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.inspect.domain.stats import TableStats, partition_stats
from optimizer.iceberg.planner.domain.conflicts import Approach, CommitFact
from optimizer.iceberg.planner.domain.maintenance import LastTimes
from optimizer.iceberg.planner.domain.plans import Plan, TableFacts, make_plan
from optimizer.policies.domain.policy import MIB, BlackoutWindow, Policy

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
TARGET = 128 * MIB
SPEED = Speed(100 * MIB, 0.01, 20.0, 4.0)
POLICY = Policy(is_on=True, target_bytes=TARGET, kinds=frozenset({TaskKind.MINOR}))
FACTS = TableFacts(
    [
        replace(
            partition_stats("p=1", [MIB] * 1000, target_bytes=TARGET),
            newest_commit_at=NOW - timedelta(minutes=1),
        ),
        partition_stats("p=2", [TARGET], target_bytes=TARGET),
    ],
    TableStats(n_files=1001, n_bytes=1000 * MIB + TARGET, n_manifests=500, n_partitions=2),
)


def plan(facts: TableFacts = FACTS, policy: Policy = POLICY, speed: Speed | None = SPEED) -> Plan:
    return make_plan(facts, policy=policy, speed=speed, zone=ZoneInfo("UTC"), now=NOW)


def test_a_plan_tells_tasks_costs_and_what_is_not_done() -> None:
    found = plan()
    (task,) = found.tasks
    assert (task.kind, task.partitions) == (TaskKind.MINOR, ("p=1",))
    assert task.estimate.seconds == 2000 / 100 + 1000 * 0.01
    assert found.total.seconds == task.estimate.seconds + SPEED.startup_seconds
    assert found.total.n_files_removed == 992
    assert found.not_done == {"Its files are as they should be.": 1}
    assert found.words == f"MINOR: {task.reason}"
    assert (found.held, found.not_before) == ("", None)
    assert task.advice is not None
    assert task.advice.approach is Approach.NOW


def test_without_a_measured_speed_no_seconds_are_made_up() -> None:
    (task,) = plan(speed=None).tasks
    assert not task.is_timed
    assert (task.estimate.seconds, task.estimate.gb_hours) == (0, 0)
    assert task.estimate.n_files_removed == 992


def test_other_writers_and_quiet_hours_are_told() -> None:
    busy = [CommitFact(NOW - timedelta(seconds=60 + n), "overwrite") for n in range(300)]
    found = plan(
        replace(FACTS, commits=busy), replace(POLICY, quiet=BlackoutWindow(time(11), time(13)))
    )
    assert found.held == "Blackout window 11:00-13:00: begins at 13:00."
    assert found.not_before == NOW + timedelta(hours=1)
    (task,) = found.tasks
    assert task.advice is not None
    assert task.advice.approach is not Approach.NOW


def test_what_destroys_needs_approval_and_manifests_cost_their_opening() -> None:
    kinds = frozenset({TaskKind.MANIFESTS, TaskKind.ORPHANS})
    found = plan(policy=replace(POLICY, kinds=kinds))
    tasks = {one.kind: one for one in found.tasks}
    assert tasks[TaskKind.ORPHANS].needs_approval
    assert tasks[TaskKind.ORPHANS].partitions is None
    assert not tasks[TaskKind.MANIFESTS].needs_approval
    assert tasks[TaskKind.MANIFESTS].estimate.seconds == 5.0


def test_statistics_cost_the_reading_of_the_table() -> None:
    kinds = frozenset({TaskKind.STATISTICS})
    (timed,) = plan(policy=replace(POLICY, kinds=kinds)).tasks
    assert timed.estimate.bytes_read == FACTS.table.n_bytes
    assert timed.estimate.seconds > 0
    assert timed.estimate.n_files_removed == 0


def test_a_table_that_needs_nothing_has_an_empty_plan_that_costs_nothing() -> None:
    found = plan(policy=replace(POLICY, is_on=False))
    assert found.tasks == ()
    assert found.total.seconds == 0
    assert found.not_done == {"The optimizer is switched off for this table.": 1}


def test_where_nothing_is_done_the_commonest_reason_is_said_and_for_how_many() -> None:
    done = LastTimes({TaskKind.ORPHANS: NOW})
    good = [partition_stats(f"p={n}", [n * TARGET], target_bytes=TARGET) for n in (1, 1, 0)]
    found = plan(
        TableFacts(good, TableStats(n_files=2), last=done),
        replace(POLICY, kinds=frozenset({TaskKind.MINOR, TaskKind.ORPHANS})),
    )
    assert found.tasks == ()
    assert found.words == "Its files are as they should be. So it is for 3 of 3 partitions."


def test_hot_partitions_wait_and_the_plan_says_until_when() -> None:
    busy = [CommitFact(NOW - timedelta(seconds=60 + n), "overwrite") for n in range(300)]
    cold = replace(FACTS.partitions[0], partition="p=0", newest_commit_at=NOW - timedelta(days=9))
    found = plan(replace(FACTS, partitions=[*FACTS.partitions, cold], commits=busy))
    (task,) = found.tasks
    assert (task.partitions, task.is_cold, task.not_before) == (("p=0",), True, None)
    assert task.reason.startswith("p=0: ")
    assert task.reason.endswith("1 of 2 partitions wait for other writers to pause.")
    assert found.not_done["Other writers change it too often: it waits until they pause."] == 1
    assert task.estimate.n_files_read == 1000
    assert found.waits_since == NOW
    assert found.again_at is not None
    assert found.again_at > NOW
    (all_hot,) = plan(replace(FACTS, commits=busy)).tasks
    assert all_hot.partitions == ("p=1",)
    assert all_hot.not_before == plan(replace(FACTS, commits=busy)).again_at


def test_whoever_waited_for_a_day_has_one_turn() -> None:
    busy = [CommitFact(NOW - timedelta(seconds=60 + n), "overwrite") for n in range(300)]
    day_ago = NOW - timedelta(days=1)
    patient = replace(FACTS, commits=busy, waits_since=day_ago)
    (task,) = plan(patient).tasks
    assert task.not_before is None
    assert plan(patient).waits_since == day_ago
    had_it = replace(patient, tried_at=NOW)
    (task,) = plan(had_it).tasks
    assert task.not_before is not None
    assert plan(had_it).waits_since == NOW


def test_also_a_few_bytes_wait_for_a_writer_of_every_second() -> None:
    busy = [CommitFact(NOW - timedelta(seconds=61 + n), "overwrite") for n in range(300)]
    tiny = replace(FACTS.partitions[0], n_bytes=40_000, n_files=40, n_small=40, small_bytes=40_000)
    (task,) = plan(TableFacts([tiny], TableStats(n_files=40, n_bytes=40_000), busy)).tasks
    assert task.not_before is not None
