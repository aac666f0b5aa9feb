"""Row layouts of a table: their order, their text form, and the columns that support them.

The text form stands in policies, in the summary of our own commits, and on pages:
`hilbert(a,b)`, `zorder(a,b)`, `sort(a,b)`, and '' for none.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from portal.lake.errors import RuleViolation

MOST_COLUMNS = 4

_FORM = re.compile(r"\s*(?P<kind>[A-Za-z]+)\s*\((?P<columns>[^()]*)\)\s*")
_UNORDERED = ("struct", "map", "list", "array", "binary", "fixed", "variant", "unknown")


class LayoutKind(StrEnum):
    """How rows are ordered: not at all, column after column, or along a curve over all of them."""

    NONE = "none"
    SORT = "sort"
    ZORDER = "zorder"
    HILBERT = "hilbert"


@dataclass(frozen=True, slots=True)
class Layout:
    """An order of rows; refuses to exist with columns that mean nothing."""

    kind: LayoutKind = LayoutKind.NONE
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check(self.kind, self.columns)

    def __str__(self) -> str:
        return f"{self.kind}({','.join(self.columns)})" if self else ""

    def __bool__(self) -> bool:
        return self.kind is not LayoutKind.NONE


def parse_layout(text: str) -> Layout:
    """Read the text form; '' and 'none' are no layout.

    Raises:
        RuleViolation: `layout.form`, `layout.columns`.
    """
    if text.strip().lower() in ("", LayoutKind.NONE):
        return NO_LAYOUT
    found = _FORM.fullmatch(text)
    kinds = {kind.value: kind for kind in LayoutKind if kind is not LayoutKind.NONE}
    kind = kinds.get(found["kind"].lower()) if found else None
    if found is None or kind is None:
        raise RuleViolation(
            "layout.form",
            f"The layout '{text}' cannot be read. Write hilbert(a,b), zorder(a,b) or sort(a,b) "
            "with columns of the table, or nothing for no layout.",
            layout=text,
        )
    return Layout(kind, tuple(name.strip() for name in found["columns"].split(",")))


def refuse_columns(layout: Layout, types: Mapping[str, str]) -> None:
    """Refuse columns that the table lacks or that have no order; `types` by name as Iceberg says.

    Raises:
        RuleViolation: `layout.missing`, `layout.type`.
    """
    refuse_missing(layout.columns, types)
    bad = [f"{name} ({types[name]})" for name in layout.columns if not has_order(types[name])]
    if bad:
        raise RuleViolation(
            "layout.type",
            f"The layout {layout} names {_listed(bad)}: rows cannot be ordered by a struct, map, "
            "list or binary. Take a plain column instead.",
            columns=bad,
        )


def refuse_missing(columns: Sequence[str], types: Mapping[str, str]) -> None:
    """Refuse columns that the table lacks.

    Raises:
        RuleViolation: `layout.missing`.
    """
    missing = [name for name in columns if name not in types]
    if missing:
        raise RuleViolation(
            "layout.missing",
            f"The layout names {_listed(missing)}, which the table does not have. "
            "Write the names as the table's schema has them, or take them out of the layout.",
            columns=missing,
        )


def has_order(iceberg_type: str) -> bool:
    """Whether values of a type can be put in order."""
    return not iceberg_type.strip().lower().startswith(_UNORDERED)


def _check(kind: LayoutKind, columns: tuple[str, ...]) -> None:
    if kind is LayoutKind.NONE:
        if columns:
            raise RuleViolation(
                "layout.columns", "A layout of kind none has no columns; take them away."
            )
        return
    if not columns or not all(columns):
        raise RuleViolation(
            "layout.columns", f"A layout {kind} needs a name for each of its columns."
        )
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise RuleViolation(
            "layout.columns",
            f"The layout {kind}({','.join(columns)}) names {_listed(twice)} twice; once is enough.",
            columns=twice,
        )
    if len(columns) > MOST_COLUMNS:
        raise RuleViolation(
            "layout.columns",
            f"The layout {kind}({','.join(columns)}) has {len(columns)} columns; more than "
            f"{MOST_COLUMNS} order nothing any more. Keep the {MOST_COLUMNS} that filters use "
            "most.",
            columns=list(columns),
        )


def _listed(names: list[str]) -> str:
    return ", ".join(names)


NO_LAYOUT = Layout()
