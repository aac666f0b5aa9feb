"""Brings to rest what a run left half done, item by item: the settle table of journal.md.

M = what is registered under the name, S = the source holds data, D = the target exists. `decide` is
pure; `settle_directory` looks, decides and acts. It needs no Spark and may be repeated at any time.
It registers nothing: only a probe, which reads the metastore's own database, may do so.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from lifecycle.backup.domain.layout import done_name
from lifecycle.backup.engine.facts import Lister
from lifecycle.backup.engine.files.live_place import is_taken, make_room
from lifecycle.backup.engine.files.parent_times import set_times, times_kept
from lifecycle.backup.engine.journal.reading import JournalBatch, batch_numbers, read_batch
from lifecycle.backup.engine.journal.records import (
    BatchDone,
    BatchIntent,
    FileFact,
    ItemDone,
    ItemIntent,
    Outcome,
    files_of,
    shortfall,
)
from lifecycle.backup.engine.metastore.extras_due import return_due
from lifecycle.backup.engine.metastore.extras_return import return_to_added, with_loss
from lifecycle.backup.engine.metastore.registry import NameState, drop_exactly, name_states
from lifecycle.backup.engine.metastore.returned import notify_returned
from portal.connectors.file_status import REFUSED, FileSystem, rename_and_look
from portal.connectors.metastore import Metastore
from portal.lake.errors import DataSafetyError, ExternalFailure, PortalError, StaleState
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.lake.paths import LakePath


class Verdict(StrEnum):
    """What an item's state means."""

    NOTHING_HAPPENED = "NOTHING_HAPPENED"
    HALF_DONE = "HALF_DONE"
    CHANGED = "CHANGED"
    """Somebody changed the metadata while the data was away; it is registered at its old place."""
    DONE = "DONE"
    NEW_DATA = "NEW_DATA"
    DROPPED_BY_OTHERS = "DROPPED_BY_OTHERS"
    DANGER = "DANGER"


_TABLE = {
    (NameState.SAME, True, False): Verdict.NOTHING_HAPPENED,
    (NameState.SAME, False, True): Verdict.HALF_DONE,
    (NameState.CHANGED, False, True): Verdict.CHANGED,
    (NameState.FREE, False, True): Verdict.DONE,
    (NameState.SAME, True, True): Verdict.NEW_DATA,
    (NameState.CHANGED, True, True): Verdict.NEW_DATA,
    (NameState.FREE, True, True): Verdict.NEW_DATA,
    (NameState.CHANGED, True, False): Verdict.DROPPED_BY_OTHERS,
    (NameState.FREE, True, False): Verdict.DROPPED_BY_OTHERS,
}


def decide(
    name: NameState, *, has_source: bool, has_target: bool, is_short: bool = False
) -> Verdict:
    """Decide what M, S, D and the backup's completeness mean; whatever is not known is danger."""
    if has_target and is_short:
        return Verdict.DANGER
    return _TABLE.get((name, has_source, has_target), Verdict.DANGER)


_STUCK = ("fs.not_empty", REFUSED)
_CHANGED = "undone: its metadata was changed meanwhile, or it is not ready"
_STOPPED = "undone: paused, no longer approved, or its files changed"


@dataclass(frozen=True, slots=True)
class Sight:
    """What settle saw of one item."""

    intent: ItemIntent
    name: NameState
    verdict: Verdict
    has_changed: bool


@dataclass(frozen=True, slots=True)
class SettleTools:
    """What settle works with; `may_finish` is asked before anything more is dropped."""

    fs: FileSystem
    metastore: Metastore
    lister: Lister
    now: datetime
    may_finish: Callable[[], bool]


def settle_directory(directory: LakePath, tools: SettleTools) -> dict[str, int]:
    """Settle every intent without done in a sealed directory; gives counts by outcome.

    Raises:
        DataSafetyError: `act.lost` after everything that is not in danger has been settled; the
            batch in danger gets no done file and is looked at again next time.
    """
    counts: dict[str, int] = {}
    danger: list[str] = []
    for number in batch_numbers(tools.fs, directory):
        try:
            batch = read_batch(tools.fs, directory, number)
        except DataSafetyError as error:
            danger.append(f"batch {number} ({error.message.rstrip('.')})")
            continue
        if batch.done is not None:
            continue
        sights = look(batch, tools)
        lost = [
            name_of(batch.intent).item(s.intent.partition)
            for s in sights
            if s.verdict is Verdict.DANGER
        ]
        if lost:
            danger += lost
            continue
        try:
            done = _bring_to_rest(batch, sights, tools, may_drop=not danger)
        except PortalError as error:
            danger.append(stuck(error, name_of(batch.intent)))
            continue
        notify_returned(tools.metastore, name_of(batch.intent), done)
        write_done(tools.fs, directory.child(done_name(batch.intent.batch)), done)
        for item in done.items:
            counts[item.outcome] = counts.get(item.outcome, 0) + 1
    if danger:
        raise out_of_place(danger, directory, what="items")
    return counts


