"""Reads what the portal tells a running act job: emergency stop, cancel and holds."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate
from typing import Any
from uuid import UUID

HOLDS_FILE = "holds_file"


@dataclass(frozen=True, slots=True)
class HoldRule:
    """Standing holds of one reason and end; an empty table, or no partition, means all.

    `partitions` names many of one table at once, beside `partition`.
    """

    db: str
    table: str = ""
    partition: str = ""
    until: datetime | None = None
    reason: str = ""
    partitions: frozenset[str] = frozenset()

    def covers(self, db: str, table: str, partition: str, *, now: datetime) -> bool:
        """Whether the hold keeps this item now. A partial name (`dt=x`) covers what lies below."""
        if self.until is not None and self.until <= now:
            return False
        if self.db != db or self.table not in ("", table):
            return False
        if not partition or not (self.partition or self.partitions):
            # A hold on one partition keeps the whole table from being dropped, too.
            return True
        return any(
            name == self.partition or name in self.partitions
            for name in accumulate(partition.split("/"), "{}/{}".format)
        )


@dataclass(frozen=True, slots=True)
class Control:
    """The portal's word at one moment; nothing written yet means go on."""

    stop: str = ""
    paused: bool = False
    holds: tuple[HoldRule, ...] = field(default=())

    @classmethod
    def read(cls, plain: Mapping[str, Any], holds: tuple[HoldRule, ...] = ()) -> "Control":
        """Read control.json: {"cancel": bool, "by", "red_button": reason or "", "closed": [...]}.

        What is closed to the run since its start is one more hold each.
        """
        red = plain.get("red_button") or ""
        cancel = f"cancelled by {plain.get('by', '')}" if plain.get("cancel") else ""
        reason = f"emergency stop: {red}" if red else cancel
        closed = read_holds(plain.get("closed") or ())
        return cls(stop=reason, paused=bool(red), holds=(*closed, *holds))

    def hold_on(self, db: str, table: str, partition: str, *, now: datetime) -> HoldRule | None:
        """Return a hold that keeps this item, if any."""
        return next((h for h in self.holds if h.covers(db, table, partition, now=now)), None)

    def without_holds(self, reason: str) -> "Control":
        """Leave out the holds of one reason."""
        return replace(self, holds=tuple(hold for hold in self.holds if hold.reason != reason))


class ControlReader:
    """Reads the control file at each call, and the file of holds that it names once.

    Restores may leave hundreds of thousands of holds, so they stand in a file that is written and
    read only when they change. One that cannot be read stops the job: no hold is ever overlooked.
    """

    def __init__(
        self,
        read_control: Callable[[], Mapping[str, Any]],
        read_file: Callable[[str], Mapping[str, Any]],
    ) -> None:
        self._read_control = read_control
        self._read_file = read_file
        self._name = ""
        self._holds: tuple[HoldRule, ...] = ()

    def __call__(self) -> Control:
        """Return the portal's word as it is now."""
        plain = self._read_control()
        name = str(plain.get(HOLDS_FILE) or "")
        if name != self._name:
            self._holds = read_holds(self._read_file(name)["holds"]) if name else ()
            self._name = name
        return Control.read(plain, self._holds)


def restored_by(run: UUID | str) -> str:
    """Return the reason of a restore's own holds: an undo knows them by it, and ends them."""
    return f"restored by run {run}"


def read_holds(rows: Iterable[Mapping[str, Any]]) -> tuple[HoldRule, ...]:
    """Read holds as `holds_for_jobs` gives them."""
    return tuple(
        HoldRule(
            db=row["db"],
            table=row["table"],
            until=datetime.fromisoformat(row["until"]) if row["until"] else None,
            reason=row["reason"],
            partitions=frozenset(row["partitions"]),
        )
        for row in rows
    )
