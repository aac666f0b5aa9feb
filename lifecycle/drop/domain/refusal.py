"""Decides why an item may not enter a drop plan.

The scan's class is only the start: a plan is created later, so holds, modes and notices are judged
again with what is known now. Shared locations are found by `portal.lake.places`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.drop.domain.plan import Coverage, PlanItem, is_announced
from lifecycle.expiry.domain.rule import ExpiryClass


class LeftOut(StrEnum):
    """Why an item of the chosen tables stays where it is."""

    NOT_DUE = "NOT_DUE"
    SOON = "SOON"
    STILL_READ = "STILL_READ"
    HELD = "HELD"
    NOT_ENROLLED = "NOT_ENROLLED"
    UNSUPPORTED = "UNSUPPORTED"
    NONCONFORMING = "NONCONFORMING"
    WAIVER_OVER = "WAIVER_OVER"
    UNREADY = "UNREADY"
    KEEP_FOREVER = "KEEP_FOREVER"
    MISSING_DIRECTORY = "MISSING_DIRECTORY"
    UNKNOWN = "UNKNOWN"
    NOT_ACT_MODE = "NOT_ACT_MODE"
    NOT_ANNOUNCED = "NOT_ANNOUNCED"
    SHARED_LOCATION = "SHARED_LOCATION"
    NO_BACKUP_ROOT = "NO_BACKUP_ROOT"
    OTHER_BACKUP_ROOT = "OTHER_BACKUP_ROOT"
    IN_OTHER_PLAN = "IN_OTHER_PLAN"
    DROPPED = "DROPPED"
    TOUCHED = "TOUCHED"


EXPLANATIONS: dict[LeftOut, str] = {
    LeftOut.NOT_DUE: "Not due yet.",
    LeftOut.SOON: "Due soon, not yet.",
    LeftOut.STILL_READ: "Due, but read in the last 30 days; deleted only with its owner's consent.",
    LeftOut.HELD: "On hold: a restore hold or a legal hold keeps it.",
    LeftOut.NOT_ENROLLED: "The table itself has no LEVEL and TTL; it is not in lifecycle.",
    LeftOut.UNSUPPORTED: "A format that must be left alone.",
    LeftOut.NONCONFORMING: "The path breaks the rules; it is reported and never acted on.",
    LeftOut.WAIVER_OVER: "The exception of its path rule is over since the scan; it counts again.",
    LeftOut.UNREADY: "Not ready: its commit flag is false.",
    LeftOut.KEEP_FOREVER: "LEVEL 0: kept for ever.",
    LeftOut.MISSING_DIRECTORY: "Its directory is gone; there is nothing to back up.",
    LeftOut.UNKNOWN: "The scan could not judge it.",
    LeftOut.NOT_ACT_MODE: "The database is not in Enforce mode.",
    LeftOut.NOT_ANNOUNCED: "No notice about it has been sent for the days that it needs.",
    LeftOut.SHARED_LOCATION: "Another database, table or partition has its data here or below.",
    LeftOut.NO_BACKUP_ROOT: "No backup root is on its file system.",
    LeftOut.OTHER_BACKUP_ROOT: "Its file system has another backup root; plan it by itself.",
    LeftOut.TOUCHED: "The table was changed since the scan; the next scan judges it again.",
    LeftOut.IN_OTHER_PLAN: "Its table is in another plan that waits or runs.",
    LeftOut.DROPPED: "Dropped since the scan; the next scan does not list it any more.",
}

_BY_CLASS: dict[ExpiryClass, LeftOut] = {
    ExpiryClass.NOT_NOW: LeftOut.NOT_DUE,
    ExpiryClass.SOON: LeftOut.SOON,
    ExpiryClass.STILL_READ: LeftOut.STILL_READ,
    ExpiryClass.HELD: LeftOut.HELD,
    ExpiryClass.NOT_ENROLLED: LeftOut.NOT_ENROLLED,
    ExpiryClass.UNSUPPORTED: LeftOut.UNSUPPORTED,
    ExpiryClass.NONCONFORMING: LeftOut.NONCONFORMING,
    ExpiryClass.UNREADY: LeftOut.UNREADY,
    ExpiryClass.KEEP_FOREVER: LeftOut.KEEP_FOREVER,
    ExpiryClass.MISSING_DIRECTORY: LeftOut.MISSING_DIRECTORY,
    ExpiryClass.UNKNOWN: LeftOut.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One row of the scan with what only the scan saw."""

    item: PlanItem
    cls: ExpiryClass
    is_ready: bool


