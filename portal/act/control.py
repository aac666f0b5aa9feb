"""What does the portal tell a running act job? Red button, cancel and holds, from control.json."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class HoldRule:
    """One standing hold; an empty table or partition means all."""

    db: str
    table: str = ""
    partition: str = ""
    until: datetime | None = None
    reason: str = ""

    def covers(self, db: str, table: str, partition: str, *, now: datetime) -> bool:
        """Whether the hold keeps this item now. A partial name (`dt=x`) covers what lies below."""
        if self.until is not None and self.until <= now:
            return False
        if self.db != db or self.table not in ("", table):
            return False
        if not self.partition or not partition:
            # A hold on one partition keeps the whole table from being dropped, too.
            return True
        return partition == self.partition or partition.startswith(self.partition + "/")


@dataclass(frozen=True, slots=True)
class Control:
    """The portal's word at one moment; nothing written yet means go on."""

    stop: str = ""
    paused: bool = False
    holds: tuple[HoldRule, ...] = field(default=())

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> "Control":
        """Read control.json: {"cancel": bool, "by", "red_button": reason or "", "holds": [...]}."""
        red = plain.get("red_button") or ""
        cancel = f"cancelled by {plain.get('by', '')}" if plain.get("cancel") else ""
        reason = f"red button: {red}" if red else cancel
        return cls(stop=reason, paused=bool(red), holds=read_holds(plain.get("holds") or ()))

    def hold_on(self, db: str, table: str, partition: str, *, now: datetime) -> HoldRule | None:
        """Give a hold that keeps this item, if any."""
        return next((h for h in self.holds if h.covers(db, table, partition, now=now)), None)


def restored_by(run: UUID | str) -> str:
    """Give the reason of a restore's own holds: an undo knows them by it, and ends them."""
    return f"restored by run {run}"


def read_holds(rows: Iterable[Mapping[str, Any]]) -> tuple[HoldRule, ...]:
    """Read holds as `holds_for_jobs` gives them."""
    return tuple(
        HoldRule(
            db=row["db"],
            table=row.get("table") or "",
            partition=row.get("partition") or "",
            until=datetime.fromisoformat(row["until"]) if row.get("until") else None,
            reason=row.get("reason") or "",
        )
        for row in rows
    )
