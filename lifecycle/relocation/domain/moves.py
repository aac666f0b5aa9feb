"""Computes the conforming location of a table or partition, and whether it may be moved there.

A table's place is its own name below its database, a partition's its own name below its table.
Whatever cannot be put right by moving this one thing is refused with its reason: a fix never leaves
a reason on what it moved, and never gives one to anything else. Facts of the day (holds, modes,
files) are judged in `refusal.py`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lifecycle.core.domain.nesting import OwnedLocation, OwnedLocations
from lifecycle.drop.domain.refusal import Name
from lifecycle.rules.domain.conformity import DatabaseFacts, Reason, TableFacts
from lifecycle.rules.domain.templates import Template, template_for
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath


class Immovable(StrEnum):
    """Why a nonconforming path is not moved."""

    DATABASE = "DATABASE"
    UNREADABLE = "UNREADABLE"
    UNSUPPORTED = "UNSUPPORTED"
    DATABASE_PLACE = "DATABASE_PLACE"
    OWNERS_DIFFER = "OWNERS_DIFFER"
    TABLE_PLACE = "TABLE_PLACE"
    SHARED_LOCATION = "SHARED_LOCATION"
    NESTED = "NESTED"
    TARGET_TAKEN = "TARGET_TAKEN"
    TARGET_INSIDE = "TARGET_INSIDE"
    OTHER_FILE_SYSTEM = "OTHER_FILE_SYSTEM"
    PARTITIONS_FIRST = "PARTITIONS_FIRST"


@dataclass(frozen=True, slots=True)
class Asked:
    """One object that somebody wants to have moved; its place as judged.

    `back_to` is the place that an undo brings it to, whatever the rules say of that.
    """

    name: Name
    source: LakePath | None
    back_to: LakePath | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """One object with the place that it leaves and the place that conforms."""

    name: Name
    source: LakePath
    target: LakePath


@dataclass(frozen=True, slots=True)
class Lake:
    """What the last scan knew of places; `broken` are the reasons of nonconforming tables."""

    databases: Mapping[str, DatabaseFacts]
    tables: Mapping[tuple[str, str], TableFacts]
    broken: Mapping[tuple[str, str], frozenset[Reason]]
    templates: Sequence[Template]


class Relocations:
    """Finds the moves for what is asked; every registered location is shown to it once, then asked.

    `across` holds the places of what would have to leave its file system, which is refused.
    `see` takes all locations of the lake, partitions too, in any order; `moves` gives what is left.
    """

    def __init__(self, lake: Lake, asked: Iterable[Asked]) -> None:
        self._lake = lake
        self.refused: dict[Name, Immovable] = {}
        self.across: dict[Name, Move] = {}
        self._moves: dict[Name, Move] = {}
        wanted = list(asked)
        # The last scan may have seen what is brought back, with its partitions, at its old place.
        self._back = frozenset(one.name for one in wanted if one.back_to is not None)
        for one in sorted(wanted, key=lambda one: bool(one.name.partition)):
            found = self._place(one)
            if isinstance(found, Immovable):
                self.refused[one.name] = found
            else:
                self._moves[one.name] = found
        self._sources = _by_place((move.source, move) for move in self._moves.values())
        self._targets = _by_place((move.target, move) for move in self._moves.values())
        self._above = _by_place(
            (place, self._moves[one.name])
            for one in wanted
            if one.name in self._moves and one.name not in self._back
            for place in _above(self._moves[one.name].target)
        )
        self._crowded = self._crowded_databases()
        for move in self._moves.values():
            self._see(move.target.place, move.name, is_planned=True)
            self._check_parts(move)

    def see(self, location: str, name: Name) -> None:
        """Take note that `name` has its data at `location`, however its file system is spelled.

        One that cannot be read as a path is left to the job, which asks again before it moves.
        """
        try:
            place = LakePath.parse(location).place
        except RuleViolation:
            return
        self._see(place, name, is_planned=False)

    def moves(self) -> list[Move]:
        """Return the moves that nothing stands against, in the order of their names."""
        return [
            move
            for name, move in sorted(self._moves.items(), key=lambda pair: _order(pair[0]))
            if not self._is_refused(move)
        ]

    def _is_refused(self, move: Move) -> bool:
        """Whether a move fell out; a partition falls with the table under whose new place it is."""
        name = move.name
        table = self._moves.get(Name(name.db, name.table))
        falls = table is not None and table.name in self.refused
        if name.partition and falls and table and move.target.is_at_or_under(table.target):
            self.refused.setdefault(name, Immovable.TABLE_PLACE)
        return name in self.refused

    def _check_parts(self, move: Move) -> None:
        """A table is not moved while a partition that leaves its directory is still in it."""
        table = self._moves.get(Name(move.name.db, move.name.table))
        if move.name.partition and table and move.source.is_at_or_under(table.source):
            self.refused.setdefault(table.name, Immovable.PARTITIONS_FIRST)

    def _place(self, asked: Asked) -> Move | Immovable:
        name, source = asked.name, asked.source
        if not name.table:
            return Immovable.DATABASE
        if source is None:
            return Immovable.UNREADABLE
        if source.depth == 0:
            return Immovable.SHARED_LOCATION
        try:
            target = asked.back_to or self._target(name)
        except RuleViolation:
            return Immovable.UNREADABLE
        if isinstance(target, Immovable):
            return target
        if not source.same_file_system(target):
            self.across[name] = Move(name, source, target)
            return Immovable.OTHER_FILE_SYSTEM
        if source.is_at_or_under(target) or target.is_at_or_under(source):
            return Immovable.NESTED
        return Move(name, source, target)

    def _target(self, name: Name) -> LakePath | Immovable:
        return self._partition_target(name) if name.partition else self._table_target(name)

    def _table_target(self, name: Name) -> LakePath | Immovable:
        db = self._lake.databases.get(name.db)
        table = self._lake.tables.get((name.db, name.table))
        reasons = self._lake.broken.get((name.db, name.table), frozenset())
        if db is None or db.location is None or Reason.DB_PATH_FAIL in reasons:
            return Immovable.DATABASE_PLACE
        if table is None:
            return Immovable.UNREADABLE
        target = db.location.child(name.table)
        if not template_for(name.db, self._lake.templates).holds(target, table.owner):
            return Immovable.OWNERS_DIFFER
        return target

    def _partition_target(self, name: Name) -> LakePath | Immovable:
        key = (name.db, name.table)
        moved = self._moves.get(Name(*key))
        table = self._lake.tables.get(key)
        home = moved.target if moved else table.location if table else None
        if home is None or (key in self._lake.broken and moved is None):
            return Immovable.TABLE_PLACE
        return home.child(*name.partition.split("/"))

    def _see(self, location: str, name: Name, *, is_planned: bool) -> None:
        for place in _self_and_above(location):
            for move in self._sources.get(place, ()):
                if move.name != name and not _moves_along(move.name, name, is_planned=is_planned):
                    self.refused.setdefault(move.name, Immovable.SHARED_LOCATION)
            for move in self._targets.get(place, ()):
                goes_along = _is_part(name, move.name) and (is_planned or move.name in self._back)
                if move.name != name and not goes_along:
                    self.refused.setdefault(move.name, Immovable.TARGET_TAKEN)
        for move in self._above.get(location, ()):
            if move.name != name and not self._may_hold(name, move.name):
                self.refused.setdefault(move.name, Immovable.TARGET_INSIDE)

    def _may_hold(self, holder: Name, moved: Name) -> bool:
        """Whether `holder` may lie above the new place: its own table or database may.

        Another database may where that gives it no new reason: it holds other tables already.
        """
        if holder.table:
            return _is_part(moved, holder)
        return holder.db == moved.db or bool(moved.partition) or holder.db in self._crowded

    def _crowded_databases(self) -> frozenset[str]:
        """Return the databases above some new place that have others' tables in them as it is."""
        above = [
            db
            for db in self._lake.databases.values()
            if db.location is not None and db.location.place in self._above
        ]
        if not above:
            return frozenset()
        places = OwnedLocations(
            OwnedLocation(table.db, table.name, table.location)
            for table in self._lake.tables.values()
            if table.location is not None and not table.is_view
        )
        return frozenset(
            db.name for db in above if db.location and places.of_others(db.location, db.name)[1]
        )


def _is_part(partition: Name, table: Name) -> bool:
    """Whether the first is a partition of the second, a table."""
    return (
        bool(partition.partition)
        and not table.partition
        and (partition.db, partition.table) == (table.db, table.table)
    )


def _moves_along(moved: Name, name: Name, *, is_planned: bool) -> bool:
    """Whether something in a moved directory goes with it rightly: a table's own partition."""
    return not is_planned and _is_part(name, moved)


def _order(name: Name) -> tuple[str, str, str]:
    return name.db, name.table, name.partition


def _by_place(pairs: Iterable[tuple[LakePath, Move]]) -> dict[str, list[Move]]:
    found: defaultdict[str, list[Move]] = defaultdict(list)
    for place, move in pairs:
        found[place.place].append(move)
    return dict(found)


def _above(path: LakePath) -> Iterator[LakePath]:
    """Yield each directory above a path, up to the root."""
    while path.parent != path:
        path = path.parent
        yield path


def _self_and_above(location: str) -> Iterator[str]:
    """Yield a place and each directory above it but the root, as keys."""
    end = len(location)
    while end > 0 and not location[:end].endswith("/"):
        yield location[:end]
        end = location.rfind("/", 0, end)
