"""How far a table was read: a commit of one table, and what a target says of its sources."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec


class Position(msgspec.Struct, frozen=True, omit_defaults=True):
    """A commit up to which a table was read."""

    table: str
    """What identifies the table, whatever its name: Iceberg's uuid, the location of Hudi's."""
    commit: str = ""
    """Snapshot of Iceberg or instant of Hudi; empty: the table has none yet."""


Positions = Mapping[str, Position]
"""Positions of the sources of one target, by name."""


class Kind(StrEnum):
    """What the commits between two positions mean for somebody who has read up to the first."""

    NOTHING = "nothing"
    CHANGES = "changes"
    FULL = "full"


class Meaning(msgspec.Struct, frozen=True):
    """What they mean, and why only a full read is right."""

    kind: Kind
    reason: str = ""
    n_commits: int = 0
    """How many of them changed rows."""


NOTHING = Meaning(Kind.NOTHING)


def full(reason: str) -> Meaning:
    """Return that everything has to be read."""
    return Meaning(Kind.FULL, reason)


def same_table(after: Position, upto: Position) -> Meaning | None:
    """Return what two positions mean if it needs no look at commits; None: it does."""
    if after.table != upto.table:
        return full("Another table has the name now.")
    if after.commit == upto.commit:
        return NOTHING
    if not after.commit:
        return full("The table had no commit when it was read last.")
    if not upto.commit:
        return full(f"Commit {after.commit} was read, and the table has no commit any more.")
    return None


def as_text(positions: Positions) -> str:
    """Return positions as a commit's metadata holds them."""
    return msgspec.json.encode(dict(sorted(positions.items()))).decode()


def from_text(text: Any) -> dict[str, Position]:
    """Read what a commit's metadata holds."""
    return msgspec.json.decode(str(text), type=dict[str, Position])
