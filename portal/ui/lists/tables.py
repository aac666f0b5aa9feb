"""Columns of a list, how each cell is shown, and what its CSV contains.

One description serves the page and the export, so that they cannot differ.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["text", "code", "count", "bytes", "ago", "day", "state", "template"]

_RIGHT: frozenset[str] = frozenset({"count", "bytes"})


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column.

    `key` is a dotted attribute or mapping path on the row. `sort` names an entry of the list's
    `orders` (a `-sort` entry, where there is one, gives the other direction). `url` makes the cell
    a link. `template` (kind "template") is rendered with `row` and `value`. `is_wide` gives room to
    sentences, `is_number` lines a template's numbers up, `is_zero_blank` shows a dash without a
    link for 0. `export=False` keeps the column out of the CSV. `shown_from` leaves the column out
    on narrower screens; the page of the row has its value. `name` is what an address that chooses
    columns and the head of the CSV call it; the key where it has none.
    """

    key: str
    title: str
    kind: Kind = "text"
    sort: str = ""
    url: Callable[[Any], str | None] | None = None
    template: str = ""
    help: str = ""
    export: bool = True
    is_wide: bool = False
    is_number: bool = False
    is_zero_blank: bool = False
    shown_from: Literal["", "tablet", "desktop"] = ""
    name: str = ""

    @property
    def align(self) -> str:
        """The CSS classes of the column."""
        number = "lw-num" if self.is_number or self.kind in _RIGHT else ""
        shown = f"lw-shown-{self.shown_from}" if self.shown_from else ""
        return " ".join(filter(None, ("lw-words" if self.is_wide else number, shown)))


@dataclass(frozen=True)
class Cell:
    """One value with what the template needs to show it."""

    column: Column
    row: Any
    value: Any
    url: str | None


@dataclass(frozen=True)
class Table:
    """Rows and columns for `ui/_table.html`; `caption` is what a screen reader announces."""

    columns: Sequence[Column]
    rows: Sequence[Any]
    caption: str
    orders: Sequence[str] = ()
    sort: str = ""
    select: str = ""

    @property
    def body(self) -> list[tuple[Any, list[Cell]]]:
        """Each row with its cells."""
        return [(row, [_cell(column, row) for column in self.columns]) for row in self.rows]


def value_of(row: Any, key: str) -> Any:
    """Follow a dotted path through attributes, mappings and callables without arguments."""
    value = row
    for part in key.split("."):
        if value is None:
            return None
        value = value.get(part) if isinstance(value, Mapping) else getattr(value, part)
        if callable(value):
            value = value()
    return value


def exported(columns: Sequence[Column]) -> list[Column]:
    """The columns that stand in the CSV."""
    return [column for column in columns if column.export]


def _cell(column: Column, row: Any) -> Cell:
    url = column.url(row) if column.url else None
    return Cell(column, row, value_of(row, column.key) if column.key else None, url)
