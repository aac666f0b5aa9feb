"""How does a backup come back? The drop machine reversed, one batch of one backup at a time.

Identity is the generation: a name or place that something newer has taken is a conflict and stays
as it is. Only what is missing is restored, so a second run changes nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pymetastore.hive_metastore import ttypes

from portal.act.journal import (
    JournalBatch,
    has_purge_begun,
    read_batch,
    restore_steps,
    restored_items,
)
from portal.act.layout import restore_done_name, restore_intent_name
from portal.act.protocol import ActResult, Tools, check_control
from portal.act.records import (
    IN_BACKUP,
    BatchDone,
    FileFact,
    ItemDone,
    ItemIntent,
    ItemTarget,
    Outcome,
    RestoreIntent,
    files_of,
    shortfall,
)
from portal.act.registry import add_again, structs_of
from portal.act.tags import RESTORED_FROM, is_same_table, tag_of, tagged, tagged_table
from portal.connectors.metastore import Metastore, from_json
from portal.lake.errors import DataSafetyError, StaleState
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.lake.paths import LakePath

Report = Callable[[int, str], None]


class Choice(StrEnum):
    """What a restore does, or would do, with one item."""

    RESTORE = "RESTORE"
    ALREADY_RESTORED = "ALREADY_RESTORED"
    NOT_IN_BACKUP = "NOT_IN_BACKUP"
    NAME_TAKEN = "NAME_TAKEN"
    PLACE_TAKEN = "PLACE_TAKEN"
    TABLE_REPLACED = "TABLE_REPLACED"
    DAMAGED = "DAMAGED"
    PURGED = "PURGED"


CONFLICTS = frozenset(
    {Choice.NAME_TAKEN, Choice.PLACE_TAKEN, Choice.TABLE_REPLACED, Choice.DAMAGED, Choice.PURGED}
)
WHY = {
    Choice.RESTORE: "name and place are free",
    Choice.ALREADY_RESTORED: "already restored",
    Choice.NOT_IN_BACKUP: "was not dropped by this run",
    Choice.NAME_TAKEN: "something newer is registered under this name",
    Choice.PLACE_TAKEN: "new data stands at the old place",
    Choice.TABLE_REPLACED: "another table was made under this name since",
    Choice.DAMAGED: "the backup lacks files of its manifest",
    Choice.PURGED: "the backup was purged",
}


@dataclass(frozen=True, slots=True)
class NewName:
    """Another name to restore under; the data goes below `location`."""

    db: str
    table: str
    location: LakePath


@dataclass(frozen=True, slots=True)
class BackupBatchRef:
    """One batch to restore from, in its claimed (or, for a preview, sealed) directory."""

    directory: LakePath
    batch: int


@dataclass(frozen=True, slots=True)
class RestoreOrder:
    """What a restore run was asked to do; `partitions` names those wanted, None = all."""

    run: str
    epoch: int
    lake: LakeId
    batches: tuple[BackupBatchRef, ...]
    partitions: frozenset[str] | None = None
    new_name: NewName | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One item with what would be done, and where it would go."""

    intent: ItemIntent
    choice: Choice
    target: LakePath

    @property
    def why(self) -> str:
        """The reason as people read it."""
        return WHY[self.choice]


def restore_batches(
    order: RestoreOrder,
    *,
    tools_of: Callable[[LakePath], Tools],
    report: Report = lambda _done, _message: None,
) -> ActResult:
    """Restore batch after batch; `tools_of` gives the tools behind the fence of a directory."""
    result = ActResult()
    n_done = 0
    for ref in order.batches:
        done = restore_batch(order, ref, tools_of(ref.directory))
        for name, outcome, reason in done:
            result.count(outcome, name=name, reason=reason)
        result.n_batches += 1
        n_done += len(done)
        report(n_done, f"batch {ref.batch}: {len(done)} items")
    return result


