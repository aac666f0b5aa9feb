"""Moves a batch of approved items to another location without ever losing data.

The drop machine with another end: intent first, facts again, rename behind the fence, look at what
arrived, rename on to the target, then point the metadata to it. Never a copy, never over something.
What is half done is settled by `settle/moves.py` from what is where.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from lifecycle.backup.domain.control import Control
from lifecycle.backup.domain.layout import first_batch, item_name
from lifecycle.backup.engine.facts import NOT_READY
from lifecycle.backup.engine.files.file_refusal import move_refusal, open_file
from lifecycle.backup.engine.journal.records import ItemIntent, Outcome, files_of, shortfall
from lifecycle.backup.engine.metastore.registry import structs_of
from lifecycle.backup.engine.metastore.returned import notify_returned
from lifecycle.backup.engine.move.facts import MoveRules, Seat, look_at, metadata_refusal
from lifecycle.backup.engine.move.records import (
    MoveItem,
    Registered,
    Step,
    move_done_name,
    move_intent_name,
    repoint,
    structs_for,
)
from lifecycle.backup.engine.protocol import (
    ActOrder,
    Batch,
    DropResult,
    Tools,
    check_control,
    chunks,
    count,
    done_file,
    intent_file,
)
from portal.lake.errors import DataSafetyError, PortalError
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.lake.paths import LakePath

# Few, because readers find nothing between a batch's first rename and its metadata.
BATCH_MOVES = 25

Report = Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class MoveOrder(ActOrder):
    """What a run of moves was allowed to do."""


@dataclass
class _Batch(Batch):
    """One batch of moves."""

    steps: list[Step] = field(default_factory=list)

    def meant(self) -> Sequence[ItemIntent]:
        """Return what is meant with each item that was not refused."""
        return [step.intent for step in self.steps]

    def pending(self) -> list[Step]:
        """Items that nothing has been decided about yet."""
        return [step for step in self.steps if step.intent.item not in self.outcomes]

    def put(self, step: Step, outcome: Outcome, reason: str = "") -> None:
        """Say what became of an item."""
        self.outcomes[step.intent.item] = (outcome, reason)


def move_items(
    order: MoveOrder,
    items: Iterable[MoveItem],
    *,
    rules: MoveRules,
    tools: Tools,
    report: Report = lambda _done, _message: None,
) -> DropResult:
    """Move the items in the order given, a table by itself and its partitions 25 at a time.

    Ends early with StaleState when the run is stopped or was taken over; what was done stands, what
    is half done is settled.
    """
    result = DropResult()
    number, n_done = first_batch(order.epoch), 0
    for name, group in _by_table(order.lake, items):
        for chunk in chunks(group, BATCH_MOVES):
            batch = _move_batch(order, name, chunk, number=number, rules=rules, tools=tools)
            count(result, batch)
            number, n_done = number + 1, n_done + len(chunk)
            report(n_done, f"{name}: batch {batch.number}")
    return result


def _by_table(
    lake: LakeId, items: Iterable[MoveItem]
) -> Iterator[tuple[TableName, Iterator[MoveItem]]]:
    for (db, table, _), group in groupby(
        items, key=lambda one: (one.db, one.table, bool(one.partition))
    ):
        yield TableName(lake, db, table), group


def _move_batch(
    order: MoveOrder,
    name: TableName,
    items: Sequence[MoveItem],
    *,
    number: int,
    rules: MoveRules,
    tools: Tools,
) -> _Batch:
    control = check_control(tools)
    with tools.fail.step("facts"):
        batch = _read_facts(name, items, number=number, rules=rules, tools=tools, control=control)
    with tools.fail.step("intent"):
        intent = intent_file(order, batch, now=tools.clock(), keep_days=0)
        tools.fs.write_new(order.fence.child(move_intent_name(number)), intent.to_bytes())
    if batch.steps:
        _act(batch, order.fence, rules=rules, tools=tools)
    if batch.is_settled:
        with tools.fail.step("done"):
            done = done_file(order, batch, now=tools.clock())
            notify_returned(tools.metastore, name, done)
            tools.fs.write_new(order.fence.child(move_done_name(number)), done.to_bytes())
    return batch


def _act(batch: _Batch, fence: LakePath, *, rules: MoveRules, tools: Tools) -> None:
    with tools.fail.step("recheck"):
        _recheck(batch, rules=rules, tools=tools)
    started = tools.monotonic()
    _rename(batch, fence, tools=tools)
    with tools.fail.step("listing"):
        _verify(batch, fence, tools=tools)
    _place(batch, fence, tools=tools)
    moved = batch.pending()
    if not moved:
        return
    with tools.fail.step("alter"):
        _alter(batch, fence, tools=tools)
    batch.window = tools.monotonic() - started
    with tools.fail.step("confirm"):
        _confirm(batch, tools=tools)


def _read_facts(
    name: TableName,
    items: Sequence[MoveItem],
    *,
    number: int,
    rules: MoveRules,
    tools: Tools,
    control: Control,
) -> _Batch:
    """Read everything again; what is not as approved is refused with its reason."""
    rules.refresh()
    table = tools.metastore.table_or_none(name)
    batch = _Batch(name, number, table)
    table_reason = "the table is not registered any more" if table is None else rules.refusal(table)
    structs: dict[str, Any] = {}
    if not table_reason:
        wanted = [item.partition for item in items if item.partition]
        structs = structs_of(tools.metastore, name, table, wanted) if wanted else {"": table}
    for item in items:
        hold = control.hold_on(item.db, item.table, item.partition, now=tools.clock())
        reason = table_reason or (f"held: {hold.reason}" if hold else None)
        struct = structs.get(item.partition)
        reason = reason or metadata_refusal(item, table, struct, rules=rules)
        found = reason or look_at(item, struct, _seat(batch), rules=rules, tools=tools)
        if isinstance(found, Step):
            batch.steps.append(found)
        else:
            batch.refuse(item.partition, found)
    return batch


def _seat(batch: _Batch) -> Seat:
    return Seat(item_name(batch.number, len(batch.steps)), batch.name, batch.table)


def _recheck(batch: _Batch, *, rules: MoveRules, tools: Tools) -> None:
    """Token and open files once more, right before the first rename."""
    rules.refresh()
    structs = structs_for(tools.metastore, batch.name, batch.steps)
    table = tools.metastore.table_or_none(batch.name)
    listings = tools.lister([step.source for step in batch.steps])
    for step in batch.steps:
        files = files_of(listings.get(step.source, ()), root=step.source)
        if step.registered(structs[step.intent.item]) is not Registered.OLD:
            batch.put(step, Outcome.SKIPPED, "its metadata changed a moment ago")
        elif table is not None and (
            reason := rules.refusal(table)
            or rules.neighbour(table, step.intent.partition, step.source)
        ):
            batch.put(step, Outcome.SKIPPED, reason)
        elif not all(map(rules.is_ready, step.named_in(structs[step.intent.item]))):
            batch.put(step, Outcome.SKIPPED, NOT_READY)
        elif files != step.intent.files:
            batch.put(step, Outcome.SKIPPED, "its files changed a moment ago")
        elif reason := open_file(files, step.source, tools=tools):
            batch.put(step, Outcome.SKIPPED, reason)


def _rename(batch: _Batch, fence: LakePath, *, tools: Tools) -> None:
    """Move each item behind the fence."""
    for step in batch.pending():
        with tools.fail.step("rename"):
            tools.alive()
            try:
                tools.fence.move(step.source, fence.child(step.intent.item), sync=False)
            except PortalError as error:
                batch.put(step, Outcome.SKIPPED, move_refusal(error))
    tools.fs.sync_directories([fence, *{step.source.parent for step in batch.pending()}])


def _verify(batch: _Batch, fence: LakePath, *, tools: Tools) -> None:
    """What was moved equals the manifest, else it goes back."""
    pending = batch.pending()
    listings = tools.lister([fence.child(step.intent.item) for step in pending])
    for step in pending:
        home = fence.child(step.intent.item)
        found = files_of(listings.get(home, ()), root=home)
        if found == step.intent.files:
            continue
        if shortfall(step.intent.files, found):
            raise _lost(batch, step, home)
        _take_back(batch, step, fence, reason="files changed while it was moved", tools=tools)


def _place(batch: _Batch, fence: LakePath, *, tools: Tools) -> None:
    """Move each item on to its new place, which must be free."""
    for step in batch.pending():
        with tools.fail.step("place"):
            tools.alive()
            try:
                tools.fence.move(fence.child(step.intent.item), step.target, sync=False)
            except PortalError as error:
                taken = error.code == "fs.exists"
                reason = f"{step.target} was taken" if taken else move_refusal(error)
                _take_back(batch, step, fence, reason=reason, tools=tools)
    tools.fs.sync_directories([fence, *{step.target.parent for step in batch.pending()}])


def _alter(batch: _Batch, fence: LakePath, *, tools: Tools) -> None:
    """Point the metadata of exactly these generations to the new place; others go back."""

    def gate() -> None:
        tools.gate()
        tools.fail.reach("alter:send")

    structs = structs_for(tools.metastore, batch.name, batch.pending())
    for step in batch.pending():
        if step.registered(structs[step.intent.item]) is not Registered.OLD:
            # Back the way it came: only through the fence may this run still move anything.
            tools.fence.move(step.target, fence.child(step.intent.item))
            reason = "its metadata changed while it was moved"
            _take_back(batch, step, fence, reason=reason, tools=tools)
    repoint(tools.metastore, batch.name, batch.pending(), forward=True, before_call=gate)


def _take_back(batch: _Batch, step: Step, fence: LakePath, *, reason: str, tools: Tools) -> None:
    home = fence.child(step.intent.item)
    if tools.fs.status(step.source) is not None:
        raise _lost(batch, step, home)
    tools.fence.move(home, step.source)
    batch.put(step, Outcome.RETURNED, reason)


def _lost(batch: _Batch, step: Step, home: LakePath) -> DataSafetyError:
    return DataSafetyError(
        "act.lost",
        f"{batch.name} {step.intent.partition} stands at {home} and cannot go on or back: files "
        "are missing or new data is at its old place. Compare the intent file with the lake.",
        home=home,
        source=step.source,
    )


def _confirm(batch: _Batch, *, tools: Tools) -> None:
    """Registered at the new place, old place empty; anything else is said, or left to settle."""
    structs = structs_for(tools.metastore, batch.name, batch.pending())
    for step in batch.pending():
        is_new = step.registered(structs[step.intent.item]) is Registered.NEW
        batch.is_settled = batch.is_settled and is_new
        if tools.fs.status(step.source) is not None:
            batch.put(step, Outcome.NEW_DATA, NEW_DATA_WORDS.format(source=step.source))
        else:
            batch.put(step, Outcome.MOVED)


NEW_DATA_WORDS = "moved, but something new was written at the old place {source}; look at it"
