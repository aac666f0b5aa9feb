"""Tests the order: the best bargain first, within the budget, and none waits for ever."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.core.domain.estimates import GIB, Estimate, Speed
from optimizer.core.domain.scoring import (
    PATIENCE,
    SHARING,
    Candidate,
    choose,
    cost_of,
    place_of,
    rank,
    score_of,
)
from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.inspect.domain.stats import PartitionStats, TableStats, partition_stats
from optimizer.iceberg.planner.domain.estimates import (
    estimate_manifests,
    estimate_partition,
    estimate_task,
)
from optimizer.policies.domain.policy import MIB

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
SPEED = Speed(100 * MIB, 0.01, 20.0, 4.0)
FREE = replace(SPEED, startup_seconds=0.0)
SCORES = st.floats(0, 1e9)
HOURS = st.floats(0, 10_000)


def candidate(
    key: str = "t", *, files: int = 10, gb_hours: float = 1.0, hours: float = 0.0, reads: float = 0
) -> Candidate:
    work = Estimate(n_files_read=files, gb_hours=gb_hours)
    return Candidate(key, work, NOW - timedelta(hours=hours), reads)


def test_more_files_for_less_come_first() -> None:
    ranked = rank(
        [
            candidate("dear", gb_hours=2),
            candidate("more", files=100),
            candidate("read", reads=1000),
            candidate("plain"),
        ],
        speed=SPEED,
    )
    assert [one.key for one in ranked] == ["more", "read", "plain", "dear"]


def test_cold_comes_before_warm_and_certain_before_risky() -> None:
    plain = candidate()
    score = score_of(plain, speed=SPEED)
    assert score_of(replace(plain, is_cold=True), speed=SPEED) > score
    assert score_of(replace(plain, risk=0.2), speed=SPEED) < score
    assert score_of(replace(plain, risk=1.0), speed=SPEED) == 0


@given(SCORES, SCORES, HOURS)
def test_whoever_is_older_by_the_patience_comes_first_whatever_the_score(
    mine: float, other: float, hours: float
) -> None:
    since = NOW - timedelta(hours=hours)
    assert place_of(mine, since=since) >= place_of(other, since=since + PATIENCE)


@given(SCORES, SCORES)
def test_of_two_that_are_as_old_the_better_bargain_comes_first(one: float, two: float) -> None:
    if one < two:
        assert place_of(one, since=NOW) <= place_of(two, since=NOW)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.floats(0.001, 100), HOURS), max_size=40))
def test_a_place_does_not_depend_on_who_else_waits(those: list[tuple[int, float, float]]) -> None:
    all_of = [
        candidate(str(n), files=files, gb_hours=cost, hours=hours)
        for n, (files, cost, hours) in enumerate(those)
    ]
    whole = [one.key for one in rank(all_of, speed=SPEED)]
    half = [one.key for one in rank(all_of[::2], speed=SPEED)]
    assert half == [key for key in whole if key in set(half)]
    for before, after in pairwise(rank(all_of, speed=SPEED)):
        assert before.since < after.since + PATIENCE


def test_the_budget_is_kept_and_what_never_fits_says_so_and_holds_nobody_up() -> None:
    ranked = rank(
        [
            candidate("giant", gb_hours=50, hours=1000),
            candidate("a", gb_hours=3, hours=30),
            candidate("b", gb_hours=4, hours=3),
            candidate("c", gb_hours=2, hours=2),
        ],
        speed=FREE,
    )
    chosen = choose(ranked, budget=5, whole_budget=10, speed=FREE, now=NOW)
    assert {one.candidate.key: one.code for one in chosen} == {
        "giant": "too-dear",
        "a": "begun",
        "b": "budget",
        "c": "begun",
    }
    assert "raise the budget" in chosen[0].reason
    assert all(
        one.is_begun for one in choose(ranked, budget=None, whole_budget=None, speed=FREE, now=NOW)
    )


def test_once_it_has_waited_long_the_budget_is_saved_for_it() -> None:
    ranked = [candidate("old", gb_hours=6, hours=30), candidate("new", gb_hours=1)]
    chosen = choose(ranked, budget=5, whole_budget=10, speed=FREE, now=NOW)
    assert [one.code for one in chosen] == ["budget", "saving"]
    assert "has waited for 30 hours" in chosen[1].reason
    young = [candidate("old", gb_hours=6, hours=3), candidate("new", gb_hours=1)]
    chosen = choose(young, budget=5, whole_budget=10, speed=FREE, now=NOW)
    assert [one.code for one in chosen] == ["budget", "begun"]


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0.01, 10),
    st.lists(st.tuples(st.floats(0.01, 10), st.integers(0, 10**6)), min_size=5, max_size=25),
)
def test_none_starves_while_better_bargains_keep_coming(
    mine: float, others: list[tuple[float, int]]
) -> None:
    """A worthless task under an endless stream: begun within a bound told beforehand.

    Each day has a budget of 10. Overdue, it is overtaken by nobody; those ahead of it came before
    it was overdue, and any two days spend more than one day's budget on them.
    """
    old = Candidate("old", Estimate(gb_hours=mine), NOW)
    waiting, begun_on = [old], None
    ahead = 0.0
    for day in range(10_000):
        now = NOW + timedelta(days=day)
        for n, (cost, files) in enumerate(others):
            waiting.append(Candidate(f"{day}-{n}", Estimate(files, gb_hours=cost), now))
            ahead += cost if now <= NOW + PATIENCE else 0.0
        chosen = choose(rank(waiting, speed=FREE), budget=10, whole_budget=10, speed=FREE, now=now)
        waiting = [one.candidate for one in chosen if not one.is_begun]
        if old not in waiting:
            begun_on = day
            break
    assert begun_on is not None
    assert begun_on <= 2 + 2 * (ahead / 10 + 1)


def test_costs_are_told_from_measured_speeds() -> None:
    stats = partition_stats("p", [10 * MIB] * 100, target_bytes=128 * MIB)
    found = estimate_partition(TaskKind.MINOR, stats, target_bytes=128 * MIB, speed=SPEED)
    assert (found.n_files_read, found.n_files_written, found.n_files_removed) == (100, 8, 92)
    assert found.bytes_read == found.bytes_written == 1000 * MIB
    assert found.seconds == 2000 / 100 + 100 * 0.01
    assert found.gb_hours == found.seconds * 4 / 3600
    assert cost_of(found, speed=SPEED) == found.gb_hours + 20 * 4 / 3600 / SHARING
    assert found.as_dict()["n_files_removed"] == 92


def test_a_kind_counts_what_it_takes() -> None:
    stats = PartitionStats(
        "p",
        n_files=10,
        n_bytes=10 * GIB,
        n_rows=100,
        n_small=4,
        small_bytes=GIB,
        n_pos_delete_files=3,
        n_eq_delete_files=2,
        n_laid_out=9,
        laid_out_bytes=9 * GIB,
    )
    deleted = replace(stats, n_pos_deleted_rows=50)

    def of(kind: TaskKind, of_stats: PartitionStats = stats) -> Estimate:
        return estimate_partition(kind, of_stats, target_bytes=GIB, speed=SPEED)

    assert (of(TaskKind.MINOR).n_files_read, of(TaskKind.MINOR).n_delete_files_removed) == (4, 0)
    assert of(TaskKind.MAJOR).n_files_read == 4
    assert of(TaskKind.MAJOR, deleted).n_files_read == 10
    assert of(TaskKind.MAJOR, deleted).bytes_written == 5 * GIB
    assert of(TaskKind.FULL).n_delete_files_removed == 5
    assert (of(TaskKind.CLUSTER).n_files_read, of(TaskKind.CLUSTER).bytes_read) == (1, GIB)
    assert of(TaskKind.DELETES).n_files_read == 10
    assert of(TaskKind.DELETES, replace(stats, n_eq_delete_files=0)).bytes_read == 0
    both = estimate_task(TaskKind.MINOR, [stats, stats], target_bytes=GIB, speed=SPEED)
    assert both == of(TaskKind.MINOR) + of(TaskKind.MINOR)
    assert estimate_manifests(TableStats(n_manifests=100), speed=SPEED).seconds == 1.0


def test_a_stored_estimate_comes_back_with_all_that_its_place_depends_on() -> None:
    stats = replace(partition_stats("", [MIB] * 40, target_bytes=128 * MIB), n_laid_out=4)
    found = estimate_partition(TaskKind.CLUSTER, stats, target_bytes=128 * MIB, speed=SPEED)
    found = replace(found, seconds=1.5, gb_hours=0.25)
    assert found.n_files_ordered == 36
    assert Estimate.from_dict(found.as_dict()) == found
    assert Estimate.from_dict({"n_files_read": 3}) == Estimate(3)