def restore_batch(
    order: RestoreOrder, ref: BackupBatchRef, tools: Tools
) -> list[tuple[str, str, str]]:
    """Take one batch back through (a) to (i); gives (name, outcome, reason) of each item."""
    check_control(tools)
    with tools.fail.step("facts"):
        batch = read_batch(tools.fs, ref.directory, ref.batch)
        candidates = choose(order, batch, tools)
    wanted = [candidate for candidate in candidates if candidate.choice is Choice.RESTORE]
    said = [
        (_full(order, batch, c.intent), _outcome(c.choice), c.why)
        for c in candidates
        if c.choice is not Choice.RESTORE
    ]
    if not wanted:
        return said
    with tools.fail.step("intent"):
        intent = _intent(order, batch, wanted, at=tools.clock().isoformat())
        name = restore_intent_name(order.run, order.epoch, ref.batch)
        tools.fs.write_new(ref.directory.child(name), intent.to_bytes())
    moved = _move(ref.directory, wanted, tools)
    with tools.fail.step("listing"):
        _verify(moved, tools)
    with tools.fail.step("register"):
        tools.gate()
        tools.fail.reach("register:send")
        register(tools.metastore, batch, intent)
    with tools.fail.step("confirm"):
        outcomes = confirm(tools.metastore, batch, intent)
    with tools.fail.step("done"):
        done = restore_done(intent, batch, outcomes, at=tools.clock().isoformat(), writer="driver")
        name = restore_done_name(order.run, order.epoch, ref.batch)
        tools.fs.write_new(ref.directory.child(name), done.to_bytes())
    by_item = {candidate.intent.item: candidate.intent for candidate in wanted}
    return said + [
        (_full(order, batch, by_item[item.item]), item.outcome, item.reason) for item in done.items
    ]


def choose(order: RestoreOrder, batch: JournalBatch, tools: Tools) -> list[Candidate]:
    """(b) Decide for each asked item what a restore does; nothing is changed (the preview)."""
    if batch.done is None:
        raise StaleState("act.unsettled", "The run that made this backup has not been settled yet.")
    intent = batch.intent
    asked = [
        item
        for item in intent.items
        if order.partitions is None or item.partition in order.partitions
    ]
    name = target_name(order, batch)
    table = tools.metastore.table_or_none(name)
    live = structs_of(tools.metastore, name, table, [item.partition for item in asked])
    steps = restore_steps(tools.fs, batch.directory, intent.batch)
    restored = restored_items(steps)
    is_purged = has_purge_begun(tools.fs, batch)
    listings = tools.lister([batch.directory.child(item.item) for item in asked])
    found = []
    for item in asked:
        home = batch.directory.child(item.item)
        target = target_of(order, item)
        if item.item in restored:
            choice = Choice.ALREADY_RESTORED
        elif batch.done.outcome_of(item.item) not in IN_BACKUP:
            choice = Choice.NOT_IN_BACKUP
        elif is_purged:
            choice = Choice.PURGED
        elif shortfall(item.files, files_of(listings.get(home, ()), root=home)):
            choice = Choice.DAMAGED
        else:
            choice = _live_choice(batch, item, table, live, is_new_name=bool(order.new_name))
            if choice is Choice.RESTORE and not _is_free(tools, target):
                choice = Choice.PLACE_TAKEN
        found.append(Candidate(item, choice, target))
    return found


def target_name(order: RestoreOrder, batch: JournalBatch) -> TableName:
    """Give the table name under which items come back."""
    if order.new_name is not None:
        return TableName(order.lake, order.new_name.db, order.new_name.table)
    return TableName(order.lake, batch.intent.db, batch.intent.table)


def target_of(order: RestoreOrder, item: ItemIntent) -> LakePath:
    """Give the place to which an item comes back."""
    if order.new_name is None:
        return LakePath.parse(item.source)
    location = order.new_name.location
    return location.child(*item.partition.split("/")) if item.partition else location


def register(
    metastore: Metastore,
    batch: JournalBatch,
    intent: RestoreIntent,
    *,
    only: frozenset[str] | None = None,
) -> None:
    """(g) Register the moved items, their statistics left alone; names taken stay as they are."""
    targets = {
        target.item: target.target for target in intent.items if only is None or target.item in only
    }
    items = [item for item in batch.intent.items if item.item in targets]
    is_new = (intent.db, intent.table) != (batch.intent.db, batch.intent.table)
    rename = (intent.db, intent.table, intent.location) if is_new else None

    def change(struct: Any, item: ItemIntent) -> Any:
        tag = tag_of(batch.intent, item)
        return tagged(struct, tag=tag, rename=rename, target=targets[item.item])

    add_again(
        metastore,
        batch.intent,
        items,
        change=change,
        change_table=lambda table: tagged_table(table, rename=rename),
    )


def confirm(
    metastore: Metastore, batch: JournalBatch, intent: RestoreIntent
) -> dict[str, tuple[Outcome, str]]:
    """(h) Look which items are registered as ours."""
    ours = registered_as_ours(metastore, batch, intent)
    return {
        target.item: (Outcome.RESTORED, "")
        if target.item in ours
        else (Outcome.CONFLICT, "the name was taken meanwhile; the data stands at its place")
        for target in intent.items
    }


