"""Compares two schemas of a table, and says of each single change who decides on it, and why.

The changes come of the schemas; the statement that led from one to the other adds what they cannot
show: which column was renamed, and what happened to rows or to the table as a whole.
"""

import re
from collections.abc import Collection, Iterable, Iterator

import msgspec

from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.schema.domain.statements import Does, Statement, Step
from pipelines.cdc.schema.domain.type_changes import Class, judge_type
from pipelines.cdc.schema.domain.types import ColumnType, parse_type
from portal.lake.errors import RuleViolation

_CONSTANT = re.compile(r"(?:[bxn]?'.*'|\".*\"|[-+]?[\d.][\w.+-]*|null|true|false|)", re.DOTALL)
_WHOLE = {
    Does.TRUNCATE: "The table was truncated: its rows are gone without a row of it in the log.",
    Does.DROP_TABLE: "The table was dropped.",
    Does.CREATE_TABLE: "A new table has the name of the captured one.",
    Does.DROP_DATABASE: "The database was dropped, with the table.",
    Does.ROWS: "Rows changed by a statement: the log is not in row format, so they are not in it.",
}


class SchemaChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that changed."""

    what: str
    """`add`, `drop`, `rename`, `type`, `null`, `key`, `table` and others, for pages to group by."""
    cls: Class
    reason: str
    column: str = ""
    """By its name after the change, or before it where it is dropped."""
    old: Column | None = None
    new: Column | None = None


def worst(changes: Iterable[SchemaChange]) -> Class:
    """Return the class of a whole change: the worst of its parts; auto where nothing changed."""
    return max((one.cls for one in changes), key=lambda cls: cls.rank, default=Class.AUTO)


def classify(
    old: TableSchema,
    new: TableSchema,
    statement: Statement | None = None,
    *,
    partitioning: Collection[str] = (),
) -> tuple[SchemaChange, ...]:
    """Return what changed between two schemas of a table.

    `partitioning` names the columns by which the lake's table is partitioned.
    """
    steps = [] if statement is None else _of_table(statement.steps, old)
    renames = _renames(steps, old)
    found = [
        *_of_statement(steps, old, new),
        *_of_key(old, new, renames),
        *_of_columns(old, new, renames),
        *_recomputed(steps, old),
    ]
    special = {*old.key, *new.key, *partitioning}
    return tuple(_guarded(one, special) for one in found)


def _of_table(steps: Iterable[Step], table: TableSchema) -> list[Step]:
    def is_of(step: Step) -> bool:
        if not step.table:
            return step.db in {table.db, ""}
        return (table.db, table.table) in {
            (step.db, step.table),
            (step.new_db, step.new_name) if step.does is Does.RENAME_TABLE else None,
        }

    return [step for step in steps if is_of(step)]


def _renames(steps: Iterable[Step], old: TableSchema) -> dict[str, str]:
    """Return the new name of each column that the statement renames; letters may be of any case."""
    names = {name.casefold(): name for name in old.names}
    return {
        names.get(step.column.casefold(), step.column): step.new_name
        or (step.definition.name if step.definition else step.column)
        for step in steps
        if step.does in {Does.RENAME_COLUMN, Does.MODIFY_COLUMN}
    }


def _of_statement(
    steps: Iterable[Step], table: TableSchema, new: TableSchema
) -> Iterator[SchemaChange]:
    for step in steps:
        if step.does in _WHOLE:
            yield SchemaChange("table", Class.REFUSED, _WHOLE[step.does])
        elif step.does is Does.RENAME_TABLE:
            yield SchemaChange("table", Class.REFUSED, _of_rename(step, table))
        elif step.does is Does.DROP_COLUMN and (again := new.column(step.column)) is not None:
            reason = f"{step.column} was dropped and added again: its values are others now."
            yield SchemaChange(
                "drop", Class.PERSON, reason, step.column, table.column(step.column), again
            )
        elif step.does is Does.REMOVE_ROWS:
            yield SchemaChange(
                "rows",
                Class.PERSON,
                f"Rows went, or others came, without a row of them in the log: {step.text}",
            )
        elif step.does is Does.UNREAD:
            yield SchemaChange(
                "unread", Class.PERSON, f"The statement could not be read: {step.text}"
            )


def _of_rename(step: Step, table: TableSchema) -> str:
    if (step.db, step.table) == (table.db, table.table):
        return f"The table was renamed to {step.new_db}.{step.new_name}."
    return (
        f"{step.db}.{step.table} has the table's name now, as after gh-ost or"
        " pt-online-schema-change."
    )


def _of_key(old: TableSchema, new: TableSchema, renames: dict[str, str]) -> Iterator[SchemaChange]:
    if old.key == new.key:
        return
    if tuple(renames.get(name, name) for name in old.key) == new.key:
        yield SchemaChange(
            "key", Class.PERSON, "A column of the primary key was renamed: records have its name."
        )
        return
    now = f"({', '.join(new.key)})" if new.key else "none"
    yield SchemaChange(
        "key",
        Class.REFUSED,
        f"The primary key was ({', '.join(old.key)}) and is {now}: rows would be others.",
    )


def _of_columns(
    old: TableSchema, new: TableSchema, renames: dict[str, str]
) -> Iterator[SchemaChange]:
    gone = {
        one.name: one for one in old.columns if new.column(renames.get(one.name, one.name)) is None
    }
    former = {renames.get(one.name, one.name): one for one in old.columns if one.name not in gone}
    came = {one.name: one for one in new.columns if one.name not in former}
    for before, after in _look_renamed(old, new, gone, came):
        del gone[before.name], came[after.name]
        yield SchemaChange(
            "rename",
            Class.PERSON,
            f"{before.name} went and {after.name} came at its place with the same type:"
            " say whether it was renamed.",
            after.name,
            before,
            after,
        )
    for column in gone.values():
        yield SchemaChange(
            "drop",
            Class.PERSON,
            f"{column.name} was dropped: the lake keeps the column, and new rows have NULL there.",
            column.name,
            column,
        )
    for column in came.values():
        yield _added(column)
    for name, before in former.items():
        yield from (
            change
            for after in new.columns
            if after.name == name
            for change in _modified(before, after)
        )
    if _moved(old, new, renames):
        yield SchemaChange("order", Class.AUTO, "Columns are in another order; values have names.")


def _look_renamed(
    old: TableSchema, new: TableSchema, gone: dict[str, Column], came: dict[str, Column]
) -> list[tuple[Column, Column]]:
    """Return the pairs of which one went and the other came at its place, with its type."""

    def before(table: TableSchema, name: str) -> str:
        at = table.names.index(name)
        return table.names[at - 1] if at else ""

    def is_same_place(one: str, other: str) -> bool:
        return old.names.index(one) == new.names.index(other) or before(old, one) == before(
            new, other
        )

    pairs: list[tuple[Column, Column]] = []
    taken: set[str] = set()
    for one in gone.values():
        for other in came.values():
            if (
                other.name not in taken
                and _type(one) == _type(other)
                and is_same_place(one.name, other.name)
            ):
                taken.add(other.name)
                pairs.append((one, other))
                break
    return pairs


def _added(column: Column) -> SchemaChange:
    cls, reason = (
        Class.AUTO,
        f"{column.name} was added; its values stay aside until it is released.",
    )
    if column.is_generated:
        cls, reason = (
            Class.PERSON,
            f"{column.name} is computed: rows that were there have values that the log lacks.",
        )
    elif column.default is None and not column.is_nullable:
        cls, reason = (
            Class.PERSON,
            f"{column.name} was added NOT NULL without a default: rows that were there have a value"
            " that only the source knows.",
        )
    elif not _is_constant(column.default):
        cls, reason = (
            Class.PERSON,
            f"The default of {column.name} is computed: rows that were there have values that the"
            " log lacks.",
        )
    return SchemaChange("add", cls, reason, column.name, None, column)


def _modified(old: Column, new: Column) -> Iterator[SchemaChange]:
    for what, cls, reason in (*_of_values(old, new), *_of_attributes(old, new)):
        yield SchemaChange(what, cls, reason, new.name, old, new)


def _of_values(old: Column, new: Column) -> Iterator[tuple[str, Class, str]]:
    if old.name != new.name:
        yield "rename", Class.PERSON, f"{old.name} was renamed to {new.name}: readers use its name."
    before, after = _type(old), _type(new)
    if isinstance(after, str):
        yield "type", Class.REFUSED, after
    elif isinstance(before, ColumnType) and before != after:
        yield "type", *judge_type(before, after)
    if old.charset and new.charset and old.charset != new.charset:
        reason = f"The charset was {old.charset} and is {new.charset}: letters may be lost."
        yield "charset", Class.PERSON, reason
    if old.is_nullable and not new.is_nullable:
        reason = "The column is NOT NULL now: NULL may have become another value at the source."
        yield "null", Class.PERSON, reason
    if new.is_generated and not old.is_generated:
        reason = "The column is computed now: the source recomputed its rows."
        yield "generated", Class.PERSON, reason


def _of_attributes(old: Column, new: Column) -> Iterator[tuple[str, Class, str]]:
    if new.is_nullable and not old.is_nullable:
        yield "null", Class.AUTO, "The column may be NULL."
    if old.is_generated and not new.is_generated:
        yield "generated", Class.AUTO, "The column is no longer computed."
    if old.is_invisible != new.is_invisible:
        yield "visible", Class.AUTO, "Visibility changed; the log has every column."
    if old.default != new.default:
        yield "default", Class.AUTO, "The default of new rows changed."
    if old.comment != new.comment:
        yield "comment", Class.AUTO, "The comment changed."


def _recomputed(steps: Iterable[Step], old: TableSchema) -> Iterator[SchemaChange]:
    """A schema has no expressions: a generated column that a statement names may be another."""
    for step in steps:
        column = old.column(step.column)
        if (
            step.does is Does.MODIFY_COLUMN
            and step.definition is not None
            and step.definition.is_generated
            and column is not None
            and column.is_generated
        ):
            yield SchemaChange(
                "generated",
                Class.PERSON,
                f"{step.column} may be computed in another way: the source recomputed its rows.",
                step.definition.name,
                column,
                step.definition,
            )


def _moved(old: TableSchema, new: TableSchema, renames: dict[str, str]) -> bool:
    kept = [renames.get(name, name) for name in old.names]
    common = set(kept) & set(new.names)
    return [name for name in kept if name in common] != [
        name for name in new.names if name in common
    ]


def _guarded(change: SchemaChange, special: set[str]) -> SchemaChange:
    """Raise what touches a column of the key or of the target's partitions to a person's."""
    names = {change.column, change.old.name if change.old else ""}
    if change.cls is not Class.AUTO or not names & special or change.what in _HARMLESS:
        return change
    return msgspec.structs.replace(
        change,
        cls=Class.PERSON,
        reason=f"{change.reason} The column is of the key, or of the lake's partitions.",
    )


_HARMLESS = {"comment", "order"}


def _type(column: Column) -> ColumnType | str:
    """Return the parsed type, or why there is none."""
    try:
        return parse_type(column.type)
    except RuleViolation as error:
        return error.message


def _is_constant(default: str | None) -> bool:
    return default is None or _CONSTANT.fullmatch(default.strip().lower()) is not None
