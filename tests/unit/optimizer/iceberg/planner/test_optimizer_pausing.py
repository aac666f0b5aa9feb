"""Tests a task's partitions: those that others leave alone, cold ones first, and none lost."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from optimizer.iceberg.inspect.domain.stats import PartitionStats
from optimizer.iceberg.planner.domain.conflicts import COLD_AFTER, Advice, Approach, Weighed, weigh

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=3)


def stats(name: str, *, hours: float | None = 48) -> PartitionStats:
    newest = None if hours is None else NOW - timedelta(hours=hours)
    return PartitionStats(name, newest_commit_at=newest)


def advice(approach: Approach, risk: float = 0.1, hours: float = 1) -> Advice:
    pause = NOW + timedelta(hours=hours) if approach is Approach.WAIT else None
    return Advice(approach, risk, "reason", not_before=pause)


def weighed(*pairs: tuple[PartitionStats, Advice]) -> Weighed:
    by_name = {stats.partition: told for stats, told in pairs}
    return weigh([one for one, _ in pairs], lambda one: by_name[one.partition], now=NOW)


def names(found: Weighed) -> list[str]:
    return [one.partition for one in found.partitions]


def test_those_that_others_change_are_left_for_later() -> None:
    found = weighed(
        (stats("hot", hours=0), advice(Approach.WAIT, 0.9, hours=3)),
        (stats("warm", hours=2), advice(Approach.SMALL_GROUPS, 0.4)),
        (stats("cold"), advice(Approach.NOW, 0.0)),
        (stats("hotter", hours=0), advice(Approach.WAIT, 0.95, hours=2)),
    )
    assert names(found) == ["cold", "warm"]
    assert (found.advice.approach, found.n_waiting) == (Approach.SMALL_GROUPS, 2)
    assert found.again_at == NOW + timedelta(hours=2)
    assert found.words == " 2 of 4 partitions wait for other writers to pause."
    assert not found.is_cold


def test_where_none_may_go_all_of_them_wait() -> None:
    found = weighed(
        (stats("a", hours=0), advice(Approach.WAIT, 0.8, hours=3)),
        (stats("b", hours=1), advice(Approach.WAIT, 0.9, hours=2)),
    )
    assert sorted(names(found)) == ["a", "b"]
    assert (found.advice.approach, found.advice.risk) == (Approach.WAIT, 0.9)
    assert (found.again_at, found.words) == (NOW + timedelta(hours=2), "")


def test_cold_is_what_nobody_wrote_to_for_a_day() -> None:
    assert weighed((stats("a", hours=24), advice(Approach.NOW))).is_cold
    assert not weighed((stats("a", hours=23), advice(Approach.NOW))).is_cold
    assert not weighed((stats("a", hours=None), advice(Approach.NOW))).is_cold
    assert timedelta(days=1) == COLD_AFTER


@given(
    st.lists(st.tuples(st.sampled_from(Approach), st.floats(0, 1), st.floats(0, 90)), min_size=1)
)
def test_every_partition_goes_or_waits_and_the_oldest_goes_first(
    told: list[tuple[Approach, float, float]],
) -> None:
    pairs = [
        (stats(str(n), hours=hours), replace(advice(approach), risk=risk))
        for n, (approach, risk, hours) in enumerate(told)
    ]
    found = weighed(*pairs)
    waiting = [one for one, told_ in pairs if told_.approach is Approach.WAIT]
    assert found.n_waiting == len(waiting)
    assert (found.again_at is None) == (not waiting)
    going = [one for one, told_ in pairs if told_.approach is not Approach.WAIT]
    assert sorted(names(found)) == sorted(one.partition for one in going or waiting)
    written = [one.newest_commit_at for one in found.partitions]
    assert written == sorted(written, key=lambda at: at or NOW)
