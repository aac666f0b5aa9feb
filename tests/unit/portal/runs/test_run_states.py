"""The states of a run: which moves exist, when a claim is dead, how an ending is judged."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.runs.domain import (
    FINAL,
    LAST_REPUBLISH,
    TRANSITIONS,
    Ending,
    RunState,
    Schedule,
    can_move,
    end_state,
    is_lease_dead,
    publish_again_after,
    tag_of,
)

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


def test_final_states_are_never_left() -> None:
    assert all(not TRANSITIONS[state] for state in FINAL)


def test_every_state_can_be_reached_and_can_end() -> None:
    reached, todo = set(), [RunState.QUEUED]
    while todo:
        state = todo.pop()
        if state not in reached:
            reached.add(state)
            todo.extend(TRANSITIONS[state])
    assert reached == set(RunState)


def test_only_settling_and_the_untouched_queue_lead_to_an_end() -> None:
    def sources(target: RunState) -> set[RunState]:
        return {state for state in RunState if can_move(state, target)}

    assert sources(RunState.DONE) == {RunState.SETTLING}
    assert sources(RunState.FAILED) == {RunState.SETTLING}
    assert sources(RunState.CANCELLED) == {RunState.SETTLING, RunState.QUEUED}


def test_what_may_have_started_is_never_put_back_in_the_queue_unsettled() -> None:
    assert not can_move(RunState.SUBMITTING, RunState.QUEUED)
    assert not can_move(RunState.RUNNING, RunState.QUEUED)


@pytest.mark.parametrize(
    ("lease_until", "dead"),
    [(None, True), (NOW - timedelta(seconds=1), True), (NOW, True), (NOW + timedelta(1), False)],
)
def test_a_lease_is_dead_from_its_instant_on(lease_until: datetime | None, dead: bool) -> None:
    assert is_lease_dead(lease_until, NOW) is dead


def test_a_tag_names_run_and_epoch() -> None:
    assert tag_of("7c", 3) == "lw-7c-3"


@given(st.integers(0, 200))
def test_a_message_is_repeated_ever_more_slowly(n_messages: int) -> None:
    assert publish_again_after(n_messages) <= publish_again_after(n_messages + 1) <= LAST_REPUBLISH


def ending(outcome: str | None, **changes: object) -> Ending:
    known: dict[str, object] = {
        "has_error": False,
        "is_cancel_asked": False,
        "epoch": 1,
        "attempts": 2,
    }
    return Ending(outcome=outcome, **{**known, **changes})  # type: ignore[arg-type]  # a test's table


@pytest.mark.parametrize(
    ("given_ending", "state"),
    [
        (ending("done"), RunState.DONE),
        (ending("done", is_cancel_asked=True), RunState.DONE),
        (ending("failed", has_error=True), RunState.FAILED),
        (ending("cancelled"), RunState.CANCELLED),
        (ending("cancelled", has_error=True), RunState.CANCELLED),
        (ending(None), RunState.QUEUED),
        (ending(None, epoch=2), RunState.FAILED),
        (ending(None, is_cancel_asked=True), RunState.CANCELLED),
        (ending(None, has_error=True), RunState.FAILED),
    ],
)
def test_how_an_ending_is_judged(given_ending: Ending, state: RunState) -> None:
    assert end_state(given_ending) is state


def test_a_daily_slot_begins_at_its_hour_and_a_steady_one_at_once() -> None:
    daily = Schedule(daily_at_hour=3)
    assert daily.slot(NOW.replace(hour=2)) is None
    assert daily.slot(NOW.replace(hour=3)) == daily.slot(NOW.replace(hour=23)) == "2026-11-20"
    steady = Schedule(every=timedelta(minutes=5))
    assert steady.slot(NOW) == steady.slot(NOW + timedelta(seconds=299))
    assert steady.slot(NOW) != steady.slot(NOW + timedelta(seconds=300))
