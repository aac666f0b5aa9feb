"""Finds the columns that a policy names in a table's schema: by field id, nested ones too.

What cannot be indexed is told with its reason and left out; the rest goes on.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.indexing.domain.wanted import AUTO, WantedIndex
from optimizer.indexes.domain.builders import unfit
from optimizer.indexes.domain.envelope import Kind
from optimizer.indexes.domain.values import ColumnType, column_type
from portal.lake.errors import RuleViolation


@dataclass(frozen=True, slots=True)
class IndexedColumn:
    """One index of one column of the table as its schema is now."""

    name: str
    kind: str
    parameter: int | None
    field_id: int
    path: tuple[str, ...]
    type: ColumnType
    iceberg_type: str
    chosen: str = ""
    """Of `auto`: the kind that the figures of the whole table speak for; empty: each file's own."""

    @property
    def to_build(self) -> str:
        """The kind that is built, as far as it is known before the file is read."""
        return self.chosen or self.kind

    @property
    def sql(self) -> str:
        """How Spark selects it."""
        return ".".join(f"`{name.replace('`', '``')}`" for name in self.path)


def find_columns(
    table: IcebergTable, wanted: Iterable[WantedIndex]
) -> tuple[list[IndexedColumn], list[RuleViolation]]:
    """Return what can be built, and why the rest cannot."""
    found: list[IndexedColumn] = []
    refused: list[RuleViolation] = []
    schema: Any = table.java.schema()
    parents = table.jvm.org.apache.iceberg.types.TypeUtil.indexParents(schema.asStruct())
    for one in wanted:
        try:
            found.append(_column(table, schema, parents, one))
        except RuleViolation as error:
            refused.append(error)
    return found, refused


def _column(table: IcebergTable, schema: Any, parents: Any, wanted: WantedIndex) -> IndexedColumn:
    field = schema.findField(wanted.column) or schema.caseInsensitiveFindField(wanted.column)
    if field is None:
        raise RuleViolation(
            "index.column_missing",
            f"{table.name} has no column {wanted.column}; take it out of index_columns.",
            column=wanted.column,
        )
    said, field_id = str(field.type()), int(field.fieldId())
    kind_of = column_type(said) if field.type().isPrimitiveType() else None
    if kind_of is None or schema.accessorForField(field_id) is None:
        raise RuleViolation(
            "index.column_type",
            f"{table.name}: {wanted.column} is {said}, of which no index can be built; name a "
            "column of numbers, times, text or bytes, outside of lists and maps.",
            column=wanted.column,
        )
    refused = None if wanted.kind == AUTO else unfit(kind_of, Kind(wanted.kind))
    if refused is not None:
        raise RuleViolation(
            "index.column_kind",
            f"{table.name}: {wanted.column} is {said} and cannot have {wanted.kind}: "
            f"{refused.detail}. Take another kind, or auto.",
            column=wanted.column,
        )
    return IndexedColumn(
        wanted.column,
        wanted.kind,
        wanted.parameter,
        field_id,
        tuple(reversed(list(_names(schema, parents, field_id)))),
        kind_of,
        said,
    )


def _names(schema: Any, parents: Any, field_id: int) -> Iterator[str]:
    """Yield the names from the column up to the top."""
    at: Any = field_id
    while at is not None:
        yield str(schema.findField(at).name())
        at = parents.get(at)
