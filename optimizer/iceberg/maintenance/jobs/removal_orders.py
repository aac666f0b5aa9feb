"""The portal's order to remove from one table, and the job's result.

Without an approval the job draws a list up and touches nothing; with one it removes what is on the
approved list and still may go.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from optimizer.core.domain.tasks import TaskState
from optimizer.iceberg.access.jobs.orders import Order, Result
from optimizer.removals.jobs.list import Approved
from portal.lake.errors import RuleViolation


@dataclass(frozen=True, slots=True)
class Borrower:
    """A table that may name files of the one that something is removed from."""

    db: str
    table: str
    uuid: str


@dataclass(frozen=True, slots=True)
class RemovalAsk:
    """What the policy lets go now, and the list that was approved, if one was."""

    expire_days: int
    keep_snapshots: int
    orphan_days: int
    quarantine_days: int
    approved: Approved | None
    quarantine: str = ""
    """Where the files of an approved list of orphans are moved."""
    borrowers: tuple[Borrower, ...] = ()

    @classmethod
    def of(cls, order: Order) -> "RemovalAsk":
        """Read the part of an order that removals have.

        Raises:
            RuleViolation: `optimize.order`.
        """
        said: Mapping[str, Any] = order.removal or {}
        try:
            approved = said["approved"]
            return cls(
                expire_days=int(said["expire_days"]),
                keep_snapshots=int(said["keep_snapshots"]),
                orphan_days=int(said["orphan_days"]),
                quarantine_days=int(said["quarantine_days"]),
                quarantine=str(said.get("quarantine") or ""),
                borrowers=tuple(
                    Borrower(str(one["db"]), str(one["table"]), str(one["uuid"]))
                    for one in said.get("borrowers", ())
                ),
                approved=None
                if approved is None
                else Approved(str(approved["plan"]), str(approved["uri"]), str(approved["digest"])),
            )
        except (KeyError, ValueError, TypeError) as error:
            raise RuleViolation(
                "optimize.order", f"A removal of the request cannot be read: {error!r}."
            ) from error


def head_of(order: Order) -> dict[str, Any]:
    """Return what a list is about: one of another table, kind or generation is not this one."""
    return {"kind": order.kind.value, "db": order.db, "table": order.table, "uuid": order.uuid}


@dataclass
class RemovalResult(Result):
    """What has come of a removal so far; a `proposal` waits for people."""

    proposal: dict[str, Any] | None = None
    removed: dict[str, Any] | None = None

    @property
    def outcome(self) -> TaskState:
        """Proposed, done, partly, nothing to do, failed, or given up because others decided."""
        if self.proposal is not None:
            return TaskState.TO_APPROVE
        if self.removed is not None:
            return TaskState.PARTIAL if self.errors else TaskState.DONE
        return super().outcome

    def as_dict(self, *, seconds: float) -> dict[str, Any]:
        """Return the row of the manifest."""
        said = super().as_dict(seconds=seconds)
        return {**said, "proposal": self.proposal, "removed": self.removed}