@dataclass(frozen=True, slots=True)
class Name:
    """What a hold or an owner's yes is about: a database, a table, or one partition."""

    db: str
    table: str = ""
    partition: str = ""


@dataclass(frozen=True, slots=True)
class Names:
    """Many names, asked by item."""

    names: frozenset[Name] = frozenset()
    tables: frozenset[tuple[str, str]] = frozenset()
    """Tables of which the table itself or some partition is named."""

    @classmethod
    def of(cls, names: Iterable[Name]) -> "Names":
        """Collect names."""
        kept = frozenset(names)
        return cls(kept, frozenset((one.db, one.table) for one in kept if one.table))

    def cover(self, item: "PlanItem | Name") -> bool:
        """Whether one of the names is the item, its whole table or its whole database."""
        return (
            Name(item.db) in self.names
            or Name(item.db, item.table) in self.names
            or Name(item.db, item.table, item.partition) in self.names
        )

    def hold(self, item: "PlanItem | Name") -> bool:
        """Whether the item may not go, as a running drop reads holds (`backup.domain.control`).

        A partial name (`dt=x`) keeps all below it; one partition keeps its whole table from going.
        """
        if self.cover(item):
            return True
        if not item.partition:
            return (item.db, item.table) in self.tables
        parts = item.partition.split("/")
        return any(
            Name(item.db, item.table, "/".join(parts[:n])) in self.names
            for n in range(1, len(parts))
        )


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is true when the plan is created."""

    today: date
    modes: Mapping[str, DatabaseMode]
    notice_days: Mapping[str, int]
    coverages: Mapping[int, tuple[Coverage, ...]]
    holds: Names = field(default_factory=Names)
    consent_to_recently_read: Names = field(default_factory=Names)
    in_other_plans: Names = field(default_factory=Names)
    dropped: Names = field(default_factory=Names)
    """Items that went since the scan: what an ended plan left alone is free again."""
    touched: Names = field(default_factory=Names)
    """Tables that any event named since the scan: an unpartitioned one is not what it was."""
    altered: Names = field(default_factory=Names)
    """Tables that were themselves made, changed or dropped since: nothing of them is certain."""
    unexcepted: Names = field(default_factory=Names)
    """What the scan let pass by an exception of a path rule that does not stand any more."""


def left_out_by_class(cls: ExpiryClass) -> LeftOut:
    """Return the reason why a row of a class other than CLEAN_NOW stays."""
    return _BY_CLASS[cls]


def refusal(candidate: Candidate, circumstances: Circumstances) -> LeftOut | None:
    """Say why a row may not enter a plan, or None when it may as far as itself goes.

    Whether its location is shared and has a backup root is judged for all rows together afterwards.
    """
    by_class = _refusal_by_class(candidate, circumstances.consent_to_recently_read)
    return by_class or _refusal_by_circumstances(candidate, circumstances)


def _refusal_by_class(candidate: Candidate, consent_to_recently_read: Names) -> LeftOut | None:
    item = candidate.item
    if candidate.cls is ExpiryClass.STILL_READ:
        if not consent_to_recently_read.cover(item):
            return LeftOut.STILL_READ
    elif candidate.cls is not ExpiryClass.CLEAN_NOW:
        return _BY_CLASS[candidate.cls]
    return LeftOut.KEEP_FOREVER if item.level == 0 else None


def _refusal_by_circumstances(candidate: Candidate, now: Circumstances) -> LeftOut | None:
    item = candidate.item
    if now.modes.get(item.db, DatabaseMode.OBSERVE) is not DatabaseMode.ACT:
        return LeftOut.NOT_ACT_MODE
    if not candidate.is_ready:
        return LeftOut.UNREADY
    if now.unexcepted.cover(item):
        return LeftOut.WAIVER_OVER
    if now.holds.hold(item):
        return LeftOut.HELD
    if now.altered.cover(item) or (not item.partition and now.touched.cover(item)):
        return LeftOut.TOUCHED
    if now.in_other_plans.cover(item):
        return LeftOut.IN_OTHER_PLAN
    if now.dropped.cover(item):
        return LeftOut.DROPPED
    days = now.notice_days[item.db]
    if not is_announced(item, now.coverages.get(item.tbl_id, ()), now.today, days):
        return LeftOut.NOT_ANNOUNCED
    return None
