"""Tests rewrites: begun only where other writers will not interfere, and never too late."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from optimizer.iceberg.planner.domain.conflicts import (
    LEAST_GROUP_SECONDS,
    LONGEST_WAIT,
    Approach,
    Changes,
    CommitFact,
    History,
    advise,
    cold_at,
    longest_at,
    lost_already,
    risk_of,
)
from optimizer.policies.domain.policy import ConflictTolerance

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
AGES = st.lists(st.integers(0, 3 * 24 * 3600), max_size=100)
SECONDS = st.floats(0, 24 * 3600)
CAUTIONS = st.sampled_from(ConflictTolerance)


def ago(**parts: float) -> datetime:
    return NOW - timedelta(**parts)


def history(ages: list[int]) -> History:
    return History(tuple(sorted(ago(seconds=age) for age in ages)))


def commit(at: datetime, operation: str = "overwrite", *partitions: str) -> CommitFact:
    return CommitFact(at, operation, frozenset(partitions) or None)


def seen(*commits: CommitFact, partition: str = "p=1", newest: datetime | None = None) -> History:
    return Changes(commits, now=NOW).of(partition, newest_commit_at=newest)


def test_appends_never_conflict_however_many_there_are() -> None:
    found = seen(*[commit(ago(seconds=n), "append") for n in range(1000)])
    assert found.changes == ()
    advice = advise(found, seconds=10_000, caution=ConflictTolerance.HIGH, since=NOW, now=NOW)
    assert advice.approach is Approach.NOW
    assert advice.risk == 0
    assert "appends do not conflict" in advice.reason


def test_changes_count_where_they_may_have_touched_the_partition() -> None:
    here, there = commit(ago(hours=1), "delete", "p=1"), commit(ago(hours=1), "delete", "p=2")
    anywhere = commit(ago(hours=1))
    ours = CommitFact(ago(hours=1), "replace", is_ours=True)
    ancient = commit(ago(days=4))
    untold = CommitFact(ago(hours=1))
    assert seen(here, there, ours, ancient).changes == (here.at,)
    assert seen(anywhere, newest=ago(hours=2)).changes == ()
    assert seen(anywhere, newest=ago(minutes=1)).changes == (anywhere.at,)
    assert seen(here, newest=ago(hours=2)).changes == (here.at,)
    assert seen(untold).changes == (untold.at,)


def test_a_writer_at_intervals_leaves_the_time_until_its_next_turn() -> None:
    hourly = history([600 + 3600 * n for n in range(24)])
    assert 2200 < hourly.free_for(NOW) <= 0.8 * 3600 - 600
    assert risk_of(hourly, seconds=2000, now=NOW) == 0
    assert risk_of(hourly, seconds=3600, now=NOW) > 0
    due = NOW + timedelta(minutes=50)
    assert risk_of(hourly, seconds=60, now=due) > 0
    at_random = history([60, 4000, 4100, 20_000, 21_000, 60_000])
    assert at_random.free_for(NOW) == 0


def test_a_writer_of_every_second_is_waited_for_but_not_for_ever() -> None:
    busy = history(list(range(500)))
    waits = advise(busy, seconds=600, caution=ConflictTolerance.NORMAL, since=NOW, now=NOW)
    assert waits.approach is Approach.WAIT
    assert waits.not_before is not None
    assert NOW < waits.not_before <= NOW + LONGEST_WAIT
    tried = advise(
        busy, seconds=600, caution=ConflictTolerance.NORMAL, since=NOW - LONGEST_WAIT, now=NOW
    )
    assert tried.approach is Approach.SMALL_GROUPS
    assert tried.seconds == LEAST_GROUP_SECONDS
    assert "24 hours" in tried.reason


def test_a_writer_of_every_few_minutes_makes_groups_small() -> None:
    often = history([17, 500, 790, 1300, 1340, 2000, 2200, 2900, 3500])
    advice = advise(often, seconds=3600, caution=ConflictTolerance.NORMAL, since=NOW, now=NOW)
    assert advice.approach is Approach.SMALL_GROUPS
    assert LEAST_GROUP_SECONDS <= advice.seconds < 3600


@given(AGES, SECONDS, SECONDS)
def test_risk_is_a_chance_that_grows_with_time(ages: list[int], one: float, more: float) -> None:
    found = history(ages)
    risk = risk_of(found, seconds=one, now=NOW)
    assert 0 <= risk <= 1
    assert risk <= risk_of(found, seconds=one + more, now=NOW)


@given(AGES, CAUTIONS)
def test_what_takes_no_longer_than_advised_is_within_the_risk(
    ages: list[int], caution: ConflictTolerance
) -> None:
    found = history(ages)
    longest = longest_at(found, most_risk=caution.most_risk, now=NOW)
    seconds = min(longest, 1e9)
    assert risk_of(found, seconds=seconds, now=NOW) <= caution.most_risk + 1e-9


@given(AGES, SECONDS, CAUTIONS, st.integers(0, 48 * 3600))
def test_none_waits_longer_than_a_day(
    ages: list[int], seconds: float, caution: ConflictTolerance, waited: int
) -> None:
    since = ago(seconds=waited)
    advice = advise(history(ages), seconds=seconds, caution=caution, since=since, now=NOW)
    assert advice.reason
    if advice.approach is Approach.WAIT:
        assert timedelta(seconds=waited) < LONGEST_WAIT
        assert advice.not_before is not None
        assert NOW <= advice.not_before <= since + LONGEST_WAIT
    else:
        assert advice.seconds >= min(seconds, LEAST_GROUP_SECONDS)


@given(AGES, CAUTIONS)
def test_a_partition_is_cold_when_it_was_said_it_would_be(
    ages: list[int], caution: ConflictTolerance
) -> None:
    found = history(ages)
    cold = cold_at(found, caution=caution, now=NOW)
    assert cold >= NOW
    later = cold + timedelta(seconds=1)
    assert risk_of(found, seconds=LEAST_GROUP_SECONDS, now=later) <= caution.most_risk + 1e-6


def test_work_is_ended_early_only_where_another_writer_made_it_useless() -> None:
    since = ago(minutes=10)
    during = ago(minutes=5)

    def lost(*commits: CommitFact) -> str:
        return lost_already(commits, partition="p=1", since=since)

    assert lost(commit(during, "append")) == ""
    assert lost(commit(during, "delete", "p=2")) == ""
    assert lost(commit(ago(minutes=11), "delete", "p=1")) == ""
    assert lost(CommitFact(during, "replace", is_ours=True)) == ""
    assert "delete of 2026-11-01 11:55:00 UTC" in lost(commit(during, "delete", "p=1"))
    assert "touched the same files" in lost(commit(during))
