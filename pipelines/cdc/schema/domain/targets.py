"""What a table of the lake needs for an approved change of its source's schema."""

from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum

import msgspec

from pipelines.cdc.schema.domain.classes import SchemaChange
from pipelines.cdc.schema.domain.type_changes import widens_in_place
from pipelines.cdc.schema.domain.types import lake_type, parse_type


class Needs(StrEnum):
    """What is done to the table."""

    ADD = "add"
    """A column at its end, nullable."""
    WIDEN = "widen"
    """The column's type, by Hudi's schema on read; files stay as they are."""
    COPY = "copy"
    """A new column into which the old one's values are copied; a view shows it by its name."""
    REBUILD = "rebuild"
    """A new table, loaded from the source, and the old one's name for it."""


class TargetChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that the lake's table needs."""

    needs: Needs
    reason: str
    column: str = ""
    type: str = ""
    """The column's type in the lake afterwards."""
    source: str = ""
    """The column whose values it has, where that is another."""

    @property
    def is_in_place(self) -> bool:
        """Whether no row is written."""
        return self.needs in {Needs.ADD, Needs.WIDEN}


def target_changes(
    changes: Iterable[SchemaChange], *, fixed: Collection[str] = ()
) -> tuple[TargetChange, ...]:
    """Return what approved changes need of the lake's table; nothing where it stays as it is.

    `fixed` names columns that Hudi cannot alter: those of its key and of its partitions. A dropped
    column stays in the lake, and new rows have NULL there.
    """
    needed = tuple(one for change in changes for one in _needed(change, set(fixed)))
    rebuilds = tuple(one for one in needed if one.needs is Needs.REBUILD)
    return rebuilds[:1] or needed


def _needed(change: SchemaChange, fixed: set[str]) -> Iterator[TargetChange]:
    if change.what in {"key", "table"}:
        yield TargetChange(Needs.REBUILD, change.reason)
    elif change.new is None:
        return
    elif change.what == "add":
        yield TargetChange(
            Needs.ADD, "The lake does not have the column.", change.column, _lake(change.new.type)
        )
    elif change.old is not None and change.what in {"rename", "type"}:
        yield from _altered(change, change.old.name, change.old.type, change.new.type, fixed)


def _altered(
    change: SchemaChange, former: str, before: str, after: str, fixed: set[str]
) -> Iterator[TargetChange]:
    old, new = _lake(before), _lake(after)
    if change.what == "type" and old == new:
        return
    if fixed & {former, change.column}:
        yield TargetChange(
            Needs.REBUILD, f"{change.column} is of the table's key or of its partitions."
        )
    elif change.what == "rename":
        yield TargetChange(
            Needs.COPY, f"Readers of {former} go on.", change.column, new, source=former
        )
    elif widens_in_place(old, new):
        yield TargetChange(Needs.WIDEN, f"Hudi reads {old} as {new}.", change.column, new)
    else:
        yield TargetChange(
            Needs.COPY,
            f"Hudi cannot read {old} as {new} without a loss or another text.",
            change.column,
            new,
            source=former,
        )


def _lake(text: str) -> str:
    return lake_type(parse_type(text))