def out_of_place(
    danger: Sequence[str], directory: LakePath, *, what: str, where: str = ""
) -> DataSafetyError:
    """Give the error for items that only a person can bring to rest; `where` names their places."""
    return DataSafetyError(
        "act.lost",
        f"{len(danger)} {what} cannot be brought to rest, first {danger[0]}. Stop all acting, "
        f"compare the intent file with the lake{where}, repair it by hand, and then settle the run "
        "again with manage.py settle_run.",
        items=danger[:20],
        directory=directory,
    )


def stuck(error: PortalError, name: TableName) -> str:
    """Return the words for a batch that stays unsettled while others go on, or raise `error`.

    Only what the file system refuses for good, or a job that writes to the place, is such a case.
    """
    if error.code not in _STUCK:
        raise error
    return f"{name} ({error.message.rstrip('.')})"


def look(batch: JournalBatch, tools: SettleTools) -> list[Sight]:
    """Probe M, S and D of every item of a batch."""
    names = name_states(tools.metastore, name_of(batch.intent), batch.intent.items)
    targets = {intent.item: batch.directory.child(intent.item) for intent in batch.intent.items}
    listings = tools.lister(list(targets.values()))
    sights = []
    for intent in batch.intent.items:
        target = targets[intent.item]
        found = files_of(listings.get(target, ()), root=target)
        name = names[intent.item]
        verdict = decide(
            name,
            has_source=is_taken(
                tools.fs, tools.lister, LakePath.parse(intent.source), has_backup=bool(found)
            ),
            has_target=bool(found),
            is_short=bool(found) and bool(shortfall(intent.files, found)),
        )
        sights.append(Sight(intent, name, verdict, has_changed=found != intent.files))
    return sights


def _bring_to_rest(
    batch: JournalBatch, sights: list[Sight], tools: SettleTools, *, may_drop: bool
) -> BatchDone:
    said = _return_due(batch, sights, tools)
    half = [sight for sight in sights if sight.verdict is Verdict.HALF_DONE]
    finish = bool(half) and may_drop and tools.may_finish()
    outcomes = {sight.intent.item: _outcome_at_rest(sight) for sight in sights}
    back = {
        sight.intent.item: _CHANGED if sight.verdict is Verdict.CHANGED else _STOPPED
        for sight in sights
        if sight.verdict is Verdict.CHANGED or (sight in half and (sight.has_changed or not finish))
    }
    on = [sight.intent for sight in half if sight.intent.item not in back]
    if on:
        dropped, kept = _finish(batch, on, tools)
        outcomes |= dropped
        back |= kept
    for intent in batch.intent.items:
        if intent.item in back:
            outcomes[intent.item] = _take_back(batch, intent, tools, reason=back[intent.item])
        outcome, reason = outcomes[intent.item]
        outcomes[intent.item] = outcome, with_loss(reason, said, intent)
    return settled(batch.intent, outcomes, now=tools.now)


def _return_due(batch: JournalBatch, sights: list[Sight], tools: SettleTools) -> dict[str, str]:
    """Bring back what belongs to what the driver added again; gives by item what did not come."""
    changed = [sight for sight in sights if sight.name is NameState.CHANGED]
    if not changed:
        return {}
    return return_due(
        tools.metastore,
        batch.intent,
        [sight.intent for sight in changed],
        name=name_of(batch.intent),
        newer={sight.intent.item for sight in changed if sight.verdict is Verdict.NEW_DATA},
    )


def _finish(
    batch: JournalBatch, on: Sequence[ItemIntent], tools: SettleTools
) -> tuple[dict[str, tuple[Outcome, str]], dict[str, str]]:
    """Drop the metadata of what is half done; returns what became of it, and what must go back."""
    name = name_of(batch.intent)
    said: dict[str, str] = {}
    kept = drop_exactly(
        tools.metastore,
        name,
        on,
        batch=batch.intent,
        on_added=lambda added: said.update(return_to_added(tools.metastore, name, added)),
    )
    states = name_states(tools.metastore, name, kept)
    outcomes = {}
    for intent in on:
        source = LakePath.parse(intent.source)
        is_new = is_taken(tools.fs, tools.lister, source, has_backup=True)
        if intent not in kept and is_new:
            outcomes[intent.item] = _new_data(NameState.FREE)
        elif intent not in kept:
            outcomes[intent.item] = (Outcome.DROPPED, "finished by settle")
        elif states[intent.item] is NameState.FREE:
            outcomes[intent.item] = (Outcome.DROPPED, "somebody else dropped its metadata")
    back = [one for one in kept if one.item not in outcomes]
    return outcomes, {one.item: with_loss(_CHANGED, said, one) for one in back}


