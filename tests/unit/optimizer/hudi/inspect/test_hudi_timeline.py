"""Tests timelines: broken, old or too new ones are only reported; which ones are stuck."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.hudi.inspect.domain.facts import Action, InstantState, PendingPlan
from optimizer.hudi.inspect.domain.timeline import (
    first_write,
    heartbeat_limit,
    last_write_at,
    pending,
    silence_of,
    stuck,
    unfit,
)
from tests.unit.optimizer.hudi.hudi_world import (
    CLUSTERING,
    COMPACTION,
    DELTA,
    NOW,
    asked,
    at,
    begun,
    done,
    look,
    name,
    plan,
    table,
)

HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("version", "layout", "says"),
    [
        (5, 1, "as Hudi 0.x writes them"),
        (6, 1, "hoodie.write.auto.upgrade"),
        (8, 1, "layout 1"),
        (10, 2, "later Hudi than the one here"),
    ],
)
def test_a_version_that_is_not_known_is_left_alone(version: int, layout: int, says: str) -> None:
    found = unfit(look(done(1), table=table(version=version, layout_version=layout)))
    assert found is not None
    assert found.code == "unsupported"
    assert says in found.reason
    assert "Nothing is done to it" in found.reason


@pytest.mark.parametrize("version", [8, 9])
def test_a_whole_timeline_of_a_known_version_is_fit(version: int) -> None:
    whole = look(done(1), asked(2), table=table(version=version), plans=(plan(2, "a"),))
    assert unfit(whole) is None


def test_a_broken_timeline_is_named_with_what_is_wrong() -> None:
    wrong = replace(done(5), completed=name(1))
    untold = replace(done(5), completed=None)
    for one, says in (
        (look(wrong), "completed before it was requested"),
        (look(untold), "does not say when"),
        (look(done(1), plans=(plan(2, "a"),)), "has no instant in the timeline"),
        (look(table=table(faults=("deltacommit 1 is empty.",))), "deltacommit 1 is empty."),
    ):
        found = unfit(one)
        assert found is not None
        assert found.code == "broken"
        assert says in found.reason


def test_of_many_faults_a_few_are_named_and_the_others_counted() -> None:
    found = unfit(look(table=table(faults=tuple(f"{n} is empty." for n in range(12)))))
    assert found is not None
    assert "4 is empty. And 7 more." in found.reason


def test_pending_is_oldest_first_whatever_order_the_listing_had() -> None:
    found = pending(look(asked(9), done(7), asked(3), begun(5)), {COMPACTION, DELTA})
    assert [one.instant for one in found] == [name(3), name(5), name(9)]


def test_hudi_takes_for_archived_what_lies_before_the_first_write_that_is_no_savepoint() -> None:
    old = done(1, is_archived=True)
    kept = done(3)
    clean = done(2, Action.CLEAN)
    saved = done(3, Action.SAVEPOINT)
    assert first_write(look(old, clean, kept, done(6))) == name(3)
    assert first_write(look(old, kept, saved, asked(5), done(6))) == name(5)
    assert first_write(look(old)) is None


def test_the_last_write_is_a_writers_not_a_clean() -> None:
    assert last_write_at(look(done(3), done(1), done(9, Action.CLEAN))) == at(4)
    assert last_write_at(look()) is None


def test_a_plan_that_waits_is_not_stuck_and_one_that_began_is_after_its_patience() -> None:
    asked_long_ago = look(asked(1), asked(2, CLUSTERING), asked(3, Action.CLEAN))
    assert stuck(asked_long_ago, patience=HOUR, now=NOW) == ()
    begun_long_ago = look(begun(2, COMPACTION), begun(1), begun(995, CLUSTERING))
    found = stuck(begun_long_ago, patience=HOUR, now=NOW)
    assert [one.instant.instant for one in found] == [name(1), name(2)]
    assert "its last sign is 999 minutes old" in found[0].words(NOW)


def test_a_writer_that_died_before_it_wrote_anything_is_stuck_too() -> None:
    assert stuck(look(asked(1, DELTA)), patience=HOUR, now=NOW)


def test_a_heartbeat_counts_for_more_than_age() -> None:
    alive = begun(1, heartbeat_at=NOW - timedelta(seconds=90))
    dead = begun(990, heartbeat_at=NOW - timedelta(seconds=150))
    found = stuck(look(alive, dead), patience=HOUR, now=NOW)
    assert [one.instant for one in found] == [dead]
    assert "heartbeat" in found[0].words(NOW)


def test_the_tables_own_heartbeat_settings_hold_and_nonsense_does_not() -> None:
    slow = {
        "hoodie.client.heartbeat.interval_in_ms": "60000",
        "hoodie.client.heartbeat.tolerable.misses": "5",
    }
    assert heartbeat_limit(table(properties=slow)) == timedelta(minutes=5)
    odd = {"hoodie.client.heartbeat.interval_in_ms": "soon"}
    assert heartbeat_limit(table(properties=odd)) == timedelta(minutes=2)


@given(
    st.sampled_from(Action),
    st.sampled_from(InstantState),
    st.integers(0, 2000),
    st.integers(0, 900),
)
def test_what_is_completed_or_young_is_never_stuck(
    action: Action, state: InstantState, minute: int, patience: int
) -> None:
    instant = replace(begun(minute, action), state=state)
    found = silence_of(look(), instant, patience=timedelta(minutes=patience), now=NOW)
    if state is InstantState.COMPLETED or 1000 - minute <= patience:
        assert not found.is_stuck
    assert found.words(NOW)


def test_a_plan_says_its_partitions_once() -> None:
    assert plan(1, "a", "b").partitions == ("p",)
    assert PendingPlan(instant="1", action=COMPACTION, requested_at=NOW).partitions == ()
