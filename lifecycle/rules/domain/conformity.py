"""Which databases, tables and partitions lie where they should, and if not, by which rule.

The seven reasons are the seed's. One sort of all locations and range look-ups answer every rule,
so 50,000 tables take seconds. Templates say where owners may live; exceptions silence one reason of
one object until a day. Partitions are many, so they are judged one by one: `partition_conforms`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from lifecycle.core.domain.nesting import OwnedLocation, OwnedLocations
from lifecycle.rules.domain.templates import Template, template_for
from portal.lake.paths import LakePath


class Reason(StrEnum):
    """Why a location does not conform; the seed's words."""

    HAS_OTHER_DB = "HAS_OTHER_DB"
    OWNER_PATH_FAIL = "OWNER_PATH_FAIL"
    HAS_OTHER_DB_TBL = "HAS_OTHER_DB_TBL"
    DB_PATH_FAIL = "DB_PATH_FAIL"
    HAS_OTHER_TBL = "HAS_OTHER_TBL"
    PART_PATH_NOT_IN_TBL = "PART_PATH_NOT_IN_TBL"
    TBL_NOT_SUB_DB = "TBL_NOT_SUB_DB"


# A database with one of these makes its tables DB_PATH_FAIL. Somebody else's table under the
# database does not: it is reported, but must not stop the lifecycle of everyone in it.
SPOILS_TABLES = frozenset({Reason.HAS_OTHER_DB, Reason.OWNER_PATH_FAIL, Reason.DB_PATH_FAIL})


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """A database as registered; `location` is None where it could not be read as a path."""

    name: str
    owner: str
    location: LakePath | None


@dataclass(frozen=True, slots=True)
class TableFacts:
    """A table as registered, with its effective location (None where it is no path)."""

    db: str
    table: str
    owner: str
    location: LakePath | None
    is_view: bool = False

    @property
    def name(self) -> str:
        """`db.table`."""
        return f"{self.db}.{self.table}"


@dataclass(frozen=True, slots=True)
class PathRuleException:
    """An approved exception: one reason of one database (`table` empty) or table, with its end."""

    db: str
    table: str
    reason: Reason
    until: date


@dataclass(frozen=True, slots=True)
class Breach:
    """One broken rule: whom it involves (at most 20 names, sorted by place) and how many."""

    reason: Reason
    related: tuple[str, ...] = ()
    n_related: int = 0
    excepted_until: date | None = None

    @property
    def waived(self) -> bool:
        """Whether an exception silences it today."""
        return self.excepted_until is not None


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with one database (`table` empty) or table; no breach means it conforms."""

    db: str
    table: str
    breaches: tuple[Breach, ...]
    hint: str = ""
    parts_waived_until: date | None = None
    """The last day on which partitions of it that lie outside count as conforming."""

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons that count, waived ones left out."""
        return tuple(breach.reason for breach in self.breaches if not breach.waived)

    @property
    def waived(self) -> tuple[Reason, ...]:
        """The reasons that exceptions silence."""
        return tuple(breach.reason for breach in self.breaches if breach.waived)

    @property
    def excepted_until(self) -> date | None:
        """The last day on which all of its exceptions count; None without one."""
        days = (breach.excepted_until for breach in self.breaches if breach.excepted_until)
        return min(days, default=None)

    @property
    def related(self) -> tuple[str, ...]:
        """The names involved, each once, in the order of the reasons."""
        names = (name for b in self.breaches if not b.waived for name in b.related)
        return tuple(dict.fromkeys(names))

    @property
    def conforms(self) -> bool:
        """Whether nothing but waived breaches stands against it."""
        return not self.reasons


@dataclass(frozen=True, slots=True)
class Findings:
    """One finding per database and per table (conforming ones too), and how many views we skip."""

    databases: dict[str, Finding]
    tables: dict[tuple[str, str], Finding]
    n_views_skipped: int


def partition_conforms(partition: LakePath, table: LakePath) -> bool:
    """Whether a partition lies strictly below its table's effective location."""
    return _below(partition, table)


def judge(
    databases: Iterable[DatabaseFacts],
    tables: Iterable[TableFacts],
    *,
    templates: Sequence[Template],
    waivers: Iterable[PathRuleException] = (),
    today: date,
) -> Findings:
    """Judge every database and table of a lake; views have no place of their own and are counted.

    An exception counts up to and including its last day. `templates` ends with the pattern `*`.
    """
    every_table = list(tables)
    real = [table for table in every_table if not table.is_view]
    rules = _Rules(list(databases), real, templates=templates)
    active = in_force(waivers, today)
    judged = {
        db.name: Finding(
            db.name,
            "",
            _waive(rules.of_database(db), (db.name, ""), active, location=db.location),
            hint,
        )
        for db in rules.databases.values()
        for hint in [rules.database_hint(db)]
    }
    spoilt = {
        name for name, finding in judged.items() if not SPOILS_TABLES.isdisjoint(finding.reasons)
    }
    found = {
        (t.db, t.table): Finding(
            t.db,
            t.table,
            _waive(rules.of_table(t, spoilt=spoilt), (t.db, t.table), active, location=t.location),
            rules.table_hint(t),
            active.get((t.db, t.table, Reason.PART_PATH_NOT_IN_TBL)),
        )
        for t in real
    }
    return Findings(judged, found, len(every_table) - len(real))


