"""Decides which items of a batch may be dropped, and moves, verifies and drops them in order."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lifecycle.backup.domain.control import Control
from lifecycle.backup.domain.layout import done_name, first_batch, intent_name, item_name
from lifecycle.backup.engine import facts
from lifecycle.backup.engine.extras import Extras
from lifecycle.backup.engine.files.file_refusal import file_refusal, move_refusal, open_file
from lifecycle.backup.engine.files.live_place import make_room
from lifecycle.backup.engine.files.parent_times import times_kept
from lifecycle.backup.engine.journal.records import (
    FileFact,
    ItemIntent,
    Outcome,
    files_of,
    shortfall,
)
from lifecycle.backup.engine.metastore.extras_return import return_to_added, with_loss
from lifecycle.backup.engine.metastore.registry import drop_exactly, names_registered, structs_of
from lifecycle.backup.engine.metastore.returned import notify_returned
from lifecycle.backup.engine.protocol import (
    RENAME_SECONDS,
    Batch,
    DropOrder,
    DropResult,
    Rules,
    Tools,
    check_control,
    chunks,
    count,
    done_file,
    intent_file,
    tables_of,
)
from portal.connectors.file_status import FileStatus
from portal.connectors.metastore import to_json
from portal.lake.errors import DataSafetyError, PortalError, StaleState
from portal.lake.names import TableName
from portal.lake.paths import LakePath

Report = Callable[[int, str], None]


@dataclass
class _Batch(Batch):
    """One batch of a drop."""

    intents: list[ItemIntent] = field(default_factory=list)
    deferred: list[str] = field(default_factory=list)

    def meant(self) -> Sequence[ItemIntent]:
        """Return what is meant with each item that was not refused."""
        return self.intents

    def pending(self) -> list[ItemIntent]:
        """Items that nothing has been decided about yet."""
        return [intent for intent in self.intents if intent.item not in self.outcomes]

    def put(self, intent: ItemIntent, outcome: Outcome, reason: str = "") -> None:
        """Say what became of an item."""
        self.outcomes[intent.item] = (outcome, reason)


def drop_items(
    order: DropOrder,
    items: Iterable[facts.ActItem],
    *,
    rules: Rules,
    tools: Tools,
    report: Report = lambda _done, _message: None,
) -> DropResult:
    """Back up and drop the items, table by table, at most 100 at a time.

    `items` come sorted by (db, table, partition). Ends early with StaleState when the run is
    stopped or was taken over; what was done stands, what is half done is settled.
    """
    result = DropResult()
    number, n_done = first_batch(order.epoch), 0
    for name, group in tables_of(items, order.lake):
        for chunk in chunks(group):
            waiting: Sequence[facts.ActItem] = chunk
            while waiting:
                batch = drop_batch(order, name, waiting, number=number, rules=rules, tools=tools)
                number += 1
                count(result, batch)
                again = set(batch.deferred)
                n_done += len(waiting) - len(again)
                waiting = [item for item in waiting if item.partition in again]
                report(n_done, f"{name}: batch {batch.number}")
    return result


def drop_batch(
    order: DropOrder,
    name: TableName,
    items: Sequence[facts.ActItem],
    *,
    number: int,
    rules: Rules,
    tools: Tools,
) -> _Batch:
    """Take one batch through (a) to (i)."""
    control = check_control(tools)
    with tools.fail.step("facts"):
        batch = _read_facts(name, items, number=number, rules=rules, tools=tools, control=control)
    with tools.fail.step("intent"):
        batch.intent = intent_file(order, batch, now=tools.clock(), keep_days=order.keep(name.db))
        tools.fs.write_new(order.fence.child(intent_name(number)), batch.intent.to_bytes())
    if batch.intents:
        with times_kept(tools.fs, [_path(intent.source).parent for intent in batch.intents]):
            _act(batch, order.fence, rules=rules, tools=tools)
    if batch.is_settled:
        with tools.fail.step("done"):
            done = done_file(order, batch, now=tools.clock())
            notify_returned(tools.metastore, name, done)
            tools.fs.write_new(order.fence.child(done_name(number)), done.to_bytes())
    return batch


def _act(batch: _Batch, fence: LakePath, *, rules: Rules, tools: Tools) -> None:
    """(d) to (h), timed from the first rename to the metadata drop."""
    with tools.fail.step("recheck"):
        _recheck(batch, rules=rules, tools=tools)
    started = tools.monotonic()
    _rename(batch, fence, tools=tools, started=started)
    _sync(batch, fence, tools=tools)
    is_moved = bool(batch.pending())
    with tools.fail.step("listing"):
        moved = _verify(batch, fence, tools=tools)
    _drop(batch, moved, fence=fence, tools=tools)
    if is_moved:
        batch.window = tools.monotonic() - started
    with tools.fail.step("confirm"):
        _confirm(batch, moved, tools=tools)


def _read_facts(
    name: TableName,
    items: Sequence[facts.ActItem],
    *,
    number: int,
    rules: Rules,
    tools: Tools,
    control: Control,
) -> _Batch:
    """(b) Read everything again; what is not as approved is refused with its reason."""
    rules.refresh()
    table = tools.metastore.table_or_none(name)
    batch = _Batch(name, number, table)
    reason = _table_refusal(table, items, rules=rules, tools=tools)
    if reason:
        for item in items:
            batch.refuse(item.partition, reason)
        return batch
    structs = structs_of(tools.metastore, name, table, [item.partition for item in items])
    wanted: list[tuple[facts.ActItem, Any, LakePath]] = []
    # Items of a batch share their parents, which are looked at again in the next one.
    seen: dict[LakePath, FileStatus | None] = {}
    for item in items:
        struct = structs.get(item.partition)
        location = rules.location(table, struct if item.partition else None) if struct else None
        hold = control.hold_on(item.db, item.table, item.partition, now=tools.clock())
        reasons = [f"held: {hold.reason}"] if hold else []
        reasons += _metadata_reasons(item, table, struct, location, rules=rules)
        if reasons or location is None:
            batch.refuse(item.partition, "; ".join(reasons))
        else:
            wanted.append((item, struct, location))
    listings = tools.lister([location for _, _, location in wanted])
    extras = _extras(batch, {item.partition: struct for item, struct, _ in wanted}, tools=tools)
    for item, struct, location in wanted:
        statuses = listings.get(location)
        files = files_of(statuses, root=location) if statuses else ()
        reason = file_refusal(item, files, location=location, tools=tools)
        reason = reason or rules.read_refusal(table, item.partition, statuses or ())
        if reason:
            batch.refuse(item.partition, reason)
            continue
        batch.intents.append(
            ItemIntent(
                item=item_name(number, len(batch.intents)),
                partition=item.partition,
                source=str(location),
                generation=facts.generation_of(struct),
                metadata=to_json(struct),
                files=files,
                parents=parents_of(tools, location, seen),
                facts={"level": item.level, "ttl": item.ttl, "due_on": item.due_on},
                extras=extras[item.partition],
            )
        )
    return batch


def _extras(batch: _Batch, structs: dict[str, Any], *, tools: Tools) -> dict[str, Extras]:
    """Read what belongs to the items beside their structures, before it goes with them."""
    if "" in structs:
        return {"": tools.extras.of_table(batch.name, batch.table)}
    if structs:
        batch.table_extras = tools.extras.of_parent(batch.name, batch.table)
    return tools.extras.of_partitions(batch.name, structs)


def _table_refusal(
    table: Any, items: Sequence[facts.ActItem], *, rules: Rules, tools: Tools
) -> str | None:
    if table is None:
        return "the table is not registered any more"
    reason = rules.refusal(table)
    if reason:
        return reason
    if bool(table.partitionKeys) != bool(items[0].partition):
        return "the table's partitioning is not as approved"
    home = rules.location(table, None)
    if home is not None and tools.fs.status(home) is not None and table.partitionKeys:
        writing = facts.being_written(tools.fs.names(home))
        if writing:
            return f"a job is writing to the table ({writing})"
    return None


def _metadata_reasons(
    item: facts.ActItem, table: Any, struct: Any, location: LakePath | None, *, rules: Rules
) -> list[str]:
    if struct is None:
        return ["not registered any more"]
    if location is None:
        return ["has no location"]
    reasons = facts.changes(
        item,
        generation=facts.generation_of(struct),
        location=location,
        policy=rules.policy(table),
    )
    if not rules.is_ready(struct):
        reasons.append(facts.NOT_READY)
    if other := rules.neighbour(table, item.partition, location):
        reasons.append(other)
    return reasons


def parents_of(
    tools: Tools, location: LakePath, seen: dict[LakePath, FileStatus | None]
) -> tuple[FileFact, ...]:
    """Record the directories above an item, nearest last, so that a restore can make them again."""
    found = []
    path = location
    while path.parent != path:
        path = path.parent
        if path not in seen:
            seen[path] = tools.fs.status(path)
        status = seen[path]
        if status is not None:
            fact = FileFact.of(status, root=path)
            found.append(replace(fact, path=str(path)))
    return tuple(reversed(found))


def _recheck(batch: _Batch, *, rules: Rules, tools: Tools) -> None:
    """(d) Token and open files once more, right before the first rename."""
    rules.refresh()
    table = tools.metastore.table_or_none(batch.name)
    names = [intent.partition for intent in batch.intents]
    structs = structs_of(tools.metastore, batch.name, table, names)
    refused = rules.refusal(table) if table is not None else None
    listings = tools.lister([_path(intent.source) for intent in batch.intents])
    for intent in batch.intents:
        source = _path(intent.source)
        struct = structs.get(intent.partition)
        statuses = listings.get(source)
        if struct is None or facts.generation_of(struct) != intent.generation:
            batch.put(intent, Outcome.SKIPPED, "its metadata changed a moment ago")
        elif not rules.is_ready(struct):
            batch.put(intent, Outcome.SKIPPED, facts.NOT_READY)
        elif reason := refused or rules.neighbour(table, intent.partition, source):
            batch.put(intent, Outcome.SKIPPED, reason)
        elif not statuses or files_of(statuses, root=source) != intent.files:
            batch.put(intent, Outcome.SKIPPED, "its files changed a moment ago")
        elif reason := (
            rules.read_refusal(table, intent.partition, statuses)
            or open_file(intent.files, source, tools=tools)
        ):
            batch.put(intent, Outcome.SKIPPED, reason)


def _rename(batch: _Batch, fence: LakePath, *, tools: Tools, started: float) -> None:
    """(e) Move each item behind the fence; what does not fit into the time goes later."""
    for intent in batch.pending():
        if tools.monotonic() - started > RENAME_SECONDS:
            batch.put(intent, Outcome.DEFERRED, "left to the next batch")
            batch.deferred.append(intent.partition)
            continue
        with tools.fail.step("rename"):
            tools.alive()
            tools.fail.reach("rename:send")
            try:
                tools.fence.move(_path(intent.source), fence.child(intent.item), sync=False)
            except PortalError as error:
                batch.put(intent, Outcome.SKIPPED, move_refusal(error))


def _sync(batch: _Batch, fence: LakePath, *, tools: Tools) -> None:
    """Let the moves outlive a power cut, once for all: before the metadata goes."""
    parents = {_path(intent.source).parent for intent in batch.pending()}
    tools.fs.sync_directories([fence, *parents])


def _verify(batch: _Batch, fence: LakePath, *, tools: Tools) -> list[ItemIntent]:
    """(f) What was moved equals the manifest, else it goes back."""
    pending = batch.pending()
    listings = tools.lister([fence.child(intent.item) for intent in pending])
    good = []
    for intent in pending:
        target = fence.child(intent.item)
        found = files_of(listings.get(target, []), root=target)
        if found == intent.files:
            good.append(intent)
        else:
            reason = "files changed while it was moved"
            _take_back(batch, intent, found, target=target, tools=tools, reason=reason)
    return good


def _take_back(
    batch: _Batch,
    intent: ItemIntent,
    found: tuple[FileFact, ...],
    *,
    target: LakePath,
    tools: Tools,
    reason: str,
) -> None:
    short = shortfall(intent.files, found)
    source = _path(intent.source)
    if found and _has_room(source, tools):
        tools.gate()
        tools.fence.move(target, source)
        batch.put(intent, Outcome.RETURNED, reason)
        return
    if short:
        raise DataSafetyError(
            "act.short_backup",
            f"The backup of {batch.name} {intent.partition} lacks {short[0]}. Nothing was dropped; "
            "inspect the backup before anything else is done.",
            backup=target,
            source=source,
        )
    batch.put(intent, Outcome.NEW_DATA, "new data came while it was moved")
    batch.is_settled = False


def _has_room(source: LakePath, tools: Tools) -> bool:
    try:
        make_room(tools.fs, tools.lister, source)
    except StaleState:
        return False
    return True


def _drop(batch: _Batch, moved: list[ItemIntent], *, fence: LakePath, tools: Tools) -> None:
    """(g) Drop the metadata of exactly these generations; others go back."""
    if not moved:
        return
    said: dict[str, str] = {}
    with tools.fail.step("drop"):
        tools.gate()
        changed = drop_exactly(
            tools.metastore,
            batch.name,
            moved,
            batch=batch.intent,
            before_send=lambda: tools.fail.reach("drop:send"),
            on_added=lambda added: said.update(return_to_added(tools.metastore, batch.name, added)),
        )
    for intent in changed:
        moved.remove(intent)
        target = fence.child(intent.item)
        found = files_of(tools.lister([target]).get(target, []), root=target)
        reason = with_loss(
            "its metadata changed while it was moved, or it is not ready any more", said, intent
        )
        _take_back(batch, intent, found, target=target, tools=tools, reason=reason)


def _confirm(batch: _Batch, moved: list[ItemIntent], *, tools: Tools) -> None:
    """(h) Source absent, name unregistered; anything else is left to settle."""
    registered = names_registered(
        tools.metastore, batch.name, [intent.partition for intent in moved]
    )
    for intent in moved:
        if intent.partition in registered or tools.fs.status(_path(intent.source)) is not None:
            batch.is_settled = False
        batch.put(intent, Outcome.DROPPED)


def _path(text: str) -> LakePath:
    return LakePath.parse(text)
