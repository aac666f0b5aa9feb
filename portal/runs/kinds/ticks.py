"""Registers ticks: what the scheduler does for a lake at a steady interval, by calling a service.

A tick looks at rows and acts on what is due, so a turn that was missed or done twice changes
nothing. What has to be done exactly once in a slot, takes long, or speaks to a system that may
stand still is a run (`registry.RunKind`): it is claimed, repeated after a crash, and shown.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol


class Turn(Protocol):
    """Does what is due for a lake."""

    def __call__(self, lake: str, *, now: datetime) -> object:
        """Do it; called again at once it changes nothing."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A service that the scheduler calls, at most once in `every`."""

    name: str
    every: timedelta
    turn: Turn


_ticks: dict[str, Tick] = {}


def register_tick(tick: Tick) -> Tick:
    """Add a tick; registering a name again replaces it."""
    _ticks[tick.name] = tick
    return tick


def all_ticks() -> list[Tick]:
    """Return every tick, by name."""
    return [_ticks[name] for name in sorted(_ticks)]
