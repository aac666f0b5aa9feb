"""What a running capture tells: where it is, how far behind, how fast, and what it leaves out."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from pipelines.cdc.capture.domain.loads import Load
from pipelines.cdc.capture.domain.repairs import Repaired

_WINDOW_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Progress:
    """A capture at one moment."""

    number: int
    """Of the last batch."""
    position: str
    behind_seconds: float
    """How old the newest event was when it was read; 0 where everything is read."""
    total: int
    """Changes in the changelog."""
    rows_per_second: float
    loads: tuple[Load, ...]
    refused: tuple[tuple[str, str], ...]
    """Matching tables that are not captured, each with the reason."""
    repaired: tuple[Repaired, ...] = ()
    """Repairs that are in the changelog since this process began."""


Report = Callable[[Progress], None]


class Pace:
    """Counts rows over the last half minute."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._recent: deque[tuple[float, int]] = deque()

    def add(self, n_rows: int) -> None:
        """Count the rows of a batch."""
        self._recent.append((time.monotonic(), n_rows))

    def per_second(self) -> float:
        """Return the mean of the last half minute, or since the start."""
        now = time.monotonic()
        while self._recent and now - self._recent[0][0] > _WINDOW_SECONDS:
            self._recent.popleft()
        window = min(_WINDOW_SECONDS, max(now - self._begun, 0.001))
        return sum(n for _, n in self._recent) / window
