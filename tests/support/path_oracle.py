"""The seven path rules read plainly, over all pairs: what the sweep must equal.

It imports nothing of the product, not even how a path is spelled: it reads the texts that a
metastore holds, name by name. Slow on purpose, and never optimised.
"""

from dataclasses import dataclass, field

Place = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True)
class Database:
    """A database as the metastore has it."""

    name: str
    owner: str
    location: str


@dataclass(frozen=True)
class Table:
    """A table or view as the metastore has it, with its partitions' names and locations."""

    db: str
    name: str
    owner: str
    location: str
    is_view: bool = False
    partitions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Lake:
    """A whole lake; `templates` are (database or *, directory with {owner}) in their order."""

    databases: tuple[Database, ...]
    tables: tuple[Table, ...]
    default_fs: str = "hdfs://ns"
    aliases: dict[str, str] = field(default_factory=dict)
    templates: tuple[tuple[str, str], ...] = (("*", "/user/{owner}"),)


Judged = set[tuple[str, str, str, str]]
"""(database, table or '', partition or '', reason)."""


def judge(lake: Lake) -> Judged:
    """Judge everything by looking at every pair."""
    found: Judged = set()
    for db in lake.databases:
        found |= {(db.name, "", "", reason) for reason in _of_database(db, lake)}
    for table in _real(lake):
        found |= {(table.db, table.name, "", reason) for reason in _of_table(table, lake, found)}
        for name, location in table.partitions:
            if not _strictly_under(_place(location, lake), _place(table.location, lake)):
                found.add((table.db, table.name, name, "PART_PATH_NOT_IN_TBL"))
    return found


def _of_database(db: Database, lake: Lake) -> set[str]:
    here = _place(db.location, lake)
    if here is None:
        return {"DB_PATH_FAIL"}
    reasons = set()
    for other in lake.databases:
        if other.name != db.name and _at_or_under(_place(other.location, lake), here):
            reasons.add("HAS_OTHER_DB")
    for table in _real(lake):
        if table.db != db.name and _at_or_under(_place(table.location, lake), here):
            reasons.add("HAS_OTHER_DB_TBL")
    if not _is_owners(db.name, db.owner, here, lake):
        reasons.add("OWNER_PATH_FAIL")
    return reasons


def _of_table(table: Table, lake: Lake, found: Judged) -> set[str]:
    reasons = set()
    spoiling = {"HAS_OTHER_DB", "OWNER_PATH_FAIL", "DB_PATH_FAIL"}
    if any(row[:3] == (table.db, "", "") and row[3] in spoiling for row in found):
        reasons.add("DB_PATH_FAIL")
    here = _place(table.location, lake)
    own = next(db for db in lake.databases if db.name == table.db)
    if not _strictly_under(here, _place(own.location, lake)):
        reasons.add("TBL_NOT_SUB_DB")
    if here is None:
        return reasons
    for db in lake.databases:
        if db.name != table.db and _at_or_under(_place(db.location, lake), here):
            reasons.add("HAS_OTHER_DB")
    for other in _real(lake):
        if other != table and _at_or_under(_place(other.location, lake), here):
            reasons.add("HAS_OTHER_TBL" if other.db == table.db else "HAS_OTHER_DB_TBL")
    if not _is_owners(table.db, table.owner, here, lake):
        reasons.add("OWNER_PATH_FAIL")
    return reasons


def _real(lake: Lake) -> list[Table]:
    return [table for table in lake.tables if not table.is_view]


def _is_owners(db: str, owner: str, here: Place, lake: Lake) -> bool:
    for pattern, directory in lake.templates:
        if pattern in ("*", db):
            if "{owner}" in directory and (not owner or "/" in owner):
                return False
            return _strictly_under(here, _place(directory.replace("{owner}", owner), lake))
    raise AssertionError("the last template is for every database")


def _place(text: str, lake: Lake) -> Place | None:
    """Read a location: (scheme, who serves it, the names down to it), or None for what is none."""
    if text.startswith("/"):
        text = lake.default_fs + text
    scheme, colon, rest = text.partition(":")
    if not colon:
        return None
    server = ""
    if rest.startswith("//"):
        server, _, rest = rest[2:].partition("/")
        rest = "/" + rest
    if not rest.startswith("/"):
        return None
    names = tuple(name for name in rest.split("/") if name != "")
    if "." in names or ".." in names:
        return None
    scheme = scheme.lower()
    server = "" if scheme == "file" else server.lower()
    return scheme, lake.aliases.get(server, server), names


def _at_or_under(one: Place | None, other: Place | None) -> bool:
    if one is None or other is None or one[:2] != other[:2]:
        return False
    return len(one[2]) >= len(other[2]) and all(
        mine == theirs for mine, theirs in zip(one[2], other[2], strict=False)
    )


def _strictly_under(one: Place | None, other: Place | None) -> bool:
    return one != other and _at_or_under(one, other)
