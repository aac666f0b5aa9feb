"""Which locations lie at or under which: one sort, then ranges; never all pairs.

A location's key is its text with a closing slash, so everything under a path is one contiguous
range of the sorted keys. Path rules and the shared-location check both stand on this.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from portal.lake.paths import LakePath

# The character after "/" in every code-point order: closes the range of keys under a path.
_AFTER_SLASH = chr(ord("/") + 1)
RELATED_SHOWN = 20


def location_key(path: LakePath) -> str:
    """Return the sort key of a location: its text with exactly one closing slash."""
    text = str(path)
    return text if text.endswith("/") else text + "/"


def range_under(keys: Sequence[str], key: str) -> tuple[int, int]:
    """Return the half-open range of sorted `keys` that lie at or under the location of `key`."""
    start = bisect_left(keys, key)
    return start, bisect_left(keys, key[:-1] + _AFTER_SLASH, lo=start)


@dataclass(frozen=True, slots=True)
class NamedLocation:
    """A registered location and a name that says whose it is (`db`, `db.table`, `db.table/k=v`)."""

    name: str
    path: LakePath


@dataclass(frozen=True, slots=True)
class SharedLocation:
    """A location that may not be acted on, and one other that equals it or lies under it."""

    name: str
    other: str
    equal: bool


def shared_locations(locations: Iterable[NamedLocation]) -> Iterator[SharedLocation]:
    """Name every location that another one equals or lies under.

    Each registered object comes in once. After sorting, whatever lies under a path follows it at
    once, so looking at both neighbours is enough: O(n log n).
    """
    ordered = sorted((location_key(place.path), place.name) for place in locations)
    for index, (key, name) in enumerate(ordered):
        following = ordered[index + 1] if index + 1 < len(ordered) else ("", "")
        before = ordered[index - 1] if index else ("", "")
        if following[0].startswith(key):
            yield SharedLocation(name, following[1], equal=following[0] == key)
        elif before[0] == key:
            yield SharedLocation(name, before[1], equal=True)


@dataclass(frozen=True, slots=True)
class OwnedLocation:
    """A location of one owner (for a table, its database) and the name to show for it."""

    owner: str
    name: str
    path: LakePath


class OwnedLocations:
    """Sorted locations that answer: whose lie at or under this path, how many, which first?

    Each answer costs a few binary searches and at most 20 steps, however much lies there: runs of
    one owner are jumped over, so that a database's own thousands of tables are not walked.
    """

    def __init__(self, places: Iterable[OwnedLocation]) -> None:
        self._places = sorted(places, key=lambda place: (location_key(place.path), place.name))
        self._keys = [location_key(place.path) for place in self._places]
        self._positions: defaultdict[str, list[int]] = defaultdict(list)
        for position, place in enumerate(self._places):
            self._positions[place.owner].append(position)
        self._run_end = self._ends_of_runs()

    def of_others(self, path: LakePath, owner: str) -> tuple[tuple[str, ...], int]:
        """Return the first names at or under `path` that are not `owner`'s, and their number."""
        start, end = range_under(self._keys, location_key(path))
        own_start, own_end = self._own_range(owner, start, end)
        names: list[str] = []
        position = start
        while position < end and len(names) < RELATED_SHOWN:
            if self._places[position].owner == owner:
                position = self._run_end[position]
            else:
                names.append(self._places[position].name)
                position += 1
        return tuple(names), (end - start) - (own_end - own_start)

    def of_same(self, path: LakePath, owner: str, *, but: str) -> tuple[tuple[str, ...], int]:
        """Give the first names at or under `path` that are `owner`'s, without `but`, and how many.

        `but` itself must stand at or under `path`.
        """
        start, end = range_under(self._keys, location_key(path))
        own_start, own_end = self._own_range(owner, start, end)
        shown = self._positions[owner][own_start : min(own_end, own_start + RELATED_SHOWN + 1)]
        names = (self._places[position].name for position in shown)
        return tuple(name for name in names if name != but)[:RELATED_SHOWN], own_end - own_start - 1

    def _own_range(self, owner: str, start: int, end: int) -> tuple[int, int]:
        own = self._positions.get(owner, [])
        first = bisect_left(own, start)
        return first, bisect_left(own, end, lo=first)

    def _ends_of_runs(self) -> list[int]:
        """For each position, where the unbroken run of its owner ends."""
        ends = [len(self._places)] * len(self._places)
        for position in range(len(self._places) - 2, -1, -1):
            same = self._places[position].owner == self._places[position + 1].owner
            ends[position] = ends[position + 1] if same else position + 1
        return ends
