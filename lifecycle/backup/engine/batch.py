"""State of a batch in progress, its files, and its part of the run's result.

Shared by drops and moves: both write an intent before they touch anything and a done at the end.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lifecycle.backup.engine.extras import Extras
from lifecycle.backup.engine.journal.records import (
    BatchDone,
    BatchIntent,
    ItemDone,
    ItemIntent,
    ItemRefused,
    Outcome,
)
from lifecycle.backup.engine.protocol import ActOrder, DropResult
from portal.connectors.metastore import to_json
from portal.lake.names import TableName


@dataclass
class Batch(ABC):
    """One batch on its way: what was refused at once, what became of each item so far."""

    name: TableName
    number: int
    table: Any
    outcomes: dict[str, tuple[Outcome, str]] = field(default_factory=dict)
    refused: list[ItemRefused] = field(default_factory=list)
    window: float | None = None
    table_extras: Extras | None = None
    is_settled: bool = True
    intent: BatchIntent = field(init=False)
    """What was written of it before anything was touched."""

    @abstractmethod
    def meant(self) -> Sequence[ItemIntent]:
        """Return what is meant with each item that was not refused."""

    def refuse(self, partition: str, reason: str) -> None:
        """Leave an item alone that is not as approved."""
        self.refused.append(ItemRefused(partition, reason))


def intent_file(order: ActOrder, batch: Batch, *, now: datetime, keep_days: int) -> BatchIntent:
    """Say what is meant with a batch, before anything of it is touched."""
    return BatchIntent(
        run=order.run,
        epoch=order.epoch,
        batch=batch.number,
        lake=str(order.lake),
        db=batch.name.db,
        table=batch.name.table,
        table_owner=(batch.table.owner or "") if batch.table else "",
        plan=order.plan,
        digest=order.digest,
        at=now.isoformat(),
        keep_days=keep_days,
        table_metadata=to_json(batch.table) if batch.table else "",
        items=tuple(batch.meant()),
        refused=tuple(batch.refused),
        table_extras=batch.table_extras,
    )


def done_file(order: ActOrder, batch: Batch, *, now: datetime) -> BatchDone:
    """(i) Say what became of a batch; the last word about it."""
    return BatchDone(
        run=order.run,
        epoch=order.epoch,
        batch=batch.number,
        at=now.isoformat(),
        writer="driver",
        items=tuple(
            ItemDone(intent.item, intent.partition, *batch.outcomes[intent.item])
            for intent in batch.meant()
        ),
        seconds=batch.window,
    )


def count(result: DropResult, batch: Batch) -> None:
    """Add a batch to the run's result; an item that is left to a later batch counts there."""
    result.n_batches += 1
    if batch.window is not None:
        result.window = max(result.window or 0.0, batch.window)
    for one in batch.refused:
        result.count(Outcome.SKIPPED, name=_full(batch.name, one.partition), reason=one.reason)
    for intent in batch.meant():
        outcome, reason = batch.outcomes[intent.item]
        if outcome is not Outcome.DEFERRED:
            result.count(outcome, name=_full(batch.name, intent.partition), reason=reason)


def _full(name: TableName, partition: str) -> str:
    return f"{name}/{partition}" if partition else str(name)
