"""When may a backup be destroyed, and how? The only irreversible step of the whole product.

It happens only where marker file, manifest, catalogue and age agree, no live location lies under
the backup, nothing holds it and no restore has it (its directory is claimed by rename). Files go
one by one as the manifest names them; anything the manifest does not know stops the batch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from portal.act.control import Control
from portal.act.journal import JournalBatch, read_batch, restore_steps, restored_items
from portal.act.layout import done_name, intent_name, purged_name
from portal.act.probes import probe_batch
from portal.act.protocol import DropResult, Tools, check_control
from portal.act.records import IN_BACKUP, ItemIntent, files_of
from portal.act.settle import SettleTools
from portal.lake.errors import StaleState
from portal.lake.paths import LakePath

MINIMUM_DAYS = 15
SLICE_FILES = 500
Report = Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class PurgeBatch:
    """One batch as the catalogue knows it, in its claimed directory."""

    directory: LakePath
    batch: int
    day: date
    manifest_sha256: str
    purge_after: datetime
    # Days for which the clock stood because restore could not be used.
    stopped_days: int = 0


@dataclass(frozen=True, slots=True)
class PurgeOrder:
    """What a purge run may destroy; `has_live`: a live location lies in the same day's backups."""

    run: str
    batches: tuple[PurgeBatch, ...]
    has_live: bool


def purge_refusal(
    batch: JournalBatch, wanted: PurgeBatch, *, now: datetime, is_live: bool
) -> str | None:
    """Say why a batch must not be destroyed (yet), or None. Pure."""
    keep = timedelta(days=max(MINIMUM_DAYS, batch.intent.keep_days) + wanted.stopped_days)
    dropped_at = datetime.fromisoformat(batch.done.at) if batch.done else None
    if dropped_at is None:
        return "its run was not settled"
    if batch.sha256 != wanted.manifest_sha256:
        return "its manifest is not the one in the catalogue"
    if now < wanted.purge_after or now < dropped_at + keep:
        return "its days are not over"
    if is_live:
        return "a live table or partition lies under it"
    return None


def purge_batches(
    order: PurgeOrder, tools: Tools, *, report: Report = lambda _done, _message: None
) -> DropResult:
    """Destroy batch after batch; what does not fit every condition stays and is reported."""
    result = DropResult()
    for n, wanted in enumerate(order.batches, start=1):
        outcome, reason = purge_batch(order, wanted, tools)
        name = f"{wanted.directory.name}/{wanted.batch}"
        result.count(outcome, name=name, reason=reason)
        result.n_batches += 1
        report(n, f"batch {name}: {outcome.lower()} {reason}".rstrip())
    return result


def purge_batch(order: PurgeOrder, wanted: PurgeBatch, tools: Tools) -> tuple[str, str]:
    """Destroy one batch; begun ones are gone on with. Gives (PURGED or SKIPPED, reason)."""
    control = check_control(tools)
    with tools.fail.step("facts"):
        batch = read_batch(tools.fs, wanted.directory, wanted.batch)
        why = purge_refusal(batch, wanted, now=tools.clock(), is_live=order.has_live)
        why = why or _held(batch, tools, control=control)
        why = why or _changed(batch, tools) or _late(batch, tools)
    if why:
        return "SKIPPED", why
    with tools.fail.step("intent"):
        _begin(order, wanted, tools)
    with tools.fail.step("delete"):
        for item in _still_there(batch, tools):
            _delete(wanted.directory.child(item.item), item, tools)
    with tools.fail.step("done"):
        _tidy(wanted.directory, tools)
    return "PURGED", ""


def _held(batch: JournalBatch, tools: Tools, *, control: Control) -> str | None:
    now = tools.clock()
    for item in _still_there(batch, tools):
        hold = control.hold_on(batch.intent.db, batch.intent.table, item.partition, now=now)
        if hold is not None:
            return f"held: {hold.reason}"
    return None


def _changed(batch: JournalBatch, tools: Tools) -> str | None:
    """Say what is not as the manifest has it; a purge that was begun may lack files."""
    has_begun = tools.fs.status(batch.directory.child(purged_name(batch.intent.batch))) is not None
    for item in _still_there(batch, tools):
        home = batch.directory.child(item.item)
        found = set(files_of(tools.lister([home]).get(home, ()), root=home))
        known = {fact.path for fact in item.files}
        if any(fact.path not in known for fact in found):
            return f"{item.item} holds files that its manifest does not know"
        if not has_begun and found != set(item.files):
            return f"{item.item} is not as its manifest says"
    return None


def _late(batch: JournalBatch, tools: Tools) -> str | None:
    """Probe once more before the last step; what comes to light is registered and told first."""
    look = SettleTools(tools.fs, tools.metastore, tools.lister, tools.clock(), lambda: False)
    late = [found.partition for found in probe_batch(batch, look) if found.is_registered]
    if not late:
        return None
    return f"late data at the old place of {late[0] or 'the table'} was registered just now"


def _still_there(batch: JournalBatch, tools: Tools) -> list[ItemIntent]:
    """Give the items whose data must be in the backup: dropped, not restored, not purged yet."""
    if batch.done is None:
        raise StaleState("act.unsettled", "The run that made this backup has not been settled yet.")
    restored = restored_items(restore_steps(tools.fs, batch.directory, batch.intent.batch))
    return [
        item
        for item in batch.intent.items
        if batch.done.outcome_of(item.item) in IN_BACKUP
        and item.item not in restored
        and tools.fs.status(batch.directory.child(item.item)) is not None
    ]


def _begin(order: PurgeOrder, wanted: PurgeBatch, tools: Tools) -> None:
    path = wanted.directory.child(purged_name(wanted.batch))
    try:
        tools.fs.write_new(path, f'{{"run": "{order.run}"}}'.encode())
    except StaleState as error:
        if error.code != "fs.exists":
            raise


def _delete(home: LakePath, item: ItemIntent, tools: Tools) -> None:
    """Delete the manifest's files in slices, then its directories, deepest first, if empty."""
    files = [fact.path for fact in item.files if not fact.is_dir]
    for start in range(0, len(files), SLICE_FILES):
        check_control(tools)
        tools.gate()
        for path in files[start : start + SLICE_FILES]:
            tools.fs.remove_file(LakePath(home.scheme, home.authority, f"{home.path}/{path}"))
    directories = [fact.path for fact in item.files if fact.is_dir]
    for path in sorted(directories, key=lambda text: text.count("/") + bool(text), reverse=True):
        full = f"{home.path}/{path}" if path else home.path
        tools.fs.remove_empty_directory(LakePath(home.scheme, home.authority, full))


def _tidy(directory: LakePath, tools: Tools) -> None:
    """Take away the journal of a directory in which every batch has been purged."""
    names = {status.path.name: status for status in tools.fs.children(directory)}
    intents = [name for name in names if name.startswith("intent.")]
    numbers = [int(name.split(".")[1]) for name in intents]
    if any(status.is_dir for status in names.values()):
        return
    if any(purged_name(number) not in names for number in numbers):
        return
    last = {intent_name(number) for number in numbers}
    last |= {purged_name(number) for number in numbers} | {done_name(n) for n in numbers}
    for name in sorted(names.keys() - last) + sorted(last):
        tools.fs.remove_file(directory.child(name))
    tools.fs.remove_empty_directory(directory)