def registered_as_ours(
    metastore: Metastore, batch: JournalBatch, intent: RestoreIntent
) -> frozenset[str]:
    """Give the items that stand registered with the mark of this backup."""
    name = TableName(LakeId(batch.intent.lake), intent.db, intent.table)
    table = metastore.table_or_none(name)
    live = structs_of(metastore, name, table, [target.partition for target in intent.items])
    by_item = {item.item: item for item in batch.intent.items}
    return frozenset(
        target.item
        for target in intent.items
        if (struct := live.get(target.partition)) is not None
        and (struct.parameters or {}).get(RESTORED_FROM)
        == tag_of(batch.intent, by_item[target.item])
    )


def restore_done(
    intent: RestoreIntent,
    batch: JournalBatch,
    outcomes: dict[str, tuple[Outcome, str]],
    *,
    at: str,
    writer: str,
) -> BatchDone:
    """Build the word on what became of a restore step."""
    return BatchDone(
        run=batch.intent.run,
        epoch=batch.intent.epoch,
        batch=batch.intent.batch,
        at=at,
        writer=writer,
        items=tuple(
            ItemDone(target.item, target.partition, *outcomes[target.item])
            for target in intent.items
        ),
        target={"db": intent.db, "table": intent.table, "restore": intent.restore},
    )


def _live_choice(
    batch: JournalBatch,
    item: ItemIntent,
    table: Any,
    live: dict[str, Any],
    *,
    is_new_name: bool,
) -> Choice:
    struct = live.get(item.partition) if item.partition or table is not None else None
    if table is not None and not item.partition:
        struct = table
    if struct is not None:
        ours = (struct.parameters or {}).get(RESTORED_FROM) == tag_of(batch.intent, item)
        return Choice.ALREADY_RESTORED if ours else Choice.NAME_TAKEN
    if table is not None and not is_new_name:
        original = from_json(ttypes.Table, batch.intent.table_metadata)
        if not is_same_table(original, table):
            return Choice.TABLE_REPLACED
    return Choice.RESTORE


def _is_free(tools: Tools, target: LakePath) -> bool:
    """Whether nothing stands at a place; an empty directory is nothing."""
    status = tools.fs.status(target)
    return status is None or (status.is_dir and not tools.fs.children(target))


def _intent(
    order: RestoreOrder, batch: JournalBatch, wanted: Sequence[Candidate], *, at: str
) -> RestoreIntent:
    name = target_name(order, batch)
    return RestoreIntent(
        restore=order.run,
        restore_epoch=order.epoch,
        batch=batch.intent.batch,
        at=at,
        db=name.db,
        table=name.table,
        location=str(order.new_name.location) if order.new_name else "",
        items=tuple(ItemTarget(c.intent.item, c.intent.partition, str(c.target)) for c in wanted),
    )


def _move(
    directory: LakePath, wanted: Iterable[Candidate], tools: Tools
) -> list[tuple[LakePath, tuple[FileFact, ...]]]:
    """(e) Move each item to its live place; an empty directory standing there makes room."""
    moved = []
    for candidate in wanted:
        with tools.fail.step("rename"):
            tools.alive()
            tools.fail.reach("rename:send")
            tools.fs.remove_empty_directory(candidate.target)
            home = directory.child(candidate.intent.item)
            tools.fence.move(home, candidate.target, sync=False)
        moved.append((candidate.target, candidate.intent.files))
    tools.fs.sync_directories([directory, *(target.parent for target, _ in moved)])
    return moved


def _verify(moved: list[tuple[LakePath, tuple[FileFact, ...]]], tools: Tools) -> None:
    """(f) What came back holds all that the manifest names."""
    listings = tools.lister([target for target, _ in moved])
    for target, files in moved:
        lacking = shortfall(files, files_of(listings.get(target, ()), root=target))
        if lacking:
            raise DataSafetyError(
                "act.short_restore",
                f"{target} lacks {lacking[0]} after its move; nothing was registered.",
                path=target,
            )


def _outcome(choice: Choice) -> str:
    return Outcome.CONFLICT if choice in CONFLICTS else Outcome.SKIPPED


def _full(order: RestoreOrder, batch: JournalBatch, item: ItemIntent) -> str:
    name = target_name(order, batch)
    return f"{name}/{item.partition}" if item.partition else str(name)
