"""Sums up what recorded queries ask of one table: by column and kind of filter, and by grouping.

What is summed grows with the columns of the table and a fixed number of groupings, not with the
log.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from optimizer.advice.domain.asked import Aggregate, Asked
from optimizer.advice.domain.filters import FilterKind
from optimizer.advice.domain.heavy import Counted, HeavyShapes
from optimizer.advice.domain.stars.terms import read_term
from optimizer.indexes.domain.choice.kinds import Use

MOST_GROUPINGS = 200

_USES: Mapping[FilterKind, Use] = {
    FilterKind.EQUAL: Use.POINT,
    FilterKind.IN: Use.POINT,
    FilterKind.DYNAMIC: Use.POINT,
    FilterKind.RANGE: Use.RANGE,
    FilterKind.PREFIX: Use.PART,
    FilterKind.CONTAINS: Use.PART,
}
_DIMENSIONS = {FilterKind.EQUAL, FilterKind.IN, FilterKind.RANGE}


@dataclass(slots=True)
class Load:
    """How many queries there were, and what they cost together."""

    n: int = 0
    cost: float = 0.0

    def add(self, n: int, cost: float) -> None:
        """Add some queries."""
        self.n, self.cost = self.n + n, self.cost + cost


@dataclass(frozen=True, slots=True)
class Grouping:
    """What queries group and filter by, and what they aggregate: what a cube would have to hold."""

    dimensions: frozenset[str]
    measures: frozenset[Aggregate]

    def holds(self, other: "Grouping") -> bool:
        """Whether a cube of this answers the other too."""
        return self.dimensions >= other.dimensions and self.measures >= other.measures


class TableWorkload:
    """What queries asked of one table; `cost` is in whatever unit the caller counts."""

    def __init__(self) -> None:
        self.all = Load()
        self._filters: defaultdict[str, defaultdict[FilterKind, Load]] = defaultdict(
            lambda: defaultdict(Load)
        )
        self._groupings = HeavyShapes(MOST_GROUPINGS)
        self._known: dict[str, Grouping] = {}

    def add(self, asked: Asked, *, cost: float, n: int = 1) -> None:
        """Count `n` queries alike that cost so much together."""
        self.all.add(n, cost)
        for one in asked.filters:
            self._filters[one.column][one.kind].add(n, cost)
        if (grouping := grouping_of(asked)) is not None:
            key = _key(grouping)
            self._groupings.add(key, cost=cost, n=n)
            self._known[key] = grouping
            if len(self._known) > 2 * MOST_GROUPINGS:
                kept = {one.digest for one in self._groupings.top()}
                self._known = {key: one for key, one in self._known.items() if key in kept}

    def filtered(self) -> dict[str, dict[FilterKind, Load]]:
        """Return each column's filters by kind; the column that costs most comes first."""
        order = sorted(
            self._filters,
            key=lambda name: (-sum(x.cost for x in self._filters[name].values()), name),
        )
        return {name: dict(self._filters[name]) for name in order}

    def uses(self, column: str, *, least: float = 0.05) -> frozenset[Use]:
        """Return how an index of a column would be asked: what is at least that share of its cost.

        What no index answers (`NULL`, other conditions) counts in the whole, and for no use.
        """
        by_kind: Mapping[FilterKind, Load] = self._filters.get(column, {})
        return uses_asked({kind: one.cost for kind, one in by_kind.items()}, least=least)

    def groupings(self) -> list[tuple[Grouping, Counted]]:
        """Return the groupings that cost most, with their bounds, the dearest first."""
        return [(self._known[one.digest], one) for one in self._groupings.top()]


def uses_asked(weights: Mapping[FilterKind, float], *, least: float = 0.05) -> frozenset[Use]:
    """Return how an index of a column would be asked: what is at least that share of the weights.

    What no index answers (`NULL`, other conditions) counts in the whole, and for no use.
    """
    whole = sum(weights.values())
    shares: defaultdict[Use, float] = defaultdict(float)
    for kind, weight in weights.items():
        if (use := _USES.get(kind)) is not None:
            shares[use] += weight
    return frozenset(use for use, one in shares.items() if one > 0 and one >= least * whole)


def main_uses(weights: Mapping[FilterKind, float]) -> frozenset[Use]:
    """Return how the one index of a column should be asked: by whole values, or by parts of a text.

    No index answers both, so those that weigh less are left out.
    """
    asked = uses_asked(weights)
    parts = sum(n for kind, n in weights.items() if _USES.get(kind) is Use.PART)
    values = sum(n for kind, n in weights.items() if _USES.get(kind) in (Use.POINT, Use.RANGE))
    return asked & {Use.PART} if parts > values else asked - {Use.PART}


def grouping_of(asked: Asked) -> Grouping | None:
    """Return what a query aggregates by; None where no cube could answer it.

    A filter that is neither equality nor a range is left to plain queries: groups would have to
    hold whole texts.
    """
    if not asked.aggregates or any(one.column == "" for one in asked.aggregates):
        return None
    if any(one.kind not in _DIMENSIONS for one in asked.filters):
        return None
    groups = {read_term(one)[1] for one in asked.groups}
    dimensions = frozenset(groups) | {one.column for one in asked.filters}
    return Grouping(dimensions, frozenset(asked.aggregates))


def _key(grouping: Grouping) -> str:
    measures = sorted(f"{one.function}({one.column})" for one in grouping.measures)
    return "\0".join([*sorted(grouping.dimensions), "", *measures])
