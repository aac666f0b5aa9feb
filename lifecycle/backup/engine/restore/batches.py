"""Restores backups by the drop protocol in reverse, one batch of one backup at a time.

Identity is the generation: a name or place that something newer has taken is a conflict and stays
as it is. Only what is missing is restored, so a second run changes nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from pymetastore.hive_metastore import ttypes

from lifecycle.backup.domain.layout import restore_done_name, restore_intent_name
from lifecycle.backup.domain.restore_choice import BROUGHT, CONFLICTS, WHY, Choice
from lifecycle.backup.engine.facts import WALKERS
from lifecycle.backup.engine.files.file_refusal import return_refusal
from lifecycle.backup.engine.files.parent_times import times_kept
from lifecycle.backup.engine.journal.reading import (
    JournalBatch,
    has_purge_begun,
    items_under_way,
    restore_steps,
    restored_items,
)
from lifecycle.backup.engine.journal.records import (
    IN_BACKUP,
    ItemIntent,
    ItemTarget,
    Outcome,
    RestoreIntent,
    files_of,
    shortfall,
)
from lifecycle.backup.engine.metastore.extras_return import return_extras
from lifecycle.backup.engine.metastore.registry import is_same_life, structs_of
from lifecycle.backup.engine.metastore.tags import is_ours, is_rebuilt, is_same_table
from lifecycle.backup.engine.protocol import ActResult, Tools, check_control
from lifecycle.backup.engine.restore.fit import storage_mismatch, table_mismatch
from lifecycle.backup.engine.restore.order import BackupBatchRef, RestoreOrder
from lifecycle.backup.engine.restore.parent_owners import kept_directories
from lifecycle.backup.engine.restore.register import confirm, register, restore_done
from lifecycle.backup.engine.restore.target import target_of
from portal.connectors.metastore import from_json
from portal.lake.errors import DataSafetyError, PortalError, StaleState
from portal.lake.names import TableName
from portal.lake.paths import LakePath

Report = Callable[[int, str], None]
# (name, outcome, reason) of each item of a batch.
Said = list[tuple[str, str, str]]
# What is done with an item, and what is to be said of it beside the choice's own words.
Verdict = tuple[Choice, str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One item with what would be done, and where it would go; `detail` is the conflict's own."""

    intent: ItemIntent
    choice: Choice
    target: LakePath
    detail: str = ""

    @property
    def reason(self) -> str:
        """The reason as people read it."""
        return WHY[self.choice].format(self.detail)


@dataclass(frozen=True, slots=True)
class _Now:
    """What the metastore has under the wanted names; `closed` is what keeps all of it out."""

    table: Any
    live: dict[str, Any]
    closed: Verdict | None


def restore_batches(
    order: RestoreOrder,
    *,
    tools_of: Callable[[LakePath], Tools],
    report: Report = lambda _done, _message: None,
) -> ActResult:
    """Restore batch after batch; `tools_of` gives the tools behind the fence of a directory."""
    return batch_by_batch(
        order.batches, lambda ref: restore_batch(order, ref, tools_of(ref.directory)), report=report
    )


def batch_by_batch(
    batches: Iterable[BackupBatchRef], act: Callable[[BackupBatchRef], Said], *, report: Report
) -> ActResult:
    """Act on one batch after another, and count what became of their items."""
    result, n_done = ActResult(), 0
    for ref in batches:
        said = act(ref)
        for name, outcome, reason in said:
            result.count(outcome, name=name, reason=reason)
        result.n_batches += 1
        n_done += len(said)
        report(n_done, f"batch {ref.batch}: {len(said)} items")
    return result