StandingExceptions = Mapping[tuple[str, str, Reason], date]


def in_force(waivers: Iterable[PathRuleException], today: date) -> StandingExceptions:
    """Return the last day of each exception that counts today, by object and reason."""
    days: dict[tuple[str, str, Reason], date] = {}
    for one in waivers:
        if one.until >= today:
            key = (one.db, one.table, one.reason)
            days[key] = max(one.until, days.get(key, one.until))
    return days


def _waive(
    breaches: Iterable[Breach],
    name: tuple[str, str],
    active: StandingExceptions,
    *,
    location: LakePath | None,
) -> tuple[Breach, ...]:
    """Mark the breaches that an exception of this very object silences.

    A location that cannot be read is never waived: nobody could say what would be acted on.
    """
    if location is None:
        return tuple(breaches)
    return tuple(
        replace(breach, excepted_until=active.get((*name, breach.reason))) for breach in breaches
    )


class _Rules:
    """The rules of one lake, answered from its sorted locations."""

    def __init__(
        self,
        databases: Sequence[DatabaseFacts],
        tables: Sequence[TableFacts],
        *,
        templates: Sequence[Template],
    ) -> None:
        self.databases = {database.name: database for database in databases}
        self._templates = {name: template_for(name, templates) for name in self.databases}
        self._db_places = OwnedLocations(
            OwnedLocation(db.name, db.name, db.location)
            for db in databases
            if db.location is not None
        )
        self._table_places = OwnedLocations(
            OwnedLocation(table.db, table.name, table.location)
            for table in tables
            if table.location is not None
        )

    def of_database(self, db: DatabaseFacts) -> list[Breach]:
        """Judge a database: readable, below its owner's place, nobody else at or under it."""
        if db.location is None:
            return [Breach(Reason.DB_PATH_FAIL)]
        breaches = [
            Breach(reason, *found)
            for reason, found in [
                (Reason.HAS_OTHER_DB, self._db_places.of_others(db.location, db.name)),
                (Reason.HAS_OTHER_DB_TBL, self._table_places.of_others(db.location, db.name)),
            ]
            if found[1]
        ]
        if not self._templates[db.name].holds(db.location, db.owner):
            breaches.append(Breach(Reason.OWNER_PATH_FAIL))
        return breaches

    def of_table(self, table: TableFacts, *, spoilt: set[str]) -> list[Breach]:
        """Judge a table: below its database and its owner's place, nobody else at or under it."""
        db = self.databases.get(table.db)
        breaches = []
        if db is None or table.db in spoilt:
            breaches.append(Breach(Reason.DB_PATH_FAIL, (table.db,), 1))
        if table.location is None:
            return [*breaches, Breach(Reason.TBL_NOT_SUB_DB, (table.db,), 1)]
        if db is None or db.location is None or not _below(table.location, db.location):
            breaches.append(Breach(Reason.TBL_NOT_SUB_DB, (table.db,), 1))
        breaches += [
            Breach(reason, *found)
            for reason, found in [
                (Reason.HAS_OTHER_DB, self._db_places.of_others(table.location, table.db)),
                (Reason.HAS_OTHER_DB_TBL, self._table_places.of_others(table.location, table.db)),
                (
                    Reason.HAS_OTHER_TBL,
                    self._table_places.of_same(table.location, table.db, but=table.name),
                ),
            ]
            if found[1]
        ]
        if db is not None and not self._templates[table.db].holds(table.location, table.owner):
            breaches.append(Breach(Reason.OWNER_PATH_FAIL))
        return breaches

    def database_hint(self, db: DatabaseFacts) -> str:
        """Say what the reasons alone do not: an unreadable path, the default database's root."""
        if db.location is None:
            return _UNREADABLE
        if db.name == "default":
            return (
                "The default database is at the warehouse root, above the others. "
                "Keep tables out of it, or have HAS_OTHER_DB waived for it."
            )
        return ""

    def table_hint(self, table: TableFacts) -> str:
        """Say when no location at all could satisfy every rule, or when the path is unreadable."""
        db = self.databases.get(table.db)
        if table.location is None:
            return _UNREADABLE
        if db is None or db.owner == table.owner or not self._templates[table.db].uses_owner:
            return ""
        return (
            f"The table belongs to {table.owner or 'nobody'} but its database to "
            f"{db.owner or 'nobody'}: no location is under both, so it can never conform to all "
            "rules. Give both the same owner, or have the reason waived."
        )


def _below(location: LakePath, parent: LakePath) -> bool:
    return location != parent and location.is_at_or_under(parent)


_UNREADABLE = (
    "The location cannot be read as a path (relative, with '..', or with a control character); "
    "set it to the plain absolute path."
)