def _outcome_at_rest(sight: Sight) -> tuple[Outcome, str]:
    match sight.verdict:
        case Verdict.NOTHING_HAPPENED:
            return Outcome.SKIPPED, "nothing happened; back to planning"
        case Verdict.DROPPED_BY_OTHERS:
            what = "dropped" if sight.name is NameState.FREE else "changed"
            return Outcome.GONE, f"someone else {what} the metadata; the data still stands"
        case Verdict.NEW_DATA:
            return _new_data(sight.name)
        case _:
            return Outcome.DROPPED, ""


def _new_data(name: NameState) -> tuple[Outcome, str]:
    if name is NameState.FREE:
        return Outcome.NEW_DATA, "new data at the old place; the next probe judges whose it is"
    return Outcome.NEW_DATA, "new data at the old place; it stays registered"


def _take_back(
    batch: JournalBatch, intent: ItemIntent, tools: SettleTools, *, reason: str
) -> tuple[Outcome, str]:
    """Rename the backup to its old place; new data that came there meanwhile is left alone."""
    source = LakePath.parse(intent.source)
    make_parents(tools.fs, intent.parents)
    try:
        give_back(tools, batch.directory.child(intent.item), source)
    except StaleState as error:
        if error.code != "fs.exists":
            raise
        return _new_data(NameState.SAME)
    return Outcome.RETURNED, reason


def give_back(tools: SettleTools, home: LakePath, live: LakePath) -> None:
    """Move an item from the backup to its live place; empty directories there make room.

    Raises:
        StaleState: `fs.exists`, files are there; `fs.not_empty`, a job is writing there.
    """
    make_room(tools.fs, tools.lister, live)
    rename_and_look(tools.fs, home, live)


def make_parents(fs: FileSystem, parents: tuple[FileFact, ...], *, keep_times: bool = True) -> int:
    """Make missing directories above an item as they were recorded; returns how many.

    With `keep_times` they get their recorded times, and the one above them keeps its own.
    """
    paths = {LakePath.parse(fact.path): fact for fact in parents}
    missing = {path: fact for path, fact in paths.items() if fs.status(path) is None}
    if not missing:
        return 0
    with times_kept(fs, [next(iter(missing)).parent] if keep_times else []):
        made = [path for path, fact in missing.items() if _make_parent(fs, path, fact)]
        if keep_times:
            set_times(fs, {path: missing[path].mtime_ms for path in reversed(made)})
    return len(made)


def _make_parent(fs: FileSystem, path: LakePath, fact: FileFact) -> bool:
    try:
        fs.make_directory(path, mode=fact.mode)
    except StaleState as error:
        if error.code != "fs.exists":
            raise
        return False
    status = fs.status(path)
    if status is not None and (status.owner, status.group) != (fact.owner, fact.group):
        # Only a superuser may give a directory away; the data below keeps its own owner.
        with suppress(ExternalFailure):
            fs.set_owner(path, fact.owner, fact.group)
    if fact.acl:
        fs.set_acl(path, fact.acl)
    return True


def name_of(intent: BatchIntent) -> TableName:
    """Return the table that a batch belongs to."""
    return TableName(LakeId(intent.lake), intent.db, intent.table)


def settled(
    intent: BatchIntent, outcomes: Mapping[str, tuple[Outcome, str]], *, now: datetime
) -> BatchDone:
    """Say what became of a batch that was brought to rest."""
    return BatchDone(
        run=intent.run,
        epoch=intent.epoch,
        batch=intent.batch,
        at=now.isoformat(),
        writer="settle",
        items=tuple(
            ItemDone(item.item, item.partition, *outcomes[item.item]) for item in intent.items
        ),
    )


def write_done(fs: FileSystem, path: LakePath, done: BatchDone) -> None:
    """Write the last word about a batch, unless another settle was first: then its word stands."""
    try:
        fs.write_new(path, done.to_bytes())
    except StaleState as error:
        if error.code != "fs.exists":
            raise
