"""Tells a quiet source from a connection that is alive and brings nothing."""

import time
from collections.abc import Callable

from pipelines.cdc.changes.domain.positions import Position


class Watchdog:
    """Knows when the last event came; asks for a comparison now and then."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._now = now
        self._moved = self._asked = now()

    def moved(self) -> None:
        """Say that an event came."""
        self._moved = self._now()

    def is_due(self) -> bool:
        """Whether nothing came for so long that the server's position should be asked for."""
        now = self._now()
        if min(now - self._moved, now - self._asked) < self._seconds:
            return False
        self._asked = now
        return True

    def is_stuck(self, reached: Position, there: Position) -> bool:
        """Whether the server's log went on without the capture."""
        return self._now() - self._moved >= self._seconds and reached < there
