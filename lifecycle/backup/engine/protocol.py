"""Moves and drops one batch of approved items without ever losing data.

The steps (a) to (i) of docs/decisions: control, facts, intent, recheck, rename, listing, drop,
confirm, done. Only the driver calls this; executors list. Whatever stops it half way is settled by
`settle/batches.py` from the intents that have no done. Free of Django: jobs import it.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, islice
from typing import Any, Protocol, TypeVar

from lifecycle.backup.domain.control import Control
from lifecycle.backup.engine.extras import Extras, ExtrasReader
from lifecycle.backup.engine.facts import ActItem, Lister, Policy
from lifecycle.backup.engine.journal.records import (
    BatchDone,
    BatchIntent,
    ItemDone,
    ItemIntent,
    ItemRefused,
    Outcome,
)
from portal.connectors.file_status import FileStatus, FileSystem
from portal.connectors.metastore import Metastore, to_json
from portal.lake.errors import StaleState
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from portal.safety.failpoints import Failpoints
from portal.safety.fence import Fence

BATCH_ITEMS = 100
# The promise: seconds from a batch's first rename to its metadata drop. Renaming ends before that.
WINDOW_SECONDS = 5.0
RENAME_SECONDS = 3.0
WINDOW = "longest_seconds_from_first_rename_to_drop"
STOPPED = "run.cancelled"
_AS_ASKED = ("DROPPED", "RESTORED", "UNDONE", "PURGED", "MOVED")


Item = TypeVar("Item")


class Rules(Protocol):
    """What the room knows of its objects; read from fresh metastore structures."""

    def refresh(self) -> None:
        """Read again what changed since the last call; called before each look at a batch."""

    def neighbour(self, table: Any, partition: str, location: LakePath) -> str | None:
        """Say who else has data in the place of an item, or why it may not be there, or None."""

    def read_refusal(self, table: Any, partition: str, files: Sequence[FileStatus]) -> str | None:
        """Say that an item was read since the scan without its owner's yes, or None."""

    def refusal(self, table: Any) -> str | None:
        """Say why a table must not be acted on (format, type), or None."""

    def policy(self, table: Any) -> Policy:
        """Read LEVEL and TTL as they stand now."""

    def location(self, table: Any, partition: Any | None) -> LakePath | None:
        """Return the effective location of a table or partition."""

    def is_ready(self, partition: Any) -> bool:
        """Whether a partition's data is complete."""


@dataclass
class Tools:
    """What a driver works with; tests put in their own clock, fence or lister."""

    fs: FileSystem
    metastore: Metastore
    fence: Fence
    lister: Lister
    control: Callable[[], Control]
    clock: Callable[[], datetime]
    fail: Failpoints = field(default_factory=Failpoints)
    # Asks whether the rest of this process (the JVM) lives; raises when it does not.
    alive: Callable[[], None] = lambda: None
    # Whether a file has no writer; None = cannot be known here.
    is_closed: Callable[[LakePath], bool | None] = lambda _path: None
    # Why a directory cannot be renamed into the backup root although it may be written.
    barrier: Callable[[LakePath], str | None] = lambda _path: None
    monotonic: Callable[[], float] = time.monotonic
    extras: ExtrasReader = field(init=False)

    def __post_init__(self) -> None:
        self.extras = ExtrasReader(self.metastore)

    def gate(self) -> None:
        """Before each metastore call: the process is whole, fence and lease stand.

        A rename needs no more than `alive`: without the fence it fails by itself.
        """
        self.alive()
        self.fence.check()


@dataclass(frozen=True, slots=True)
class ActOrder:
    """What a run was allowed to do, and the directory that is its own."""

    run: str
    epoch: int
    lake: LakeId
    plan: str
    digest: str
    fence: LakePath


@dataclass(frozen=True, slots=True)
class DropOrder(ActOrder):
    """What a drop run was allowed to do."""

    keep_days: dict[str, int]
    default_keep_days: int = 15

    def keep(self, db: str) -> int:
        """How many days a backup of this database is kept; never under 15."""
        return max(15, self.keep_days.get(db, self.default_keep_days))


@dataclass
class ActResult:
    """What an acting run did, for its manifest; the truth is in the files beside the data."""

    counts: dict[str, int] = field(default_factory=dict)
    skipped: list[dict[str, str]] = field(default_factory=list)
    n_batches: int = 0
    _shown: int = 1000

    def count(self, outcome: str, *, name: str, reason: str) -> None:
        """Count one item; keep the first thousand of which there is something to say."""
        self.counts[str(outcome)] = self.counts.get(outcome, 0) + 1
        if (reason or outcome not in _AS_ASKED) and len(self.skipped) < self._shown:
            self.skipped.append({"item": name, "outcome": outcome, "reason": reason})

    def as_dict(self) -> dict[str, Any]:
        """Return the manifest's form."""
        return {
            "counts": self.counts,
            "skipped": [{**entry, "outcome": str(entry["outcome"])} for entry in self.skipped],
            "n_batches": self.n_batches,
        }


@dataclass
class DropResult(ActResult):
    """What a drop run did; `window` is its longest time from first rename to metadata drop."""

    window: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the manifest's form."""
        window = None if self.window is None else round(self.window, 3)
        return {**super().as_dict(), WINDOW: window}


def check_control(tools: Tools) -> Control:
    """(a) Read the portal's word; StaleState `run.cancelled` when it is stop."""
    with tools.fail.step("control"):
        control = tools.control()
        if control.stop:
            raise StaleState(
                STOPPED, f"Stopped before the next batch ({control.stop}); what is done stands."
            )
        return control


def tables_of(
    items: Iterable[ActItem], lake: LakeId
) -> Iterator[tuple[TableName, Iterator[ActItem]]]:
    """Group a sorted item stream by table."""
    for (db, table), group in groupby(items, key=lambda item: (item.db, item.table)):
        yield TableName(lake, db, table), group


def chunks(items: Iterable[Item], size: int = BATCH_ITEMS) -> Iterator[Sequence[Item]]:
    """Cut a table's items into batches."""
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


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
        result.count(Outcome.SKIPPED, name=batch.name.item(one.partition), reason=one.reason)
    for intent in batch.meant():
        outcome, reason = batch.outcomes[intent.item]
        if outcome is not Outcome.DEFERRED:
            result.count(outcome, name=batch.name.item(intent.partition), reason=reason)
