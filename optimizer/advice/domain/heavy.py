"""Keeps the shapes that cost most, of a log of any length, in a fixed number of places.

Space-Saving (Metwally, Agrawal and El Abbadi, ICDT 2005) with weights: a shape that has no place
takes over the cheapest one with its cost, which is noted as what may be counted too much. Parts of
a log that were counted apart are merged as in Mergeable Summaries (Agarwal et al., PODS 2012).
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Counted:
    """A shape: its cost lies between `cost - too_much` and `cost`; `n` queries were seen here."""

    digest: str
    cost: float
    too_much: float = 0.0
    n: int = 0


class HeavyShapes:
    """The shapes of the largest cost; each whose share is above 1/places has a place."""

    def __init__(self, places: int, counted: Iterable[Counted] = ()) -> None:
        if places < 1:
            raise ValueError("a count of shapes needs at least one place")
        self._places = places
        self._counted = {one.digest: one for one in counted}
        self._heap = [(one.cost, one.digest) for one in self._counted.values()]
        heapq.heapify(self._heap)

    def add(self, digest: str, *, cost: float, n: int = 1) -> None:
        """Count `n` queries of a shape that cost so much together; a cost below 0 is refused."""
        if cost < 0:
            raise ValueError(f"a query cannot cost {cost}")
        known = self._counted.get(digest)
        if known is None and len(self._counted) >= self._places:
            cheapest = self._take_cheapest()
            known = Counted(digest, cheapest.cost, cheapest.cost)
        known = known or Counted(digest, 0.0)
        self._keep(replace(known, cost=known.cost + cost, n=known.n + n))

    def merged(self, other: "HeavyShapes") -> "HeavyShapes":
        """Return the count of both logs together, in as many places as this one has."""
        sums: dict[str, Counted] = {}
        for mine, theirs in ((self, other), (other, self)):
            for one in mine._counted.values():
                # Where it has no place it may have cost as much as the cheapest that has one.
                unseen = theirs._floor()
                both = theirs._counted.get(one.digest) or Counted(one.digest, unseen, unseen)
                sums[one.digest] = Counted(
                    one.digest, one.cost + both.cost, one.too_much + both.too_much, one.n + both.n
                )
        kept = heapq.nlargest(self._places, sums.values(), key=lambda one: (one.cost, one.digest))
        return HeavyShapes(self._places, kept)

    def top(self) -> list[Counted]:
        """Return all that have a place, the dearest first."""
        return sorted(self._counted.values(), key=lambda one: (-one.cost, one.digest))

    def _keep(self, one: Counted) -> None:
        self._counted[one.digest] = one
        heapq.heappush(self._heap, (one.cost, one.digest))
        # Entries of former costs are dropped before they are many.
        if len(self._heap) > 4 * self._places:
            self._heap = [(each.cost, each.digest) for each in self._counted.values()]
            heapq.heapify(self._heap)

    def _take_cheapest(self) -> Counted:
        while True:
            cost, digest = heapq.heappop(self._heap)
            found = self._counted.get(digest)
            if found is not None and found.cost == cost:
                return self._counted.pop(digest)

    def _floor(self) -> float:
        if len(self._counted) < self._places:
            return 0.0
        return min(one.cost for one in self._counted.values())
