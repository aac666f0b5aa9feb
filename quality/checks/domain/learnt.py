"""Learns from a metric's history what is usual: a median, with a robust deviation, by season.

The deviation is that of the same prediction made for each earlier window from the others, so that
few values make wide bounds. One odd day moves neither median nor deviation much.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping
from datetime import datetime
from statistics import median

import msgspec

from quality.checks.domain.rules import Learnt, Season

_NORMAL = 1.4826
"""Median absolute deviation to standard deviation, of normally distributed values."""
_LEAST_SHARE = 0.005
"""Deviations below this share of the usual value are never unusual ones."""
_LEAST_OF_SEASON = 2


class Usual(msgspec.Struct, frozen=True):
    """What is usual, and the deviation that is."""

    expected: float
    deviation: float
    n: int
    """How many earlier values it stands on."""


def usual(learnt: Learnt, at: datetime, values: Mapping[datetime, float]) -> Usual | None:
    """Return what is usual at a time; None: there are too few values."""
    seasons: dict[Hashable, list[float]] = defaultdict(list)
    for when, value in values.items():
        seasons[_season(learnt.season, when)].append(value)
    own = seasons.get(_season(learnt.season, at), [])
    if len(values) < learnt.least or len(own) < _LEAST_OF_SEASON:
        return None
    expected = median(own)
    errors = [
        abs(value - median(others))
        for ones in seasons.values()
        for n, value in enumerate(ones)
        if (others := ones[:n] + ones[n + 1 :])
    ]
    deviation = _NORMAL * median(errors)
    return Usual(expected, max(deviation, _LEAST_SHARE * abs(expected)), len(values))


def bounds(learnt: Learnt, found: Usual) -> tuple[float, float]:
    """Return between what a value passes."""
    apart = max(learnt.tolerance * found.deviation, learnt.floor)
    return found.expected - apart, found.expected + apart


def _season(season: Season, at: datetime) -> Hashable:
    # Hours differ by hour of the day too; days all have hour 0.
    return (at.weekday() if season is Season.WEEK else 0, at.hour)
