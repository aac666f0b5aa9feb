"""Back pressure: gathers longer, then stops taking in. Nothing is discarded.

The follower's position stays where it is and the hook asks its caller to come again, so what is not
taken in is not lost. The metastore has a purse of calls a second, that a giant may overdraw.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
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


@dataclass(frozen=True, slots=True)
class Purse:
    """Calls that a metastore is still good for; below nothing it must earn first."""

    calls: float
    at: datetime


def earned(purse: Purse, *, now: datetime, a_second: float, most: float) -> Purse:
    """Add what was earned since; a clock that went back earns nothing."""
    seconds = max(0.0, (now - purse.at).total_seconds())
    return Purse(min(most, purse.calls + seconds * a_second), max(now, purse.at))


def spent(purse: Purse, calls: int) -> Purse | None:
    """Pay for a statement; None if there is nothing to pay from.

    Any positive purse pays any price, so that what costs more than it can ever hold comes through.
    """
    return Purse(purse.calls - calls, purse.at) if purse.calls > 0 else None
