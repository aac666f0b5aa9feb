"""Compares what the portal says of a lake with what must be said: API, CSV, tiles and Home.

Every number is worked out once more from the items' truths and the metastore's own structures, for
each person by what that person may see. Nothing of the product counts here.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from bench.judge_lake import NOW, SOON, Key
from bench.judge_portal import Reader, Session, numbers_in

DUE = ("CLEAN_NOW", "SOON", "STILL_READ")
FALLS_DUE = (*DUE, "NOT_NOW")
CLASSES = (
    *FALLS_DUE,
    *("HELD", "NOT_ENROLLED", "UNSUPPORTED", "NONCONFORMING", "UNREADY", "KEEP_FOREVER"),
    *("MISSING_DIRECTORY", "UNKNOWN"),
)
UNITS = ("B", "KiB", "MiB", "GiB")


@dataclass
class LoginTally:
    """What was compared and what differs, surface by surface."""

    compared: Counter[str] = field(default_factory=Counter)
    said: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def same(self, surface: str, what: str, found: object, wanted: object) -> None:
        """Compare one fact."""
        self.compared[surface] += 1
        if found != wanted:
            self.said[surface].append(f"{what} is {found!r}, must be {wanted!r}")

    def rows(
        self, surface: str, what: str, found: Iterable[object], wanted: Iterable[object]
    ) -> None:
        """Compare which rows there are; one that stands twice is a difference."""
        there, must = Counter(list(found)), Counter(list(wanted))
        for one in sorted({*there, *must}, key=str):
            self.same(surface, f"{what}: rows of {one}", there[one], must[one])


@dataclass(frozen=True)
class Truth:
    """What must be said of a partition, or of a table without partitions."""

    cls: str
    due_on: date | None
    n_files: int | None
    n_bytes: int | None


@dataclass(frozen=True)
class Table:
    """A table, its policy as people wrote it, the rules it breaks, and its items by name."""

    db: str
    name: str
    owner: str
    db_owner: str
    level: int | None
    ttl: int | None
    reasons: tuple[str, ...]
    items: Mapping[str, Truth]

    def n(self, cls: str) -> int:
        """Count the items of a class."""
        return sum(one.cls == cls for one in self.items.values())

    def n_bytes(self, cls: str) -> int:
        """Sum the bytes of a class; for classes whose items are all measured."""
        return sum(one.n_bytes or 0 for one in self.items.values() if one.cls == cls)


@dataclass(frozen=True)
class World:
    """The whole lake as it must be told."""

    tables: tuple[Table, ...]
    owners: Mapping[str, str]
    modes: Mapping[str, str]
    reasons: frozenset[tuple[str, str, str, str]]

    def of(self, reader: Reader) -> "World":
        """Return the part of it that a person may see."""
        tables = tuple(one for one in self.tables if reader.sees(one.db, one.owner, one.db_owner))
        names = {(one.db, one.name) for one in tables}
        owners = {db: owner for db, owner in self.owners.items() if reader.sees(db, owner)}
        shown = frozenset(
            row for row in self.reasons if (row[:2] in names if row[1] else row[0] in owners)
        )
        return World(tables, owners, self.modes, shown)

    def mode(self, db: str) -> str:
        """Return how far a database is trusted."""
        return self.modes.get(db, "OBSERVE")

    def paths(self) -> dict[Key, set[str]]:
        """Return the rules that each path breaks."""
        found: dict[Key, set[str]] = {}
        for db, table, part, reason in self.reasons:
            found.setdefault((db, table, part), set()).add(reason)
        return found

    def total(self, cls: str) -> tuple[int, int]:
        """Return items and bytes of a class."""
        return sum(one.n(cls) for one in self.tables), sum(one.n_bytes(cls) for one in self.tables)


def compare_portal(session: Session, reader: Reader, world: World, tally: LoginTally) -> None:
    """Compare everything that one person is told."""
    mine = world.of(reader)
    _tables(session, mine, tally)
    _items(session, mine, tally)
    _paths(session, mine, tally)
    _databases(session, mine, tally)
    _needs_answer(session, reader, mine, tally)
    _tiles(session, reader, mine, tally)
    if reader.is_keeper:
        _picture(session, mine, tally)


def _tables(session: Session, world: World, tally: LoginTally) -> None:
    api, lines = session.listed("tables/"), session.csv("expiring/")
    for surface, rows in (("api tables", api), ("csv tables", lines)):
        names = [(one.db, one.name) for one in world.tables]
        tally.rows(surface, "tables", [(row["db"], row["table"]) for row in rows], names)
        by_name = {(row["db"], row["table"]): row for row in rows}
        for table in world.tables:
            if (table.db, table.name) in by_name:
                _table(surface, by_name[table.db, table.name], table, world, tally)
    for show in CLASSES:
        wanted = [(one.db, one.name) for one in world.tables if one.n(show)]
        for surface, rows in (
            ("api tables", session.listed("tables/", show=show)),
            ("csv tables", session.csv("expiring/", show=show)),
        ):
            tally.rows(surface, show, [(row["db"], row["table"]) for row in rows], wanted)
    week = [(one.db, one.name) for one in world.tables if any(one.n(cls) for cls in DUE)]
    rows = session.listed("tables/", show="week")
    tally.rows("api tables", "week", [(row["db"], row["table"]) for row in rows], week)


def _table(surface: str, row: Any, table: Table, world: World, tally: LoginTally) -> None:
    name, is_csv = f"{table.db}.{table.name}", surface.startswith("csv")

    def same(key: str, wanted: object) -> None:
        said = row[key]
        tally.same(surface, f"{name} {key}", said, _cell(wanted) if is_csv else wanted)

    same("owner", table.owner)
    same("db_owner", table.db_owner)
    same("level", table.level)
    same("ttl", table.ttl)
    same("mode_now" if is_csv else "mode", world.mode(table.db))
    same("n_partitions", sum(bool(one) for one in table.items))
    for cls in CLASSES:
        same(f"n_{cls.lower()}", table.n(cls))
    reasons = row["reasons"].split("; ") if is_csv and row["reasons"] else row["reasons"] or []
    tally.same(surface, f"{name} reasons", sorted(reasons), sorted(table.reasons))
    for cls in DUE:
        if is_csv:
            same(f"bytes_{cls.lower()}", table.n_bytes(cls))
        elif table.n(cls):
            said = row["class_bytes"].get(cls)
            tally.same(surface, f"{name} bytes of {cls}", said, table.n_bytes(cls))
    tally.same(surface, f"{name} next_due_on", *_first_due(row["next_due_on"], table))


def _first_due(said: str | None, table: Table) -> tuple[date | None, date | None]:
    """Return the first due day as said and as it must be.

    Where nothing is due or due soon, a day that is known to be early is right too: `_due_day`.
    """
    found = date.fromisoformat(said) if said else None
    days = [one.due_on for one in table.items.values() if one.cls in FALLS_DUE and one.due_on]
    first = min(days, default=None)
    is_near = any(one.cls in DUE for one in table.items.values())
    return found, first if is_near or first is None else _due_day(found, first)


def _due_day(said: date | None, wanted: date) -> date:
    """Return the day that must stand for an item that is not due yet.

    The scan stops looking at an item as soon as one clock says "not now", so its day is the
    earliest then: not before the notice days, and never after the true one.
    """
    earliest = NOW.date() + timedelta(days=SOON)
    return said if said is not None and earliest <= said <= wanted else wanted


def _items(session: Session, world: World, tally: LoginTally) -> None:
    for table in world.tables:
        place = f"tables/{table.db}/{table.name}/"
        for surface, rows in (
            ("api items", session.listed(f"{place}items/")),
            ("csv items", session.csv(place)),
        ):
            what = f"{table.db}.{table.name}"
            tally.rows(surface, what, [row["partition"] for row in rows], table.items)
            for row in rows:
                if row["partition"] in table.items:
                    item = table.items[row["partition"]]
                    _item(surface, f"{what}/{row['partition']}", row, item, tally)


def _item(surface: str, name: str, row: Any, item: Truth, tally: LoginTally) -> None:
    is_csv = surface.startswith("csv")
    tally.same(surface, f"{name} cls", row["cls"], item.cls)
    if item.due_on is None or item.cls not in FALLS_DUE:
        return
    said = date.fromisoformat(row["due_on"]) if row["due_on"] else None
    is_measured = row["n_files"] not in ("", None)
    if item.cls == "NOT_NOW" and not is_measured:
        tally.same(surface, f"{name} due_on", said, _due_day(said, item.due_on))
        return
    tally.same(surface, f"{name} due_on", said, item.due_on)
    for key, wanted in (("n_files", item.n_files), ("n_bytes", item.n_bytes)):
        tally.same(surface, f"{name} {key}", row[key], _cell(wanted) if is_csv else wanted)


def _paths(session: Session, world: World, tally: LoginTally) -> None:
    broken = world.paths()
    for surface, rows in (
        ("api paths", session.listed("paths/")),
        ("csv paths", session.csv("paths/")),
    ):
        keys = [(row["db"], row["table"], row["partition"]) for row in rows]
        tally.rows(surface, "paths", keys, broken)
        for key, row in zip(keys, rows, strict=True):
            said = row["reasons"]
            reasons = set(said.split("; ") if isinstance(said, str) else said)
            tally.same(surface, f"{key} reasons", reasons, broken.get(key))
    for reason, n in Counter(row[3] for row in world.reasons).items():
        found = len(session.listed("paths/", reason=reason))
        tally.same("api paths", f"paths that break {reason}", found, n)


def _databases(session: Session, world: World, tally: LoginTally) -> None:
    for surface, rows in (
        ("api databases", session.listed("databases/")),
        ("csv databases", session.csv("databases/")),
    ):
        is_csv = surface.startswith("csv")
        tally.rows(surface, "databases", [row["db"] for row in rows], world.owners)
        for row in rows:
            db = row["db"]
            tables = [one for one in world.tables if one.db == db]
            below = {key for key in world.paths() if key[0] == db and key[1]}
            wanted = {
                "owner": world.owners.get(db),
                "mode_now" if is_csv else "mode": world.mode(db),
                "n_tables": len(tables),
                "n_partitions": sum(bool(part) for one in tables for part in one.items),
                **{f"n_{c.lower()}": sum(t.n(c) for t in tables) for c in DUE[:2]},
                **{f"bytes_{c.lower()}": sum(t.n_bytes(c) for t in tables) for c in DUE[:2]},
                **({"n_paths_below": len(below)} if is_csv else {}),
            }
            for key, value in wanted.items():
                tally.same(surface, f"{db} {key}", row[key], _cell(value) if is_csv else value)


def _needs_answer(session: Session, reader: Reader, world: World, tally: LoginTally) -> None:
    said = session.get("/api/v1/lifecycle/needs-answer/").json()
    for part, is_told in (("waiting", True), ("observed", False)):
        tables = [one for one in world.tables if (world.mode(one.db) != "OBSERVE") is is_told]
        for cls in DUE:
            wanted = sum(one.n(cls) for one in tables)
            what = f"{reader.name} {part} {cls}"
            tally.same("api needs-answer", what, said[part][f"n_{cls.lower()}"], wanted)
        n_bytes = sum(one.n_bytes(cls) for one in tables for cls in DUE)
        tally.same(
            "api needs-answer", f"{reader.name} {part} bytes", said[part]["n_bytes"], n_bytes
        )


def _tiles(session: Session, reader: Reader, world: World, tally: LoginTally) -> None:
    home, page = session.tiles("/"), session.tiles("/lifecycle/expiring/")
    n_paths = len(world.paths())
    _number(tally, "home", f"{reader.name} paths", home.get("Path rule violations"), n_paths)
    for cls, label in (("CLEAN_NOW", "Due"), ("SOON", "Due soon")):
        n, n_bytes = world.total(cls)
        value, note = home.get(label, ("", ""))
        tally.same("home", f"{reader.name} {label}: items", next(numbers_in(note), None), n)
        tally.same("home", f"{reader.name} {label}: bytes", value, _about(value, n_bytes))
        value, note = page.get(label, ("", ""))
        tally.same("tiles", f"{reader.name} {label}: items", next(numbers_in(note), None), n)
        tally.same("tiles", f"{reader.name} {label}: bytes", value, str(n_bytes))
    n_read, _ = world.total("STILL_READ")
    _number(tally, "tiles", f"{reader.name} read", page.get("Due, but recently read"), n_read)
    told = [one for one in world.tables if world.mode(one.db) != "OBSERVE"]
    n_waiting = sum(one.n(cls) for one in told for cls in DUE)
    if not reader.is_keeper:
        card = home.get("Your expiring data needs an answer", ("0", ""))
        _number(tally, "home", f"{reader.name} waits", card, n_waiting)
    paths = session.tiles("/lifecycle/paths/")
    for reason, n in Counter(row[3] for row in world.reasons).items():
        _number(tally, "tiles", f"{reader.name} {reason}", paths.get(reason), n)


def _number(
    tally: LoginTally, surface: str, what: str, tile: tuple[str, str] | None, wanted: int
) -> None:
    said = None if tile is None else next(numbers_in(tile[0]), None)
    tally.same(surface, what, said, wanted)


def _picture(session: Session, world: World, tally: LoginTally) -> None:
    totals = session.get("/api/v1/lifecycle/picture/").json()["totals"]
    for cls in CLASSES:
        said = totals["classes"].get(cls, {})
        n, n_bytes = world.total(cls)
        tally.same("api picture", f"{cls} items", said.get("n", 0), n)
        if cls in DUE:
            tally.same("api picture", f"{cls} bytes", said.get("bytes", 0), n_bytes)
    tally.same("api picture", "tables", totals["n_tables"], len(world.tables))
    tally.same("api picture", "databases", totals["n_databases"], len(world.owners))
    n_parts = sum(bool(part) for one in world.tables for part in one.items)
    tally.same("api picture", "partitions", totals["n_partitions"], n_parts)
    counts = Counter(row[3] for row in world.reasons)
    said = {name: n for name, n in totals["reasons"].items() if n}
    tally.same("api picture", "reasons", said, dict(counts))


def _about(text: str, n_bytes: int) -> str:
    """Return the text back where it spells so many bytes, rounded as it is; else the bytes."""
    number, _, unit = text.partition(" ")
    try:
        step = 1024 ** UNITS.index(unit)
        digits = len(number.partition(".")[2])
        is_near = abs(float(number) * step - n_bytes) <= step / 10**digits / 2
    except ValueError:
        is_near = False
    return text if is_near else f"{n_bytes} B"


def _cell(value: object) -> str:
    return "" if value is None else str(value)
