"""Tests decisions on a table: rewritten where it pays, else left alone, with the reason."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.core.domain.tasks import DESTRUCTIVE, TaskKind
from optimizer.iceberg.inspect.domain.stats import PartitionStats, TableStats, partition_stats
from optimizer.iceberg.planner.domain.deciding import Decision, decide, hold_reason
from optimizer.iceberg.planner.domain.maintenance import LastTimes
from optimizer.iceberg.rewrite.domain.layouts import parse_layout
from optimizer.policies.domain.policy import MIB, BlackoutWindow, Policy

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
TARGET = 128 * MIB
ON = Policy(is_on=True, target_bytes=TARGET, kinds=frozenset(TaskKind) - {TaskKind.STATISTICS})
ON = replace(ON, kinds=ON.kinds - DESTRUCTIVE - {TaskKind.MANIFESTS})
JUST_NOW = LastTimes({TaskKind.MINOR: NOW - timedelta(minutes=1)})
AN_HOUR_AGO = LastTimes({TaskKind.MINOR: NOW - timedelta(hours=1)})
SIZES = st.lists(st.integers(1, 3 * TARGET), max_size=60)


def part(*sizes: int, name: str = "p=1", **known: object) -> PartitionStats:
    counted = partition_stats(name, sizes, target_bytes=TARGET, n_rows=1000 * len(sizes))
    return replace(counted, **known)  # type: ignore[arg-type] # fields by name


def decided(*parts: PartitionStats, policy: Policy = ON, last: LastTimes = JUST_NOW) -> Decision:
    table = TableStats(
        n_files=sum(one.n_files for one in parts),
        n_bytes=sum(one.n_bytes for one in parts),
        n_partitions=len(parts),
    )
    return decide(parts, table, policy=policy, last=last, now=NOW)


def only(decision: Decision) -> tuple[TaskKind | None, str]:
    (one,) = decision.decisions
    assert one.reason
    return one.kind, one.code


def test_many_tiny_files_are_merged_at_once_and_fewer_after_the_interval() -> None:
    assert only(decided(part(*[MIB] * 12))) == (TaskKind.MINOR, "many-small")
    assert only(decided(part(*[MIB] * 11))) == (None, "wait")
    assert only(decided(part(*[MIB] * 11), last=AN_HOUR_AGO)) == (TaskKind.MINOR, "small")
    assert only(decided(part(MIB, MIB), last=AN_HOUR_AGO)) == (TaskKind.MINOR, "small")
    assert only(decided(part(MIB, MIB), last=LastTimes())) == (TaskKind.MINOR, "small")


def test_a_large_file_is_not_written_anew_each_hour_for_two_small_ones() -> None:
    beside = part(90 * MIB, MIB, MIB)
    assert only(decided(beside, last=AN_HOUR_AGO)) == (None, "wait")
    later = LastTimes({TaskKind.MINOR: NOW - timedelta(hours=3)})
    assert only(decided(beside, last=later)) == (TaskKind.MINOR, "small")


def test_half_filled_files_are_merged_where_it_changes_much() -> None:
    assert only(decided(part(*[60 * MIB] * 4))) == (TaskKind.MAJOR, "undersized")
    few_of_many = part(*[120 * MIB] * 1000, *[60 * MIB] * 4)
    assert only(decided(few_of_many))[0] is None
    assert only(decided(part(*[90 * MIB] * 3)))[0] is None


def test_files_near_the_target_are_left_alone_for_ever() -> None:
    for sizes in ([100 * MIB] * 50, [TARGET], [TARGET * 2] * 3):
        assert only(decided(part(*sizes), last=LastTimes())) == (None, "good")


def test_two_files_that_do_not_fit_into_one_stay() -> None:
    assert only(decided(part(90 * MIB, 80 * MIB), last=LastTimes())) == (None, "no-fit")


def test_many_deleted_rows_are_written_away() -> None:
    full = [TARGET] * 10
    few = part(*full, n_pos_deleted_rows=1000, n_pos_delete_files=1)
    many = part(*full, n_pos_deleted_rows=1001, n_pos_delete_files=1)
    assert only(decided(few)) == (None, "good")
    assert only(decided(many)) == (TaskKind.MAJOR, "deleted")


def test_delete_files_are_merged_and_those_by_equality_first() -> None:
    full = [TARGET] * 10
    assert only(decided(part(*full, n_eq_delete_files=1)))[0] is None
    assert only(decided(part(*full, n_eq_delete_files=1), last=AN_HOUR_AGO)) == (
        TaskKind.DELETES,
        "delete-files",
    )
    assert only(decided(part(*full, n_pos_delete_files=12)))[0] is TaskKind.DELETES
    vectors = part(*full, n_pos_delete_files=10, n_dvs=10)
    assert only(decided(vectors, last=LastTimes()))[0] is None


LAID = replace(ON, layout=parse_layout("hilbert(a,b)"))


def test_only_what_is_new_is_put_in_order() -> None:
    new = part(*[TARGET] * 20)
    assert only(decided(new, policy=LAID)) == (TaskKind.CLUSTER, "order")
    done = replace(new, n_laid_out=20, laid_out_bytes=new.n_bytes)
    assert only(decided(done, policy=LAID)) == (None, "good")
    one_more = replace(new, n_laid_out=19, laid_out_bytes=new.n_bytes - MIB)
    assert only(decided(one_more, policy=LAID)) == (None, "new")
    day = LastTimes({TaskKind.CLUSTER: NOW - timedelta(days=1)})
    assert only(decided(one_more, policy=LAID, last=day)) == (TaskKind.CLUSTER, "order")


def test_files_that_lie_as_asked_are_never_merged_without_their_order() -> None:
    small = part(*[MIB] * 100, n_laid_out=100, laid_out_bytes=100 * MIB)
    assert only(decided(small, policy=LAID, last=LastTimes())) == (None, "ordered-small")
    policy = replace(LAID, full_days=7)
    assert only(decided(small, policy=policy, last=LastTimes())) == (TaskKind.FULL, "full")


def test_a_full_rewrite_is_due_only_where_it_changes_something() -> None:
    policy = replace(ON, full_days=7)
    due = LastTimes({TaskKind.FULL: NOW - timedelta(days=7)})
    assert only(decided(part(TARGET, MIB, MIB), policy=policy, last=due))[0] is TaskKind.FULL
    assert only(decided(part(TARGET, TARGET), policy=policy, last=due)) == (None, "good")


def test_what_its_policy_does_not_allow_is_said() -> None:
    policy = replace(ON, kinds=frozenset({TaskKind.DELETES}))
    decision = decided(part(*[MIB] * 100), policy=policy)
    assert only(decision) == (None, "kind")
    assert "MINOR would help and its policy does not allow it" in decision.words


def test_off_and_contradictory_tables_say_so_and_get_nothing() -> None:
    off = decided(part(*[MIB] * 100), policy=replace(ON, is_on=False))
    wrong = decided(part(*[MIB] * 100), policy=replace(ON, target_bytes=0))
    assert (off.proposals, only(off)) == ((), (None, "off"))
    assert (wrong.proposals, only(wrong)) == ((), (None, "contradiction"))
    assert "target_bytes" in wrong.words


def test_what_found_nothing_is_not_tried_again_before_a_commit() -> None:
    tried = LastTimes(nothing={TaskKind.MINOR: NOW - timedelta(hours=2)})
    old = part(*[MIB] * 50, newest_commit_at=NOW - timedelta(hours=3))
    new = part(*[MIB] * 50, newest_commit_at=NOW - timedelta(hours=1))
    assert only(decided(old, last=tried)) == (None, "tried")
    assert only(decided(new, last=tried))[0] is TaskKind.MINOR


def test_one_task_a_kind_holds_all_its_partitions_and_the_rest_has_reasons() -> None:
    decision = decided(
        part(*[MIB] * 50, name="p=1"),
        part(TARGET, name="p=2"),
        part(*[MIB] * 60, name="p=3"),
        part(TARGET, TARGET, name="p=4", n_pos_delete_files=20),
    )
    tasks = {
        one.kind: [each.partition for each in one.partitions or ()] for one in decision.proposals
    }
    assert tasks == {TaskKind.MINOR: ["p=1", "p=3"], TaskKind.DELETES: ["p=4"]}
    assert [one.code for one in decision.decisions if one.kind is None] == ["good"]
    assert "And 1 more partitions." in decision.words


@pytest.mark.parametrize("kind", [TaskKind.MANIFESTS, TaskKind.EXPIRE, TaskKind.ORPHANS])
def test_upkeep_is_proposed_once_a_day_where_it_is_allowed(kind: TaskKind) -> None:
    table = TableStats(n_files=3, n_bytes=3 * TARGET, n_manifests=200, n_snapshots=50)
    policy = Policy(is_on=True, kinds=frozenset({kind}))
    for last, expected in (
        (LastTimes(), [kind]),
        (LastTimes({kind: NOW - timedelta(hours=23)}), []),
        (LastTimes({kind: NOW - timedelta(days=1)}), [kind]),
    ):
        decision = decide([], table, policy=policy, last=last, now=NOW)
        assert [one.kind for one in decision.proposals] == expected
        assert decision.words
    off = decide([], table, policy=Policy(is_on=True), last=LastTimes(), now=NOW)
    assert not {one.kind for one in off.proposals} & DESTRUCTIVE


@given(SIZES, st.integers(0, 100))
def test_every_partition_gets_exactly_one_verdict_with_a_reason(sizes: list[int], h: int) -> None:
    parts = [part(*sizes, name="a"), part(*sizes[::2], name="b"), part(name="c")]
    last = LastTimes({TaskKind.MINOR: NOW - timedelta(hours=h)})
    decision = decided(*parts, last=last)
    assert [one.partition for one in decision.decisions] == ["a", "b", "c"]
    assert all(one.reason for one in decision.decisions)
    proposed = [each.partition for one in decision.proposals for each in one.partitions or ()]
    assert sorted(proposed) == [one.partition for one in decision.decisions if one.kind]
    assert decision == decided(*parts, last=last)


@given(SIZES, st.integers(0, 1000))
def test_a_rewrite_always_leaves_fewer_files_and_then_it_is_quiet(
    sizes: list[int], hours: int
) -> None:
    last = LastTimes({TaskKind.MAJOR: NOW - timedelta(hours=hours)})
    decision = decided(part(*sizes), last=last)
    if not decision.proposals:
        return
    small = [size for size in sizes if size < 0.75 * TARGET]
    merged = rewritten(small)
    assert len(merged) < len(small)
    after = part(*[size for size in sizes if size >= 0.75 * TARGET], *merged)
    assert decided(after, last=LastTimes({TaskKind.MAJOR: NOW})).proposals == ()


def rewritten(sizes: list[int]) -> list[int]:
    """Return the files that a rewrite makes of these: all of one size, none above the target."""
    n = max(1, -(-sum(sizes) // TARGET))
    return [sum(sizes) // n] * n


@given(SIZES, st.integers(0, 50), st.integers(0, 50))
def test_waiting_longer_never_makes_less_of_it(sizes: list[int], some: int, more: int) -> None:
    def at(hours: int) -> bool:
        last = LastTimes({TaskKind.MINOR: NOW - timedelta(hours=hours)})
        return bool(decided(part(*sizes), last=last).proposals)

    assert at(some + more) >= at(some)


def test_quiet_hours_hold_what_is_decided_and_say_until_when() -> None:
    policy = replace(ON, quiet=BlackoutWindow(time(11), time(13)))
    zone = ZoneInfo("UTC")
    assert hold_reason(ON, zone=zone, now=NOW) is None
    assert hold_reason(policy, zone=zone, now=NOW) == (
        "Blackout window 11:00-13:00: begins at 13:00.",
        NOW + timedelta(hours=1),
    )
    assert hold_reason(policy, zone=zone, now=NOW + timedelta(hours=1)) is None
