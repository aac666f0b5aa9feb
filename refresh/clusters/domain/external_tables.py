"""Parses the results of SHOW RESOURCES, SHOW CREATE CATALOG and SHOW CREATE TABLE.

Rows come by column name. The DDL texts are StarRocks' own, so only their form is read here; what
cannot be read is None, and the table or catalog is then shown as not understood.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_PROPERTY = re.compile(_QUOTED + r"\s*=\s*" + _QUOTED, re.DOTALL)
_COLUMN = re.compile(r"\s*`([^`]+)`\s+(.+)\Z", re.DOTALL)
_AFTER_TYPE = re.compile(r"\s+(?:NOT\s+NULL|NULL|DEFAULT|COMMENT)\b.*", re.DOTALL | re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_URIS = "hive.metastore.uris"
_HIVE = "hive"


@dataclass(frozen=True, slots=True)
class ResourceTable:
    """A table on a resource: whose it is, which Hive table it stands for, and its own columns."""

    resource: str
    hive_db: str
    hive_table: str
    columns: tuple[tuple[str, str], ...]


def read_resources(rows: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the metastore addresses by resource, from one row per resource and property."""
    return {
        row["Name"]: row["Value"]
        for row in rows
        if row.get("ResourceType", "").lower() == _HIVE and row.get("Key") == _URIS
    }


def read_catalog(ddl: str) -> str | None:
    """Return the metastore addresses of a Hive catalog; None for a catalog of any other kind."""
    properties = read_properties(ddl)
    if properties.get("type", "").lower() != _HIVE:
        return None
    return properties.get(_URIS)


def read_resource_table(ddl: str) -> ResourceTable | None:
    """Read the DDL of a table on a Hive resource; None if it is anything else."""
    if not re.search(r"\bENGINE\s*=\s*HIVE\b", ddl, re.IGNORECASE):
        return None
    head, mark, tail = ddl.rpartition("PROPERTIES (")
    properties = read_properties(mark + tail)
    resource, db, table = (properties.get(key, "") for key in ("resource", "database", "table"))
    if not (resource and db and table):
        return None
    return ResourceTable(resource, db, table, _columns(head))


def read_properties(ddl: str) -> dict[str, str]:
    """Read the properties at the end of a DDL."""
    start = ddl.rfind("PROPERTIES")
    found = _PROPERTY.findall(ddl[start:]) if start >= 0 else []
    return {_plain(name): _plain(value) for name, value in found}


def _plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def _columns(head: str) -> tuple[tuple[str, str], ...]:
    begin = head.find("(")
    found = []
    for part in _split_columns(head[begin + 1 :]) if begin >= 0 else ():
        match = _COLUMN.match(part)
        if match:
            found.append((match[1], _AFTER_TYPE.sub("", match[2]).strip().lower()))
    return tuple(found)


def _split_columns(body: str) -> list[str]:
    """Cut at the commas that stand in no brackets and no quotes, up to the closing bracket."""
    parts, current, depth = [], "", 0
    for piece in re.findall(_QUOTED.replace("(", "(?:", 1) + r"|.", body, re.DOTALL):
        if piece in ("(", "<"):
            depth += 1
        elif piece in (")", ">"):
            depth -= 1
        if depth < 0:
            break
        if piece == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += piece
    return [*parts, current]
