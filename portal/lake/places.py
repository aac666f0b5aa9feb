"""Finds who else has data at, under or above a place: the rule behind every shared-location check.

A match only ever refuses, so places are compared without scheme and authority, and a location that
cannot be read as a plain path counts wherever it may lead.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath

DEFAULT_CATALOG = "hive"
_SCHEME_AND_AUTHORITY = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:(?://[^/]*)?")

Who = TypeVar("Who")


@dataclass(frozen=True, slots=True, order=True)
class Holder:
    """Who has data somewhere: a database (`table` empty), a table, or one partition of it.

    A storage descriptor that belongs to nothing has no name at all.
    """

    db: str
    table: str = ""
    partition: str = ""
    catalog: str = DEFAULT_CATALOG

    def __str__(self) -> str:
        if not self.db:
            return "a storage descriptor of no table"
        catalog = "" if self.catalog == DEFAULT_CATALOG else f"{self.catalog}."
        if not self.table:
            return f"database {catalog}{self.db}"
        partition = f"/{self.partition}" if self.partition else ""
        return f"{catalog}{self.db}.{self.table}{partition}"

    def is_part_of(self, table: "Holder") -> bool:
        """Whether this is a partition of `table`."""
        return (
            bool(self.partition)
            and not table.partition
            and (self.catalog, self.db, self.table) == (table.catalog, table.db, table.table)
        )


@dataclass(frozen=True, slots=True)
class Seen(Generic[Who]):
    """Another holder, and its location as it is registered."""

    holder: Who
    location: str

    def __str__(self) -> str:
        return f"{self.holder} at {self.location}"


def _is_same(one: Who, other: Who) -> bool:
    return one == other


class Neighbours(Generic[Who]):
    """Compares places with every registered location, shown once each in any order.

    `is_own` says whether something registered belongs to the holder of a place, so that it is no
    neighbour. `is_above` says which holders of directories above a place count; None: nobody's.
    """

    def __init__(
        self,
        places: Iterable[tuple[Who, LakePath]],
        *,
        read: Callable[[str], LakePath],
        is_own: Callable[[Who, Who], bool] = _is_same,
        is_above: Callable[[Who], bool] | None = None,
    ) -> None:
        self._read = read
        self._is_own = is_own
        self._is_above = is_above
        self._holders: defaultdict[str, list[Who]] = defaultdict(list)
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        self._below: defaultdict[str, list[str]] = defaultdict(list)
        self._inside: dict[str, Seen[Who]] = {}
        self._above: dict[str, Seen[Who]] = {}
        for holder, path in places:
            key = path.place
            if key not in self._holders:
                self._by_name[path.name].append(key)
                for above in list(_self_and_above(key))[1:] if is_above else ():
                    self._below[above].append(key)
            for other in self._holders[key]:
                if not (is_own(other, holder) and is_own(holder, other)):
                    self._inside.setdefault(key, Seen(other, str(path)))
            self._holders[key].append(holder)

    def see(self, holder: Who, location: str | None) -> None:
        """Take in that `holder` has its data at a registered location."""
        if not location:
            return
        try:
            key = self._read(location).place
        except RuleViolation:
            self._see_unreadable(holder, location)
            return
        for place in _self_and_above(key):
            if place in self._holders:
                self._note(self._inside, place, holder, location)
        if self._is_above is not None and self._is_above(holder):
            for place in self._below.get(key, ()):
                self._note(self._above, place, holder, location)

    def inside(self, path: LakePath) -> Seen[Who] | None:
        """Return somebody else whose location equals `path` or lies under it."""
        return self._inside.get(path.place)

    def above(self, path: LakePath) -> Seen[Who] | None:
        """Return somebody else whose location lies above `path`."""
        return self._above.get(path.place)

    def _see_unreadable(self, holder: Who, location: str) -> None:
        """Count a location that is no plain path for every place that it may lead to."""
        text = _SCHEME_AND_AUTHORITY.sub("", location, count=1)
        segments = [segment for segment in text.split("/") if segment]
        is_absolute = text.startswith("/")
        for name in dict.fromkeys(segments):
            for place in self._by_name.get(name, ()):
                wanted = [segment for segment in place.split("/") if segment]
                if not is_absolute or _holds_in_order(segments, wanted):
                    self._note(self._inside, place, holder, location)

    def _note(self, found: dict[str, Seen[Who]], place: str, holder: Who, location: str) -> None:
        if place not in found and not all(
            self._is_own(holder, own) for own in self._holders[place]
        ):
            found[place] = Seen(holder, location)


def unknown_authorities(
    paths: Iterable[LakePath], known: Iterable[LakePath], *, aliases: Iterable[str] = ()
) -> list[str]:
    """Return the file systems, as `scheme://authority`, that no configuration names.

    Nothing on them can be compared for certain. `aliases` are the names on both sides of
    `path_aliases`.
    """
    names = {one.host for one in known} | {name.lower() for name in aliases}
    schemes = {one.scheme for one in known}
    unknown = {
        f"{path.scheme}://{path.authority}"
        for path in paths
        if not path.is_object_store
        and path.scheme != "file"
        and not (path.host in names or path.authority in names)
        and not (not path.authority and path.scheme in schemes)
    }
    return sorted(unknown)


def _self_and_above(place: str) -> Iterator[str]:
    """Return a place and each directory above it, a file system's root among them."""
    end = len(place)
    while end > 0 and place[end - 1] != "/":
        yield place[:end]
        end = place.rfind("/", 0, end)
    if not place.startswith("//"):
        yield "/"


def _holds_in_order(segments: list[str], wanted: list[str]) -> bool:
    rest = iter(segments)
    return all(segment in rest for segment in wanted)
