"""Tells whether a change that came is the one that a ticket announced.

What counts is what rows and the lake see: names, types, NULL, the key, and everything that a person
has to decide. Order, defaults and comments may differ, for servers write them in their own words.
"""

from collections.abc import Iterable

from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.schema.domain.classes import SchemaChange
from pipelines.cdc.schema.domain.type_changes import Class
from pipelines.cdc.schema.domain.types import ColumnType, Kind, parse_type
from portal.lake.errors import RuleViolation


def difference(
    announced: TableSchema,
    expected: Iterable[SchemaChange],
    seen: TableSchema,
    changes: Iterable[SchemaChange],
) -> str:
    """Return in words how a change differs from the announced one; empty where it does not."""
    if announced.key != seen.key:
        return f"The primary key is ({', '.join(seen.key)})."
    if strange := sorted(set(announced.names) ^ set(seen.names)):
        there = "is not" if strange[0] in announced.names else "is"
        return f"Column {strange[0]} {there} in the table."
    for column in seen.columns:
        planned = announced.column(column.name)
        if planned is not None and not _is_same(planned, column):
            null = "" if column.is_nullable else " NOT NULL"
            return f"Column {column.name} is {column.type}{null}."
    known = {(one.what, one.column) for one in expected if one.cls is not Class.AUTO}
    for one in changes:
        if one.cls is not Class.AUTO and (one.what, one.column) not in known:
            return one.reason
    return ""


def _is_same(planned: Column, seen: Column) -> bool:
    is_charset_known = bool(planned.charset and seen.charset)
    return (
        planned.is_nullable == seen.is_nullable
        and planned.is_generated == seen.is_generated
        and _type(planned) == _type(seen)
        and not (is_charset_known and planned.charset != seen.charset)
    )


def _type(column: Column) -> ColumnType | str:
    """Return the type; MariaDB has JSON as a text, and a text may be wider than it was written."""
    try:
        found = parse_type(column.type)
    except RuleViolation:
        return column.type
    return parse_type("longtext") if found.kind is Kind.JSON else found
