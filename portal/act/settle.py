"""What has a run left half done, and how is each item brought to rest? The settle table.

M = the same generation is registered, S = the source exists, D = the target exists. `decide` is
pure; `settle_directory` looks, decides and acts. It needs no Spark and may be repeated at any time.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from portal.act.facts import DDL_TIME, Lister
from portal.act.journal import JournalBatch, batches
from portal.act.layout import done_name
from portal.act.parent_times import set_times, times_kept
from portal.act.records import (
    BatchDone,
    BatchIntent,
    FileFact,
    ItemDone,
    ItemIntent,
    Outcome,
    files_of,
    shortfall,
)
from portal.act.registry import (
    add_again,
    drop_exactly,
    names_registered,
    same_generation,
)
from portal.act.returned import tell_returned
from portal.connectors.file_status import FileSystem
from portal.connectors.metastore import Metastore
from portal.lake.errors import DataSafetyError, ExternalFailure, StaleState
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.lake.paths import LakePath


class Verdict(StrEnum):
    """What an item's state means."""

    NOTHING_HAPPENED = "NOTHING_HAPPENED"
    HALF_DONE = "HALF_DONE"
    DONE = "DONE"
    NEW_DATA = "NEW_DATA"
    DROPPED_BY_OTHERS = "DROPPED_BY_OTHERS"
    DANGER = "DANGER"


_TABLE = {
    (True, True, False): Verdict.NOTHING_HAPPENED,
    (True, False, True): Verdict.HALF_DONE,
    (False, False, True): Verdict.DONE,
    (True, True, True): Verdict.NEW_DATA,
    (False, True, True): Verdict.NEW_DATA,
    (False, True, False): Verdict.DROPPED_BY_OTHERS,
}


def decide(
    *, is_registered: bool, has_source: bool, has_target: bool, is_short: bool = False
) -> Verdict:
    """Decide what M, S, D and the backup's completeness mean; whatever is not known is danger."""
    if has_target and is_short:
        return Verdict.DANGER
    return _TABLE.get((is_registered, has_source, has_target), Verdict.DANGER)


@dataclass(frozen=True, slots=True)
class Sight:
    """What settle saw of one item."""

    intent: ItemIntent
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
    for batch in batches(tools.fs, directory):
        if batch.done is not None:
            continue
        sights = look(batch, tools)
        lost = [_full(batch.intent, s.intent) for s in sights if s.verdict is Verdict.DANGER]
        if lost:
            danger += lost
            continue
        done = _bring_to_rest(batch, sights, tools, may_drop=not danger)
        tell_returned(tools.metastore, name_of(batch.intent), done)
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
        f"{len(danger)} {what} are where no step could have left them, first {danger[0]}. Stop all "
        f"acting, compare the intent file with the lake{where}, and mend it by hand.",
        items=danger[:20],
        directory=directory,
    )


def look(batch: JournalBatch, tools: SettleTools) -> list[Sight]:
    """Probe M, S and D of every item of a batch."""
    name = name_of(batch.intent)
    same = {intent.item for intent in same_generation(tools.metastore, name, batch.intent.items)}
    targets = {intent.item: batch.directory.child(intent.item) for intent in batch.intent.items}
    listings = tools.lister(list(targets.values()))
    sights = []
    for intent in batch.intent.items:
        target = targets[intent.item]
        found = files_of(listings.get(target, ()), root=target)
        verdict = decide(
            is_registered=intent.item in same,
            has_source=tools.fs.status(LakePath.parse(intent.source)) is not None,
            has_target=bool(found),
            is_short=bool(found) and bool(shortfall(intent.files, found)),
        )
        sights.append(Sight(intent, verdict, has_changed=found != intent.files))
    return sights


def _bring_to_rest(
    batch: JournalBatch, sights: list[Sight], tools: SettleTools, *, may_drop: bool
) -> BatchDone:
    half = [sight for sight in sights if sight.verdict is Verdict.HALF_DONE]
    finish = bool(half) and may_drop and tools.may_finish()
    outcomes = {sight.intent.item: _outcome_at_rest(sight) for sight in sights}
    back = [sight.intent for sight in half if sight.has_changed or not finish]
    on = [sight.intent for sight in half if not sight.has_changed and finish]
    if on:
        kept = drop_exactly(tools.metastore, name_of(batch.intent), on)
        on = [intent for intent in on if intent not in kept]
        back += kept
    for intent in on:
        outcomes[intent.item] = (Outcome.DROPPED, "finished by settle")
    for intent in back:
        outcomes[intent.item] = _take_back(batch, intent, tools)
    register = [
        sight.intent
        for sight in sights
        if sight.verdict is Verdict.NEW_DATA
        or (sight.intent in on and _exists(tools.fs, sight.intent.source))
    ]
    for intent in register:
        outcomes[intent.item] = (Outcome.NEW_DATA, "new data at the old place; it stays registered")
    register_new_data(batch.intent, register, tools)
    return settled(batch.intent, outcomes, now=tools.now)


def _outcome_at_rest(sight: Sight) -> tuple[Outcome, str]:
    match sight.verdict:
        case Verdict.NOTHING_HAPPENED:
            return Outcome.SKIPPED, "nothing happened; back to planning"
        case Verdict.DROPPED_BY_OTHERS:
            return Outcome.GONE, "someone else dropped the metadata; the data still stands"
        case _:
            return Outcome.DROPPED, ""


def _take_back(batch: JournalBatch, intent: ItemIntent, tools: SettleTools) -> tuple[Outcome, str]:
    """Rename the backup to its old place; new data that came there meanwhile is left alone."""
    source = LakePath.parse(intent.source)
    make_parents(tools.fs, intent.parents)
    try:
        tools.fs.rename(batch.directory.child(intent.item), source)
    except StaleState as error:
        if error.code != "fs.exists":
            raise
        return Outcome.NEW_DATA, "new data at the old place; it stays registered"
    return Outcome.RETURNED, "taken back: paused, no longer approved, changed, or not ready"


def register_new_data(
    intent: BatchIntent, items: Sequence[ItemIntent], tools: SettleTools
) -> frozenset[str]:
    """Register what stands at the live places under names that are free; gives those names."""
    if not items:
        return frozenset()
    taken = names_registered(tools.metastore, name_of(intent), [item.partition for item in items])
    free = [item for item in items if item.partition not in taken]
    add_again(tools.metastore, intent, free, change=without_statistics, keep_statistics=False)
    return frozenset(item.partition for item in free)


def without_statistics(struct: Any, _intent: ItemIntent) -> Any:
    """Take away what described the old data; the metastore sets a fresh DDL time by itself."""
    stale = {DDL_TIME, "numRows", "rawDataSize", "numFiles", "totalSize", "COLUMN_STATS_ACCURATE"}
    struct.parameters = {
        key: value
        for key, value in (struct.parameters or {}).items()
        if key not in stale and not key.startswith("spark.sql.statistics.")
    }
    return struct


def make_parents(fs: FileSystem, parents: tuple[FileFact, ...], *, keep_times: bool = True) -> int:
    """Make missing directories above an item as they were recorded; gives how many.

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
    """Give the table that a batch belongs to."""
    return TableName(LakeId(intent.lake), intent.db, intent.table)


def _full(intent: BatchIntent, item: ItemIntent) -> str:
    return f"{intent.db}.{intent.table}" + (f"/{item.partition}" if item.partition else "")


def _exists(fs: FileSystem, path: str) -> bool:
    return fs.status(LakePath.parse(path)) is not None


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
