"""Spark SQL that finds the rows of the lake's table whose values a change of a column would lose.

A value is lost where it does not fit the lake's new type, by the same cast as captured values, or
where it is longer, greater or finer than the source's new type keeps.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from pipelines.cdc.applying.domain.casts import cast_sql
from pipelines.cdc.schema.domain.classes import SchemaChange
from pipelines.cdc.schema.domain.type_changes import Class
from pipelines.cdc.schema.domain.types import ColumnType, Kind, lake_type, parse_type

_MICROS = 6
_MOST_SIGNS = 255
"""Of a float, a moment or a member of an enum: nothing is counted for texts that are longer."""
_IN_BYTES = ("tinytext", "text", "mediumtext", "longtext")


class Check(msgspec.Struct, frozen=True):
    """One column of the lake's table, and what its source's column becomes."""

    column: str
    """Of the lake."""
    lake: str
    """Its type there."""
    source: str
    """The source's column, by its name before the change."""
    old: str
    new: str
    """The source's types."""
    no_nulls: bool = False
    """Whether NULL is not allowed any more."""


def checks_of(
    changes: Iterable[SchemaChange], names: Mapping[str, str], types: Mapping[str, str]
) -> tuple[Check, ...]:
    """Return what has to be counted for a change; `names` are the lake's by the source's."""
    found: dict[str, Check] = {}
    for one in changes:
        if one.cls is Class.AUTO or one.what not in {"type", "null"}:
            continue
        if one.old is None or one.new is None:
            continue
        name = names.get(one.old.name)
        if name is None:
            continue
        check = Check(
            *(name, types[name], one.old.name, one.old.type, one.new.type),
            no_nulls=one.old.is_nullable and not one.new.is_nullable,
        )
        if lost_sql(check):
            found[name] = check
    return tuple(found.values())


def lost_sql(check: Check) -> str:
    """Return the condition of rows that are lost; empty where none can be."""
    column = f"`{check.column.replace('`', '``')}`"
    lost = " OR ".join(_lost(column, check))
    parts = [f"({column} IS NOT NULL AND ({lost}))"] if lost else []
    if check.no_nulls:
        parts.append(f"{column} IS NULL")
    return " OR ".join(parts)


def text_sql(column: str, lake: str) -> str:
    """Return the text that a value of the lake would have as a captured one."""
    match lake:
        case "string":
            return column
        case "boolean":
            return f"CASE WHEN {column} THEN '1' ELSE '0' END"
        case "timestamp":
            return f"date_format({column}, 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
        case "binary":
            return f"base64({column})"
        case "float" | "double":
            return f"lower(CAST({column} AS string))"
        case _:
            return f"CAST({column} AS string)"


def _lost(column: str, check: Check) -> Iterator[str]:
    old, new = parse_type(check.old), parse_type(check.new)
    target = lake_type(new)
    if target not in {check.lake, "string"}:
        yield f"{cast_sql(f'({text_sql(column, check.lake)})', target)} IS NULL"
    text = text_sql(column, check.lake)
    match new.kind:
        case Kind.TEXT if _may_be_longer(old, new):
            length = "octet_length" if new.name in _IN_BYTES else "char_length"
            yield f"{length}({text}) > {new.size}"
        case Kind.BINARY if old.kind is Kind.BINARY and new.size < old.size:
            yield f"octet_length({column}) > {new.size}"
        case Kind.ENUM if check.lake == "string":
            yield f"{column} NOT IN ({_listed(new)})"
        case Kind.SET if check.lake == "string":
            yield f"{column} != '' AND exists(split({column}, ','), x -> x NOT IN ({_listed(new)}))"
        case Kind.INTEGER if old.kind is Kind.INTEGER and _is_narrower(old, new):
            least, most = new.bounds
            yield f"CAST({column} AS decimal(38,0)) NOT BETWEEN {least} AND {most}"
        case Kind.DATETIME | Kind.TIMESTAMP if check.lake == "timestamp" and new.scale < old.scale:
            yield f"unix_micros({column}) % {10 ** (_MICROS - new.scale)} != 0"


def _may_be_longer(old: ColumnType, new: ColumnType) -> bool:
    """Whether the text of a value may have more signs than fit."""
    match old.kind:
        case Kind.INTEGER:
            most = max(len(str(one)) for one in old.bounds)
        case Kind.DECIMAL:
            most = old.size + len("-0.")
        case Kind.TEXT:
            most = old.size
        case _:
            most = _MOST_SIGNS
    return new.size < most


def _is_narrower(old: ColumnType, new: ColumnType) -> bool:
    return new.bounds[0] > old.bounds[0] or new.bounds[1] < old.bounds[1]


def _listed(column: ColumnType) -> str:
    return ", ".join(_literal(one) for one in column.members)


def _literal(text: str) -> str:
    """Return a text in Spark's quotes; every sign that could mean something is written as hex."""
    return f"decode(unhex('{text.encode().hex()}'), 'UTF-8')"
