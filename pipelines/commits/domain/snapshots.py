"""What the snapshots of an Iceberg table mean for a reader of changes."""

from collections.abc import Sequence

import msgspec

from pipelines.commits.domain.positions import (
    NOTHING,
    Kind,
    Meaning,
    Position,
    full,
    same_table,
)

SAME_ROWS = "replace"


class Snapshot(msgspec.Struct, frozen=True):
    """One snapshot; `operation` as Iceberg names it."""

    number: str
    operation: str


def changed(line: Sequence[Snapshot], after: Position, upto: Position) -> Meaning:
    """Return what the snapshots after one position up to another mean.

    `line` is `upto` and its ancestors, newest first, as far as they are kept.
    """
    known = same_table(after, upto)
    if known is not None:
        return known
    numbers = [one.number for one in line]
    if after.commit not in numbers:
        return full(
            f"Snapshot {after.commit} is no ancestor of {upto.commit}: it expired, or was rolled "
            "back."
        )
    between = line[: numbers.index(after.commit)]
    rows = [one for one in between if one.operation != SAME_ROWS]
    return Meaning(Kind.CHANGES, n_commits=len(rows)) if rows else NOTHING
