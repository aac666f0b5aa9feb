"""A deletion asks for a lease that was renewed a moment ago: late waits, never means no."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from django.conf import settings

from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.errors import StaleState
from portal.lake.paths import LakePath
from portal.safety.fence import LEASE_LENGTH, RENEWED_WITHIN, Fence, open_fence, write_lease

NOW = datetime(2026, 11, 24, 9, tzinfo=UTC)
FS = LocalFileSystem()


@pytest.fixture
def fence(tmp_path: Path) -> LakePath:
    path = LakePath.parse(f"file://{tmp_path}/acting")
    open_fence(FS, path, lease_until=NOW + LEASE_LENGTH)
    return path


def clock(*, step: float = 0, start: float = 0) -> Callable[[], datetime]:
    """A clock that goes on by some seconds each time it is asked."""
    ticks = count()
    return lambda: NOW + timedelta(seconds=start + step * next(ticks))


def code(fence: Fence) -> str:
    with pytest.raises(StaleState) as error:
        fence.check_renewed()
    return error.value.code


def test_it_goes_on_soon_after_the_last_beat(fence: LakePath) -> None:
    Fence(FS, fence, clock=clock(start=8.9)).check_renewed()


def test_the_last_look_leaves_time_to_end_within_ten_seconds(fence: LakePath) -> None:
    told = clock(step=30, start=9.1)
    assert code(Fence(FS, fence, clock=told)) == "act.fenced"


def test_a_supervisor_that_is_on_time_never_delays_a_deletion() -> None:
    assert timedelta(seconds=settings.LAKEWARDEN_POLL_SECONDS) < RENEWED_WITHIN


def test_without_a_beat_it_waits_and_stops_at_the_end_of_the_lease(fence: LakePath) -> None:
    asked: list[datetime] = []
    told = clock(step=12, start=11)

    def watched() -> datetime:
        asked.append(told())
        return asked[-1]

    assert code(Fence(FS, fence, clock=watched)) == "act.fenced"
    assert asked[-1] >= NOW + LEASE_LENGTH
    assert len(asked) > 2


def test_a_beat_that_comes_late_lets_it_go_on(fence: LakePath) -> None:
    told = clock(step=5, start=11)

    def renewing() -> datetime:
        now = told()
        if now >= NOW + timedelta(seconds=30):
            write_lease(FS, fence, until=now + LEASE_LENGTH)
        return now

    Fence(FS, fence, clock=renewing).check_renewed()


def test_a_fence_that_is_gone_is_a_no_at_once(fence: LakePath) -> None:
    FS.rename(fence, fence.parent.child("acted"))
    assert code(Fence(FS, fence, clock=clock())) == "act.fenced"