def restore_batch(order: RestoreOrder, ref: BackupBatchRef, tools: Tools) -> Said:
    """Take one batch back through (a) to (i)."""
    check_control(tools)
    with tools.fail.step("facts"):
        batch = ref.read(tools.fs)
        candidates = choose(order, batch, tools, names=ref.names)
    wanted = [candidate for candidate in candidates if candidate.choice in BROUGHT]
    table = target_name(order, batch)
    left = [
        (table.item(c.intent.partition), _outcome(c.choice), _why(c))
        for c in candidates
        if c.choice not in BROUGHT
    ]
    if not wanted:
        return left
    with tools.fail.step("intent"):
        intent = _intent(order, batch, wanted, tools=tools)
        name = restore_intent_name(order.run, order.epoch, ref.batch)
        tools.fs.write_new(ref.directory.child(name), intent.to_bytes())
    with times_kept(tools.fs, [candidate.target.parent for candidate in wanted]):
        refused = _move(ref.directory, wanted, tools)
    moved = [candidate for candidate in wanted if candidate.intent.item not in refused]
    only = frozenset(candidate.intent.item for candidate in moved)
    with tools.fail.step("listing"):
        _verify(moved, tools)
    with tools.fail.step("register"):
        tools.gate()
        tools.fail.reach("register:send")
        register(tools.metastore, batch, intent, only=only)
    with tools.fail.step("extras"):
        tools.gate()
        said = return_extras(
            tools.metastore,
            batch,
            intent,
            only=only,
            before_send=lambda: tools.fail.reach("extras:send"),
        )
    with tools.fail.step("confirm"):
        outcomes = confirm(tools.metastore, batch, intent, said=said) | refused
        location = order.new_name.location if order.new_name else None
        items = [candidate.intent for candidate in moved]
        kept = kept_directories(tools.fs, ref.directory, items, location=location)
        outcomes |= {
            item: (outcomes[item][0], "; ".join(filter(None, (outcomes[item][1], note))))
            for item, note in kept.items()
            if item in outcomes
        }
    with tools.fail.step("done"):
        done = restore_done(intent, batch, outcomes, at=tools.clock().isoformat(), writer="driver")
        name = restore_done_name(order.run, order.epoch, ref.batch)
        tools.fs.write_new(ref.directory.child(name), done.to_bytes())
    by_item = {candidate.intent.item: candidate.intent for candidate in wanted}
    return left + [
        (table.item(by_item[item.item].partition), item.outcome, item.reason) for item in done.items
    ]


def choose(
    order: RestoreOrder,
    batch: JournalBatch,
    tools: Tools,
    *,
    names: Iterable[str] | None = None,
) -> list[Candidate]:
    """(b) Decide for each asked item what a restore does; nothing is changed (the preview)."""
    if batch.done is None:
        raise StaleState("act.unsettled", "The run that made this backup has not been settled yet.")
    intent = batch.intent
    asked = [
        item
        for item in intent.items
        if order.partitions is None or item.partition in order.partitions
    ]
    now = _look(order, batch, asked, tools)
    steps = restore_steps(tools.fs, batch.directory, intent.batch, names=names)
    restored, mine = restored_items(steps), restored_items(steps, by=order.run)
    under_way = items_under_way(steps)
    is_purged = has_purge_begun(tools.fs, batch)
    outcomes = {one.item: one.outcome for one in batch.done.items}
    listings = tools.lister([batch.directory.child(item.item) for item in asked])

    def decide(item: ItemIntent) -> Candidate:
        home, detail = batch.directory.child(item.item), ""
        if item.item in mine:
            choice = Choice.RESTORED_BEFORE
        elif item.item in restored:
            choice = Choice.ALREADY_RESTORED
        elif item.item in under_way:
            choice = Choice.UNDER_WAY
        elif outcomes.get(item.item) not in IN_BACKUP:
            choice = Choice.NOT_IN_BACKUP
        elif is_purged:
            choice = Choice.PURGED
        elif shortfall(item.files, files_of(listings.get(home, ()), root=home)):
            choice = Choice.DAMAGED
        else:
            choice, detail = _judge(order, batch, item, tools, now=now)
        return Candidate(item, choice, _target(order, item), detail)

    # Side by side, because each asks the file system what stands at its place.
    with ThreadPoolExecutor(WALKERS) as pool:
        return list(pool.map(decide, asked))


def table_choice(order: RestoreOrder, batch: JournalBatch, table: Any) -> Verdict | None:
    """Say why nothing can come into, or take the name of, the table that stands now; or None."""
    into = order.new_name is not None and order.new_name.into
    if table is None:
        return _mismatch(order, batch, "it does not exist") if into else None
    original = from_json(ttypes.Table, batch.intent.table_metadata)
    if order.new_name is None:
        return None if is_same_table(original, table) else (Choice.TABLE_REPLACED, "")
    if not into and not is_rebuilt(original, table):
        return Choice.NAME_TAKEN, ""
    reason = table_mismatch(original, table)
    return _mismatch(order, batch, reason) if reason else None


def target_name(order: RestoreOrder, batch: JournalBatch) -> TableName:
    """Return the table name under which items come back."""
    if order.new_name is not None:
        return TableName(order.lake, order.new_name.db, order.new_name.table)
    return TableName(order.lake, batch.intent.db, batch.intent.table)


def _target(order: RestoreOrder, item: ItemIntent) -> LakePath:
    return target_of(item, order.new_name.location if order.new_name else None)


