"""Returns a restore to the backup. Applies the drop protocol to what one restore brought back.

Nothing is destroyed: data goes back to where the restore took it from. Only what stands exactly as
the restore left it goes: written since, altered since, held, or under another mark, it stays.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from lifecycle.backup.domain.control import Control, restored_by
from lifecycle.backup.domain.layout import restore_done_name, restore_intent_name
from lifecycle.backup.engine.extras import Extras
from lifecycle.backup.engine.facts import being_written, generation_of
from lifecycle.backup.engine.files.file_refusal import move_refusal, open_file
from lifecycle.backup.engine.files.live_place import make_room
from lifecycle.backup.engine.files.parent_times import times_kept
from lifecycle.backup.engine.journal.reading import (
    JournalBatch,
    RestoreStep,
    has_purge_begun,
    restore_steps,
    standing_items,
)
from lifecycle.backup.engine.journal.records import (
    ItemIntent,
    ItemTarget,
    Outcome,
    RestoreIntent,
    files_of,
    shortfall,
)
from lifecycle.backup.engine.metastore.empty_table import drop_empty_table
from lifecycle.backup.engine.metastore.extras_change import extras_change
from lifecycle.backup.engine.metastore.extras_return import return_to_added, with_loss
from lifecycle.backup.engine.metastore.registry import drop_exactly, names_registered, structs_of
from lifecycle.backup.engine.metastore.returned import notify_returned
from lifecycle.backup.engine.protocol import ActResult, Tools, check_control
from lifecycle.backup.engine.restore.batches import Report, Said, batch_by_batch
from lifecycle.backup.engine.restore.order import BackupBatchRef
from lifecycle.backup.engine.restore.register import restore_done
from lifecycle.backup.engine.settle.batches import name_of
from lifecycle.backup.engine.undo.facts import is_as_made, metadata_change
from portal.lake.errors import DataSafetyError, PortalError, StaleState
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.lake.paths import LakePath

Outcomes = dict[str, tuple[Outcome, str]]
_PURGED = "the purge of its backup has begun: there is nothing it could go back into"


@dataclass(frozen=True, slots=True)
class UndoOrder:
    """Which restore run is undone, in which claimed batches."""

    run: str
    epoch: int
    lake: LakeId
    restore: str
    batches: tuple[BackupBatchRef, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """One item as a restore brought it back: its manifest, its place and its name."""

    item: ItemIntent
    live: LakePath
    step: RestoreIntent
    came_whole: bool = True

    @property
    def home(self) -> str:
        """The name of the item in the backup."""
        return self.item.item


@dataclass
class _Undo:
    """One batch on its way back: what stands, what was registered, what became of each item."""

    batch: JournalBatch
    name: TableName
    standing: list[Standing]
    structs: dict[str, Any]
    outcomes: Outcomes
    extras: dict[str, Extras]

    def pending(self) -> list[Standing]:
        """Items that nothing has been decided about yet."""
        return [one for one in self.standing if one.home not in self.outcomes]

    def full(self, one: Standing) -> str:
        """Name an item for people."""
        return self.name.item(one.item.partition)


def undo_batches(
    order: UndoOrder,
    *,
    tools_of: Callable[[LakePath], Tools],
    report: Report = lambda _done, _message: None,
) -> ActResult:
    """Take back batch after batch what a restore brought; a second run changes nothing."""
    result = batch_by_batch(
        order.batches, lambda ref: undo_batch(order, ref, tools_of(ref.directory)), report=report
    )
    for directory in dict.fromkeys(ref.directory for ref in order.batches):
        for name, reason in _remove_made_tables(order, directory, tools_of(directory)):
            result.skipped.append({"item": name, "outcome": Outcome.SKIPPED, "reason": reason})
    return result


def undo_batch(order: UndoOrder, ref: BackupBatchRef, tools: Tools) -> Said:
    """Take one batch back through (a) to (i)."""
    control = check_control(tools)
    with tools.fail.step("facts"):
        undo = _facts(order, ref, tools)
        if undo is None:
            return []
        _judge(order, undo, tools, control=control)
    wanted = undo.pending()
    left = [one for one in undo.standing if one.home in undo.outcomes]
    said: Said = [(undo.full(one), *undo.outcomes[one.home]) for one in left]
    if not wanted:
        return said
    with tools.fail.step("intent"):
        intent = _intent(order, undo, wanted, at=tools.clock().isoformat())
        name = restore_intent_name(order.run, order.epoch, ref.batch)
        tools.fs.write_new(ref.directory.child(name), intent.to_bytes())
    with times_kept(tools.fs, [one.live.parent for one in wanted]):
        _move(undo, wanted, tools)
    with tools.fail.step("listing"):
        _verify(undo, tools)
    _drop(undo, tools)
    with tools.fail.step("confirm"):
        is_settled = _confirm(undo, tools)
    if is_settled:
        with tools.fail.step("done"):
            at = tools.clock().isoformat()
            done = restore_done(intent, undo.batch, undo.outcomes, at=at, writer="driver")
            notify_returned(tools.metastore, undo.name, done)
            name = restore_done_name(order.run, order.epoch, ref.batch)
            tools.fs.write_new(ref.directory.child(name), done.to_bytes())
    return said + [(undo.full(one), *undo.outcomes[one.home]) for one in wanted]


def brought_back(batch: JournalBatch, steps: list[RestoreStep], *, by: str) -> list[Standing]:
    """Return what a restore run brought back of a batch and nobody has taken back since.

    A run that was taken over has a step of each epoch; an item came back by one of them.
    """
    standing = standing_items(steps)
    items = {item.item: item for item in batch.intent.items}
    return [
        Standing(
            items[target.item],
            LakePath.parse(target.target),
            step.intent,
            came_whole=not step.done.reason_of(target.item),
        )
        for step in steps
        if step.intent.restore == by and step.done is not None
        for target in step.intent.items
        if (by, target.item) in standing and step.done.outcome_of(target.item) is Outcome.RESTORED
    ]


def _facts(order: UndoOrder, ref: BackupBatchRef, tools: Tools) -> _Undo | None:
    batch = ref.read(tools.fs)
    steps = restore_steps(tools.fs, ref.directory, ref.batch, names=ref.names)
    standing = brought_back(batch, steps, by=order.restore)
    if not standing:
        return None
    name = TableName(order.lake, standing[0].step.db, standing[0].step.table)
    table = tools.metastore.table_or_none(name)
    names = [one.item.partition for one in standing]
    structs = structs_of(tools.metastore, name, table, names)
    return _Undo(batch, name, standing, structs, {}, _extras(name, table, structs, tools))


def _extras(
    name: TableName, table: Any, structs: dict[str, Any], tools: Tools
) -> dict[str, Extras]:
    """Read what belongs to the items now."""
    if table is not None and not table.partitionKeys:
        return {"": tools.extras.of_table(name, table)}
    return tools.extras.of_partitions(
        name, {partition: struct for partition, struct in structs.items() if partition}
    )


def _judge(order: UndoOrder, undo: _Undo, tools: Tools, *, control: Control) -> None:
    """(b) Leave what is not exactly as the restore left it."""
    listings = tools.lister([one.live for one in undo.standing])
    control = without_own_holds(control, order)
    is_purged = has_purge_begun(tools.fs, undo.batch)
    for one in undo.standing:
        name = (undo.name.db, undo.name.table, one.item.partition)
        hold = control.hold_on(*name, now=tools.clock())
        found = files_of(listings.get(one.live, ()), root=one.live)
        reason = (
            (_PURGED if is_purged else "")
            or (f"held: {hold.reason}" if hold else "")
            or metadata_change(undo.batch, one.item, one.step, undo.structs.get(name[2]))
            or extras_change(
                one.item.extras,
                undo.extras[name[2]],
                name=undo.name,
                old=name_of(undo.batch.intent),
                came_whole=one.came_whole,
            )
            or _changed_files(one, found, tools)
        )
        if reason:
            undo.outcomes[one.home] = (Outcome.CONFLICT, reason)


def without_own_holds(control: Control, order: UndoOrder) -> Control:
    """Leave out the holds that the restore itself placed: they are no reason to keep it."""
    own = restored_by(order.restore)
    return control.without_holds(own)


def _changed_files(one: Standing, found: Sequence[Any], tools: Tools) -> str:
    if tuple(found) != one.item.files:
        return "its files were changed since the restore"
    writing = being_written(fact.path for fact in one.item.files)
    if writing:
        return f"a job is writing to it ({writing})"
    return open_file(one.item.files, one.live, tools=tools) or ""


def _intent(order: UndoOrder, undo: _Undo, wanted: Sequence[Standing], *, at: str) -> RestoreIntent:
    return replace(
        wanted[0].step,
        restore=order.run,
        restore_epoch=order.epoch,
        at=at,
        items=tuple(ItemTarget(one.home, one.item.partition, str(one.live)) for one in wanted),
        undoes=order.restore,
        makes_table=False,
    )


def _move(undo: _Undo, wanted: Sequence[Standing], tools: Tools) -> None:
    """(e) Move each item behind the fence, to where the restore took it from."""
    directory = undo.batch.directory
    for one in wanted:
        with tools.fail.step("rename"):
            tools.alive()
            tools.fail.reach("rename:send")
            try:
                tools.fence.move(one.live, directory.child(one.home), sync=False)
            except PortalError as error:
                undo.outcomes[one.home] = (Outcome.SKIPPED, move_refusal(error))
    tools.fs.sync_directories([directory, *{one.live.parent for one in wanted}])


def _verify(undo: _Undo, tools: Tools) -> None:
    """(f) What was moved equals the manifest, else it goes back."""
    directory = undo.batch.directory
    listings = tools.lister([directory.child(one.home) for one in undo.pending()])
    for one in undo.pending():
        home = directory.child(one.home)
        if files_of(listings.get(home, ()), root=home) != one.item.files:
            _take_back(undo, one, tools)


def _take_back(
    undo: _Undo, one: Standing, tools: Tools, *, said: Mapping[str, str] | None = None
) -> None:
    """Give an item back to its readers; where new data stands there by now, settle decides."""
    home = undo.batch.directory.child(one.home)
    found = files_of(tools.lister([home]).get(home, ()), root=home)
    if shortfall(one.item.files, found):
        raise DataSafetyError(
            "act.short_backup",
            f"{home} lacks files of its manifest after its move. Nothing more was dropped; "
            "inspect it "
            "before anything else is done.",
            path=home,
        )
    tools.gate()
    make_room(tools.fs, tools.lister, one.live)
    tools.fence.move(home, one.live)
    reason = with_loss("it changed while it was moved; still restored", said or {}, one.item)
    undo.outcomes[one.home] = (Outcome.RETURNED, reason)


def _drop(undo: _Undo, tools: Tools) -> None:
    """(g) Drop the metadata of exactly these generations; others go back."""
    pending = {one.home: one for one in undo.pending()}
    if not pending:
        return
    live = [
        replace(one.item, generation=generation_of(undo.structs[one.item.partition]))
        for one in pending.values()
    ]
    said: dict[str, str] = {}
    with tools.fail.step("drop"):
        tools.gate()
        changed = drop_exactly(
            tools.metastore,
            undo.name,
            live,
            batch=undo.batch.intent,
            before_send=lambda: tools.fail.reach("drop:send"),
            on_added=lambda added: said.update(return_to_added(tools.metastore, undo.name, added)),
        )
    for intent in changed:
        _take_back(undo, pending[intent.item], tools, said=said)


def _confirm(undo: _Undo, tools: Tools) -> bool:
    """(h) Place empty and name free, else settle looks at it."""
    pending = undo.pending()
    partitions = [one.item.partition for one in pending]
    taken = names_registered(tools.metastore, undo.name, partitions)
    is_settled = True
    for one in pending:
        if one.item.partition in taken or tools.fs.status(one.live) is not None:
            is_settled = False
        undo.outcomes[one.home] = (Outcome.UNDONE, "")
    return is_settled


def _remove_made_tables(
    order: UndoOrder, directory: LakePath, tools: Tools
) -> list[tuple[str, str]]:
    """Drop the empty tables that restores had to make; returns those that stay, with why.

    The one that made a table may have been taken back before the one that came into it.
    """
    steps = restore_steps(tools.fs, directory)
    names = {_names(step) for step in steps if step.intent.restore == order.restore}
    made = {_names(step): step for step in steps if step.intent.makes_table}
    refs = {ref.batch: ref for ref in order.batches if ref.directory == directory}
    stay = []
    for db, plain in made.keys() & names:
        step, name = made[db, plain], TableName(order.lake, db, plain)
        table = tools.metastore.table_or_none(name)
        if table is None or tools.metastore.partition_names(name):
            continue
        control = without_own_holds(check_control(tools), order)
        number = step.intent.batch
        batch = refs.get(number, BackupBatchRef(directory, number)).read(tools.fs)
        if control.hold_on(db, plain, "", now=tools.clock()):
            stay.append((str(name), "the table that the restore made is held"))
        elif not is_as_made(batch, step.intent, table) or extras_change(
            batch.intent.table_extras,
            tools.extras.of_table(name, table),
            name=name,
            old=name_of(batch.intent),
            came_whole=False,
        ):
            stay.append((str(name), "the table that the restore made was altered since"))
        else:
            with tools.fail.step("table"):
                tools.gate()
                if not drop_empty_table(tools.metastore, name):
                    continue  # written to since it was looked at
            _remove_made_directories(
                [one.intent for one in steps if _names(one) == (db, plain)], tools
            )
    return stay


def _names(step: RestoreStep) -> tuple[str, str]:
    return step.intent.db, step.intent.table


def _remove_made_directories(steps: Iterable[RestoreIntent], tools: Tools) -> None:
    """Remove what stood above items under another name; what was there before a drop stays."""
    made = set()
    for step in steps:
        home = LakePath.parse(step.location) if step.location else None
        for target in step.items:
            path = LakePath.parse(target.target).parent
            while home is not None and path.is_at_or_under(home):
                made.add(path)
                path = path.parent
    for path in sorted(made, key=lambda path: len(path.path), reverse=True):
        with suppress(StaleState):
            tools.fs.remove_empty_directory(path)
