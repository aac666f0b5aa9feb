"""Assigns the instants of a timeline picture to lines, so that none hides another.

Each action has a lane; instants that were under way at once stand on lines of their own within it,
as far as a lane has lines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from optimizer.hudi.inspect.domain.facts import Action
from optimizer.hudi.inspect.selectors.instants import InstantRow

LINES_AT_MOST = 6
_ORDER = [str(one) for one in Action]


@dataclass(frozen=True)
class Lanes:
    """The actions that have a lane, from the top, the middle of each, and a height for each row."""

    names: list[str]
    middles: list[float]
    heights: Mapping[str, float]
    n_lines: int


def lanes_of(rows: Sequence[InstantRow], *, now: datetime) -> Lanes:
    """Lay instants out; heights grow downwards, a line is one high."""
    names = sorted({one.action for one in rows}, key=_rank)
    heights: dict[str, float] = {}
    middles = []
    top = 0.0
    for name in names:
        lines: list[datetime] = []
        for one in sorted((row for row in rows if row.action == name), key=lambda row: row.key):
            line = _line(lines, one, now)
            heights[one.key] = top + line
        middles.append(top + (len(lines) - 1) / 2)
        top += len(lines) + 0.6
    return Lanes(names, middles, heights, round(top))


def _line(lines: list[datetime], one: InstantRow, now: datetime) -> int:
    """Return the first line that is free, or the one that is free next where all are taken."""
    end = now if one.is_pending else one.completed_at or one.requested_at
    free = next((n for n, busy in enumerate(lines) if busy <= one.requested_at), None)
    if free is None and len(lines) < LINES_AT_MOST:
        lines.append(end)
        return len(lines) - 1
    if free is None:
        free = min(range(len(lines)), key=lambda n: lines[n])
    lines[free] = max(end, lines[free])
    return free


def _rank(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)
