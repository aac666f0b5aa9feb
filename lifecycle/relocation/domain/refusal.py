"""Decides whether a move may be planned under present conditions, and words the refusals.

`moves.py` says where a thing would have to lie; here stand the facts of the day, and the
sentence for every reason of both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.drop.domain.refusal import Name, Names
from lifecycle.relocation.domain.moves import Immovable


class NotNow(StrEnum):
    """Why a move that would help is not planned now."""

    NOT_ACT_MODE = "NOT_ACT_MODE"
    HELD = "HELD"
    TOUCHED = "TOUCHED"
    IN_OTHER_PLAN = "IN_OTHER_PLAN"
    CHANGED = "CHANGED"
    UNREADY = "UNREADY"
    TOO_MANY_PARTITIONS = "TOO_MANY_PARTITIONS"
    MISSING_DIRECTORY = "MISSING_DIRECTORY"
    BEING_WRITTEN = "BEING_WRITTEN"
    TARGET_EXISTS = "TARGET_EXISTS"
    TARGET_PARENT = "TARGET_PARENT"
    NO_BACKUP_ROOT = "NO_BACKUP_ROOT"
    OTHER_BACKUP_ROOT = "OTHER_BACKUP_ROOT"


WORDS: dict[str, str] = {
    Immovable.DATABASE: "A database is not moved by a plan: change its location or owner yourself.",
    Immovable.UNREADABLE: "Its location, or its place after the rules, cannot be read as a path.",
    Immovable.UNSUPPORTED: "A format that must be left alone.",
    Immovable.DATABASE_PLACE: "Its database itself is in a wrong place; put that right first.",
    Immovable.OWNERS_DIFFER: "Its owner is not its database's owner, so no place conforms: give "
    "both one owner, or have the rule waived.",
    Immovable.TABLE_PLACE: "Its table breaks the rules itself; put that right first.",
    Immovable.SHARED_LOCATION: "Another database, table or partition has its data there or below.",
    Immovable.NESTED: "Its old and its new place are in one another; move it by hand.",
    Immovable.TARGET_TAKEN: "Something else is registered at its new place, or below it.",
    Immovable.TARGET_INSIDE: "Its new place is in a directory of something else.",
    Immovable.OTHER_FILE_SYSTEM: "Its new place is on another file system; nothing is copied.",
    Immovable.PARTITIONS_FIRST: "Partitions leave its directory first; ask again afterwards.",
    NotNow.NOT_ACT_MODE: "The database is not in Enforce mode.",
    NotNow.HELD: "On hold: a restore hold or a legal hold keeps it.",
    NotNow.TOUCHED: "The table was changed since the scan; the next scan judges it again.",
    NotNow.IN_OTHER_PLAN: "It is in another plan that waits or runs.",
    NotNow.CHANGED: "It is not registered as the scan saw it; the next scan judges it again.",
    NotNow.UNREADY: "Not ready: its commit flag is false.",
    NotNow.TOO_MANY_PARTITIONS: "It has more partitions than are moved at once; readers would "
    "wait too long.",
    NotNow.MISSING_DIRECTORY: "Its directory is gone; there is nothing to move.",
    NotNow.BEING_WRITTEN: "A job is writing to it.",
    NotNow.TARGET_EXISTS: "Something is at its new place already; it is never replaced.",
    NotNow.TARGET_PARENT: "The directory of its database is missing.",
    NotNow.NO_BACKUP_ROOT: "No backup root is on its file system.",
    NotNow.OTHER_BACKUP_ROOT: "Its file system has another backup root; plan it by itself.",
}


@dataclass(frozen=True, slots=True)
class Today:
    """What is true when a relocation plan is created."""

    modes: Mapping[str, DatabaseMode]
    holds: Names = field(default_factory=Names)
    altered: Names = field(default_factory=Names)
    """Tables that were themselves made, changed or dropped since the scan."""
    in_other_plans: Names = field(default_factory=Names)


def not_now(name: Name, today: Today) -> NotNow | None:
    """Say why something is not moved today, as far as its name tells."""
    if today.modes.get(name.db, DatabaseMode.OBSERVE) is not DatabaseMode.ACT:
        return NotNow.NOT_ACT_MODE
    if today.holds.hold(name):
        return NotNow.HELD
    if today.altered.cover(name):
        return NotNow.TOUCHED
    return NotNow.IN_OTHER_PLAN if today.in_other_plans.cover(name) else None
