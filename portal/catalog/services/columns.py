"""Registry of the columns that areas add to the list of tables; the platform names none of them.

They are read for the shown tables only, and only where somebody chose one of them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from portal.catalog.models import Table


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column: `key` is its name in addresses, CSV and API, `tab` explains its values.

    A table of which nothing is known has no value.
    """

    key: str
    title: str
    order: int
    kind: Literal["text", "count", "bytes", "ago", "day"] = "text"
    tab: str = ""
    help: str = ""


Values = Mapping[int, Mapping[str, Any]]
"""By a table's key and a column's: its value."""

ColumnReader = Callable[[str, Sequence[Table]], Values]
"""Reads the columns of tables of one lake, by as many queries for many tables as for one."""

_columns: dict[str, TableColumn] = {}
_readers: dict[ColumnReader, frozenset[str]] = {}


def register_table_columns(reader: ColumnReader, *columns: TableColumn) -> None:
    """Add columns, and what reads them; registering the same key again replaces it."""
    for column in columns:
        _columns[column.key] = column
    _readers[reader] = frozenset(column.key for column in columns)


def table_columns() -> list[TableColumn]:
    """Return every registered column, in order."""
    return sorted(_columns.values(), key=lambda column: (column.order, column.key))


def read_columns(
    lake: str, tables: Sequence[Table], keys: Collection[str]
) -> dict[int, dict[str, Any]]:
    """Return the values of the chosen columns; areas of which none is chosen are not asked."""
    found: dict[int, dict[str, Any]] = {table.pk: {} for table in tables}
    for reader, offered in _readers.items():
        if wanted := offered & set(keys):
            for key, values in reader(lake, tables).items():
                found[key].update((name, values.get(name)) for name in wanted)
    return found