def _look(
    order: RestoreOrder, batch: JournalBatch, asked: Sequence[ItemIntent], tools: Tools
) -> _Now:
    name = target_name(order, batch)
    table = tools.metastore.table_or_none(name)
    live = structs_of(tools.metastore, name, table, [item.partition for item in asked])
    return _Now(table, live, table_choice(order, batch, table))


def _judge(
    order: RestoreOrder, batch: JournalBatch, item: ItemIntent, tools: Tools, *, now: _Now
) -> Verdict:
    """Judge an item that lies whole in the backup: by its name, then its table, then its place."""
    struct = now.live.get(item.partition)
    if struct is not None:
        return _taken(order, batch, item, struct, tools), ""
    if now.closed is not None:
        return now.closed
    if now.table is not None and order.new_name is not None:
        reason = storage_mismatch(from_json(ttypes.Partition, item.metadata).sd, now.table.sd)
        if reason:
            return _mismatch(order, batch, reason)
    return _place(tools, _target(order, item)), ""


def _taken(
    order: RestoreOrder, batch: JournalBatch, item: ItemIntent, struct: Any, tools: Tools
) -> Choice:
    """Judge an item under whose name something is registered.

    The object that was to be dropped, changed but never dropped, gets its data back.
    """
    if is_ours(struct, batch.intent, item):
        return Choice.ALREADY_RESTORED
    if order.new_name is None and is_same_life(struct, item):
        place = _place(tools, _target(order, item))
        if place is Choice.RESTORE:
            return Choice.DATA_ONLY
        # A partition created again in the second of the old one's creation looks the same, too.
        return Choice.STANDS if order.only_missing and place is Choice.PLACE_TAKEN else place
    return Choice.STANDS if order.only_missing else Choice.NAME_TAKEN


def _mismatch(order: RestoreOrder, batch: JournalBatch, reason: str) -> Verdict:
    return Choice.MISFIT, f"{target_name(order, batch)}: {reason}"


def _place(tools: Tools, target: LakePath) -> Choice:
    """Whether an item can be moved to a place; an empty directory there makes room."""
    if not target.same_file_system(tools.fence.path):
        return Choice.ELSEWHERE
    status = tools.fs.status(target)
    is_free = status is None or (status.is_dir and not tools.fs.children(target))
    return Choice.RESTORE if is_free else Choice.PLACE_TAKEN


def _intent(
    order: RestoreOrder, batch: JournalBatch, wanted: Sequence[Candidate], *, tools: Tools
) -> RestoreIntent:
    name = target_name(order, batch)
    makes_table = bool(wanted[0].intent.partition) and tools.metastore.table_or_none(name) is None
    return RestoreIntent(
        restore=order.run,
        restore_epoch=order.epoch,
        batch=batch.intent.batch,
        at=tools.clock().isoformat(),
        db=name.db,
        table=name.table,
        location=str(order.new_name.location) if order.new_name else "",
        items=tuple(ItemTarget(c.intent.item, c.intent.partition, str(c.target)) for c in wanted),
        makes_table=makes_table,
    )


def _move(
    directory: LakePath, wanted: Sequence[Candidate], tools: Tools
) -> dict[str, tuple[Outcome, str]]:
    """(e) Move each item to its live place; an empty directory standing there makes room.

    Returns the items that the file system refused to move; they stay in the backup.
    """
    refused = {}
    for candidate in wanted:
        with tools.fail.step("rename"):
            tools.alive()
            tools.fail.reach("rename:send")
            home = directory.child(candidate.intent.item)
            try:
                tools.fs.remove_empty_directory(candidate.target)
                tools.fence.move(home, candidate.target, sync=False)
            except PortalError as error:
                refused[candidate.intent.item] = (Outcome.SKIPPED, return_refusal(error))
    moved = [one.target.parent for one in wanted if one.intent.item not in refused]
    tools.fs.sync_directories([directory, *moved])
    return refused


def _verify(moved: Sequence[Candidate], tools: Tools) -> None:
    """(f) What came back holds all that the manifest names."""
    listings = tools.lister([candidate.target for candidate in moved])
    for candidate in moved:
        target = candidate.target
        found = files_of(listings.get(target, ()), root=target)
        lacking = shortfall(candidate.intent.files, found)
        if lacking:
            raise DataSafetyError(
                "act.short_restore",
                f"{target} lacks {lacking[0]} after its move; nothing was registered.",
                path=target,
            )


def _outcome(choice: Choice) -> str:
    if choice is Choice.RESTORED_BEFORE:
        return Outcome.RESTORED
    return Outcome.CONFLICT if choice in CONFLICTS else Outcome.SKIPPED


def _why(candidate: Candidate) -> str:
    return "" if candidate.choice is Choice.RESTORED_BEFORE else candidate.reason
