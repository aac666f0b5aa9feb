"""Selects the columns for which a table needs statistics of distinct values.

Engines choose the order of joins by them. Each column is read whole, so their number is bounded:
first those by which rows are laid out or partitioned, then the others in their order.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MOST_COLUMNS = 32
# Of two values, of raw bytes and of nested values nobody asks how many differ.
_WORTH_IT = frozenset(
    {"int", "long", "float", "double", "decimal", "date", "timestamp", "timestamptz", "string"}
)
# Spark would read a path into a nested column, or all columns, out of such a name.
_UNSAFE = frozenset(".`*")


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that are read, and what is said of the others."""

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def columns_worth_it(
    types: Mapping[str, str], *, first: Sequence[str] = (), known: Iterable[str] = ()
) -> Columns:
    """Choose top-level columns by name and Iceberg type.

    `first` come before the others; `known` have statistics now and never lose them.
    """
    can_be_read = [name for name in types if not _UNSAFE & set(name)]
    kept = [name for name in known if name in can_be_read]
    worth_it = [name for name in can_be_read if _kind(types[name]) in _WORTH_IT]
    ordered = [*kept, *(name for name in first if name in worth_it), *worth_it]
    names = tuple(dict.fromkeys(ordered))
    chosen = names[: max(MOST_COLUMNS, len(set(kept)))]
    notes = []
    if len(chosen) < len(names):
        notes.append(f"{len(names) - len(chosen)} more columns were left out.")
    if unsafe := [name for name in types if _UNSAFE & set(name)]:
        notes.append(f"{len(unsafe)} columns with . ` or * in their names cannot be read for it.")
    return Columns(chosen, tuple(notes))


def _kind(iceberg_type: str) -> str:
    return iceberg_type.partition("(")[0].strip()
