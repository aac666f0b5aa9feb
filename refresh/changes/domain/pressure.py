"""Back pressure: gathers longer, then stops taking in. Nothing is discarded.

The follower's position stays where it is and the hook asks its caller to come again, so what is not
taken in is not lost.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


class Pressure(StrEnum):
    """How full the queue is."""

    NONE = "NONE"
    HIGH = "HIGH"
    FULL = "FULL"


@dataclass(frozen=True, slots=True)
class PressureLimits:
    """From how many waiting tables on it is high or full; it eases only at half of that."""

    high: int = 500
    full: int = 5_000


_GATHER = {
    Pressure.NONE: timedelta(seconds=1),
    Pressure.HIGH: timedelta(seconds=10),
    Pressure.FULL: timedelta(seconds=30),
}
_LEVELS = tuple(Pressure)


def pressure(n_waiting: int, *, before: Pressure, limits: PressureLimits) -> Pressure:
    """Judge the queue; between half a mark and the mark it stays what it was."""
    reached = _level(n_waiting, high=limits.high, full=limits.full)
    eased = _level(n_waiting, high=limits.high // 2 + 1, full=limits.full // 2 + 1)
    return min(max(before, reached, key=_LEVELS.index), eased, key=_LEVELS.index)


def gather_for(level: Pressure) -> timedelta:
    """Say how long a table's changes are gathered before its first statement."""
    return _GATHER[level]


def takes_in(level: Pressure) -> bool:
    """Whether the follower and the hook take anything in."""
    return level is not Pressure.FULL


def _level(n_waiting: int, *, high: int, full: int) -> Pressure:
    if n_waiting >= full:
        return Pressure.FULL
    return Pressure.HIGH if n_waiting >= high else Pressure.NONE
