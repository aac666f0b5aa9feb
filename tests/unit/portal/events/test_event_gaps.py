"""What is missing between the position and what the log gives."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.events.gaps import HOLE_GRACE, AlarmKind, next_step

NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ids", "newest", "n_take", "position", "kind"),
    [
        ([], 10, 0, 10, None),
        ([11, 12], 12, 2, 12, None),
        ([11, 12, 14], 14, 2, 12, None),
        ([], 15, 0, 15, AlarmKind.LOG_CLEANED),
        ([], 9, 0, 9, AlarmKind.ID_BELOW_POSITION),
        ([5], 9, 0, 9, AlarmKind.ID_BELOW_POSITION),
    ],
)
def test_the_position_moves_over_what_is_there(
    ids: list[int], newest: int, n_take: int, position: int, kind: AlarmKind | None
) -> None:
    step = next_step(ids, position=10, newest=newest, hole_since=None, now=NOW)
    assert (step.n_take, step.position) == (n_take, position)
    assert (step.gap.kind if step.gap else None) == kind


def test_a_hole_counts_only_after_it_stood_for_a_while() -> None:
    first = next_step([12], position=10, newest=12, hole_since=None, now=NOW)
    assert (first.position, first.gap, first.hole_since) == (10, None, NOW)

    almost = NOW + HOLE_GRACE - timedelta(seconds=1)
    waiting = next_step([12], position=10, newest=12, hole_since=NOW, now=almost)
    assert (waiting.position, waiting.gap, waiting.hole_since) == (10, None, NOW)

    late = next_step([11, 12], position=10, newest=12, hole_since=NOW, now=almost)
    assert (late.n_take, late.gap, late.hole_since) == (2, None, None)

    lost = next_step([12], position=10, newest=12, hole_since=NOW, now=NOW + HOLE_GRACE)
    assert lost.gap is not None
    assert (lost.gap.kind, lost.position, lost.n_take) == (AlarmKind.HOLE, 11, 0)


@given(st.sets(st.integers(1, 30)), st.integers(1, 7))
def test_every_event_is_taken_once_or_reported_missing(present: set[int], limit: int) -> None:
    """Follow a log with any holes to its end, as the follower does."""
    newest = 31
    log = sorted(present | {newest})
    position, hole_since, now = 0, None, NOW
    taken: list[int] = []
    missing: set[int] = set()
    while position < newest:
        ids = [event_id for event_id in log if event_id > position][:limit]
        step = next_step(ids, position=position, newest=newest, hole_since=hole_since, now=now)
        taken += ids[: step.n_take]
        if step.gap is not None:
            missing |= set(range(position + 1, step.position + 1))
        assert step.position >= position
        position, hole_since, now = step.position, step.hole_since, now + HOLE_GRACE
    assert taken == log
    assert missing == set(range(1, newest)) - present
