"""Applies a statement to the schema of a table, as the server does.

So a statement that has not run yet can be compared with the schema that holds, and one of the log
with the schema of its moment, however far the source is ahead.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.schema.domain.statements import Does, Statement, Step
from pipelines.cdc.schema.domain.types import Kind, parse_type
from portal.lake.errors import RuleViolation

_OF_COLUMNS = {Does.MODIFY_COLUMN, Does.RENAME_COLUMN, Does.SET_DEFAULT, Does.SET_VISIBLE}
_WITH_CHARSET = {Kind.TEXT, Kind.ENUM, Kind.SET}


def evolved(
    schema: TableSchema, statement: Statement, *, version: int, is_mariadb: bool = False
) -> TableSchema:
    """Return the schema after a statement; the same one where it changes no column and no key.

    MariaDB has JSON as `longtext`. A wider charset may make a `text` a `mediumtext` at the server,
    which makes no difference to the lake and is not followed here.

    Raises:
        RuleViolation: `cdc.ddl`, where the statement was not read wholly, or names what the schema
            does not have.
    """
    steps = [one for one in statement.steps if (one.db, one.table) == (schema.db, schema.table)]
    for step in steps:
        if step.does is Does.UNREAD:
            raise _refused(schema, f"a part of it could not be read: {step.text}")
    columns = _columns(schema, steps)
    key = _key(schema, steps, columns)
    columns = [replace(one, is_nullable=one.is_nullable and one.name not in key) for one in columns]
    if is_mariadb:
        columns = [replace(one, type="longtext") if one.type == "json" else one for one in columns]
    if (tuple(columns), key) == (schema.columns, schema.key):
        return schema
    return replace(
        schema,
        number=schema.number + 1,
        version=version,
        columns=tuple(columns),
        key=key,
        ddl=statement.text,
    )


def _columns(schema: TableSchema, steps: Sequence[Step]) -> list[Column]:
    """Old columns are dropped, altered and renamed first; then new ones come, and places count."""
    columns = _kept(schema, steps)
    before = {name.casefold() for name in schema.names}
    for step in steps:
        name = step.definition.name.casefold() if step.definition else ""
        if step.does is Does.ADD_COLUMN and step.definition is not None:
            if step.is_optional and name in before:
                continue
            columns.append(step.definition)
        if step.place is not None:
            _put(schema, columns, name, step.place)
    for step in steps:
        if step.does is Does.CHARSET:
            columns = [_charset(one, step.value or "") for one in columns]
    return columns


def _kept(schema: TableSchema, steps: Sequence[Step]) -> list[Column]:
    """Return the old columns as they are afterwards, at their places."""
    names = {name.casefold() for name in schema.names}
    dropped: set[str] = set()
    altered: dict[str, list[Step]] = {}
    for step in steps:
        if step.does is not Does.DROP_COLUMN and step.does not in _OF_COLUMNS:
            continue
        name = step.column.casefold()
        if name not in names and not step.is_optional:
            raise _refused(schema, f"the table has no column {step.column}")
        if step.does is Does.DROP_COLUMN:
            dropped.add(name)
        else:
            altered.setdefault(name, []).append(step)
    return [
        _altered(old, altered.get(old.name.casefold(), []))
        for old in schema.columns
        if old.name.casefold() not in dropped
    ]


def _altered(old: Column, steps: Sequence[Step]) -> Column:
    column = old
    for step in steps:
        if step.does is Does.RENAME_COLUMN:
            column = replace(column, name=step.new_name)
        elif step.does is Does.SET_DEFAULT:
            column = replace(column, default=step.value)
        elif step.does is Does.SET_VISIBLE:
            column = replace(column, is_invisible=step.value == "0")
        elif step.definition is not None:
            column = step.definition
            if not column.charset and parse_type(column.type).kind in _WITH_CHARSET:
                column = replace(column, charset=old.charset)
    return column


def _put(schema: TableSchema, columns: list[Column], name: str, place: str) -> None:
    names = [one.name.casefold() for one in columns]
    if name not in names:  # an optional column that is not there
        return
    column = columns.pop(names.index(name))
    names.remove(name)
    if place and place.casefold() not in names:
        raise _refused(schema, f"the table has no column {place}")
    columns.insert(names.index(place.casefold()) + 1 if place else 0, column)


def _key(schema: TableSchema, steps: Sequence[Step], columns: Sequence[Column]) -> tuple[str, ...]:
    """A dropped column goes from the key, and a renamed one keeps its place in it."""
    renames: dict[str, str] = {}
    for step in steps:
        if step.does is Does.RENAME_COLUMN:
            renames[step.column.casefold()] = step.new_name
        elif step.does is Does.MODIFY_COLUMN and step.definition is not None:
            renames[step.column.casefold()] = step.definition.name
    key = tuple(renames.get(name.casefold(), name) for name in schema.key)
    for step in steps:
        if step.does is Does.PRIMARY_KEY:
            key = step.key
    names = {one.name.casefold(): one.name for one in columns}
    return tuple(names[name.casefold()] for name in key if name.casefold() in names)


def _charset(column: Column, charset: str) -> Column:
    is_text = parse_type(column.type).kind in _WITH_CHARSET
    return replace(column, charset=charset) if is_text and charset != "default" else column


def _refused(schema: TableSchema, reason: str) -> RuleViolation:
    return RuleViolation(
        "cdc.ddl", f"The schema of {schema.db}.{schema.table} cannot follow a statement: {reason}."
    )
