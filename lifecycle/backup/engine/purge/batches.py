"""Decides when a backup may be destroyed, and destroys it.

The only irreversible step of the whole product.

It happens only where marker file, manifest, catalogue and age agree, no live location lies under
the backup, nothing holds it and no restore has it (its directory is claimed by rename). Files go
one by one as the manifest names them; anything the manifest does not know stops the batch. A
directory with no data left gets another name: the one proof that all of it was purged.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from lifecycle.backup.domain.control import Control
from lifecycle.backup.domain.layout import BackupRef, is_item, purge_mark, read_claimed
from lifecycle.backup.engine.journal.reading import (
    DirectoryNames,
    JournalBatch,
    batches,
    has_purge_begun,
    items_left,
    names_by_batch,
    read_batch,
)
from lifecycle.backup.engine.journal.records import ItemIntent, files_of
from lifecycle.backup.engine.protocol import ActResult, Tools, check_control
from lifecycle.backup.engine.purge.deletable import below, undeletable
from lifecycle.backup.engine.purge.probes import Occupied, Probed, ProbeResult, probe_batch
from lifecycle.backup.engine.settle.batches import SettleTools
from portal.connectors.file_status import FileSystem, rename_and_look
from portal.lake.counts import count_words
from portal.lake.errors import NotVisible, StaleState
from portal.lake.paths import LakePath

MINIMUM_DAYS = 15
SLICE_FILES = 500
PURGED, SKIPPED = "PURGED", "SKIPPED"
Report = Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class PurgeBatch:
    """One batch as the catalogue knows it, in its claimed directory; `name` is for people."""

    backup: str
    name: str
    directory: LakePath
    batch: int
    manifest_sha256: str
    purge_after: datetime
    n_left: int | None = None


@dataclass(frozen=True, slots=True)
class PurgeOrder:
    """What a purge run may destroy; `live` says what live place lies in the same day's backups.

    `occupied` is asked of old places before late data there is registered again.
    """

    run: str
    batches: tuple[PurgeBatch, ...]
    occupied: Occupied
    live: str = ""


@dataclass
class PurgeResult(ActResult):
    """What a purge run did with each batch, and what it saw at the old places before that."""

    batches: list[dict[str, Any]] = field(default_factory=list)

    def put(
        self,
        backup: str,
        name: str,
        *,
        reason: str,
        probed: Sequence[ProbeResult] | None = None,
    ) -> None:
        """Say what became of a batch: purged, or left alone for a reason."""
        outcome = SKIPPED if reason else PURGED
        self.count(outcome, name=name, reason=reason)
        self.n_batches += 1
        seen = None if probed is None else [one.as_dict() for one in probed]
        self.batches.append({"backup": backup, "reason": reason, "probed": seen})

    def as_dict(self) -> dict[str, Any]:
        """Return the manifest's form."""
        return {**super().as_dict(), "batches": self.batches}


def purge_refusal(
    batch: JournalBatch, wanted: PurgeBatch, *, now: datetime, live: str = ""
) -> str | None:
    """Say why a batch must not be destroyed (yet), or None. Pure."""
    keep = timedelta(days=max(MINIMUM_DAYS, batch.intent.keep_days))
    dropped_at = datetime.fromisoformat(batch.done.at) if batch.done else None
    if dropped_at is None:
        return "its run was not settled"
    if batch.sha256 != wanted.manifest_sha256:
        return "its manifest is not the one in the catalogue"
    if now < wanted.purge_after or now < dropped_at + keep:
        return "its days are not over"
    if live:
        return f"a live table or partition is in the backups of its day: {live}"
    return None


def purge_batches(
    order: PurgeOrder,
    tools: Tools,
    *,
    result: PurgeResult,
    report: Report = lambda _done, _message: None,
) -> None:
    """Destroy batch after batch; what does not fit every condition stays and is reported.

    Each claimed directory is listed once, and looked at once more after its last batch.
    """
    names = DirectoryNames(is_claimed=True)
    last = {wanted.directory: n for n, wanted in enumerate(order.batches)}
    purged: set[LakePath] = set()
    for n, wanted in enumerate(order.batches):
        reason, probed = purge_batch(order, wanted, tools, names=names)
        if not reason:
            purged.add(wanted.directory)
        if last[wanted.directory] == n and wanted.directory in purged:
            _retire(wanted.directory, tools)
        result.put(wanted.backup, wanted.name, reason=reason, probed=probed)
        said = f"left alone: {reason}" if reason else "purged"
        report(result.n_batches, f"{wanted.name}: {said}")


def purge_batch(
    order: PurgeOrder, wanted: PurgeBatch, tools: Tools, *, names: DirectoryNames
) -> tuple[str, list[ProbeResult] | None]:
    """Destroy one batch; a begun one is gone on with. Gives why not ('' = purged), what it saw."""
    control = check_control(tools)
    if _is_retired(wanted.directory, tools):
        return "", None
    probed: list[ProbeResult] | None = None
    with tools.fail.step("facts"):
        batch = read_batch(tools.fs, wanted.directory, wanted.batch)
        reason = purge_refusal(batch, wanted, now=tools.clock(), live=order.live)
        told = names.of(tools.fs, wanted.directory, wanted.batch)
        left = [] if reason else items_left(tools.fs, batch, names=told)
        reason = reason or _disagrees(wanted, left)
        reason = reason or _held(batch, left, tools, control=control)
        if reason is None and not has_purge_begun(tools.fs, batch):
            probed = _probe(order, batch, tools, names=names)
        reason = reason or _changed(batch, left, tools) or _late(probed) or _stranded(probed)
        reason = reason or undeletable(wanted.directory, left, tools)
    if reason:
        return reason, probed
    with tools.fail.step("intent"):
        _begin(order, wanted, tools)
    with tools.fail.step("delete"):
        for item in left:
            _delete(wanted.directory.child(item.item), item, tools)
    return "", probed


def _retire(directory: LakePath, tools: Tools) -> None:
    with tools.fail.step("done"):
        if not _is_retired(directory, tools):
            retire(tools.fs, directory)


def _disagrees(wanted: PurgeBatch, left: Sequence[ItemIntent]) -> str | None:
    """What came back or was taken back just now may be in the files and not in the catalogue."""
    if wanted.n_left is None or wanted.n_left == len(left):
        return None
    known = count_words(wanted.n_left, "item")
    return f"the catalogue knows of {known} in it, the files of {len(left)}"


def retire(fs: FileSystem, directory: LakePath) -> None:
    """Give a claimed directory without any data its last name; one that is still needed stays."""
    ref = read_claimed(directory.name)
    names = fs.names(directory) if ref is not None else []
    if ref is None or any(is_item(name) for name in names):
        return
    told = names_by_batch(names)
    if all(
        has_purge_begun(fs, batch)
        or not items_left(fs, batch, names=told.get(batch.intent.batch, ()))
        for batch in batches(fs, directory)
    ):
        rename_and_look(fs, directory, directory.parent.child(ref.purged_name))


def purged_refs(fs: FileSystem, fence: LakePath) -> list[BackupRef]:
    """Return the backups of which a purge left nothing but papers behind its fence."""
    try:
        names = fs.names(fence)
    except NotVisible:
        return []
    found = (read_claimed(name.removesuffix(".purged")) for name in names)
    return [ref for ref in found if ref is not None and ref.purged_name in names]


def clear_papers(fs: FileSystem, fence: LakePath, ref: BackupRef) -> None:
    """Remove the journal of a purged backup; called again it removes what is left."""
    directory = fence.child(ref.purged_name)
    try:
        names = fs.names(directory)
    except NotVisible:
        return
    for name in names:
        fs.remove_file(directory.child(name))
    fs.remove_empty_directory(directory)


def _held(
    batch: JournalBatch, left: Sequence[ItemIntent], tools: Tools, *, control: Control
) -> str | None:
    now = tools.clock()
    for item in left:
        hold = control.hold_on(batch.intent.db, batch.intent.table, item.partition, now=now)
        if hold is not None:
            return f"held: {hold.reason}"
    return None


def _probe(
    order: PurgeOrder, batch: JournalBatch, tools: Tools, *, names: DirectoryNames
) -> list[ProbeResult]:
    """Look once more before the last step; newer data that has its name is none of our business."""
    look = SettleTools(tools.fs, tools.metastore, tools.lister, tools.clock(), lambda: False)
    return [
        one
        for one in probe_batch(batch, look, occupied=order.occupied, names=names)
        if one.found is not Probed.LATE_COMMIT or one.is_registered
    ]


def _changed(batch: JournalBatch, left: Sequence[ItemIntent], tools: Tools) -> str | None:
    """Say what is not as the manifest has it; a purge that was begun may lack files."""
    has_begun = has_purge_begun(tools.fs, batch)
    listings = tools.lister([batch.directory.child(item.item) for item in left])
    for item in left:
        home = batch.directory.child(item.item)
        found = set(files_of(listings.get(home, ()), root=home))
        known = {fact.path for fact in item.files}
        if any(fact.path not in known for fact in found):
            return f"the backup of {_name(item)} holds files that its manifest does not know"
        if not has_begun and found != set(item.files):
            return f"the backup of {_name(item)} is not as its manifest says"
    return None


def _late(probed: Sequence[ProbeResult] | None) -> str | None:
    """Wait where late data was found and registered just now: it is told first."""
    late = [one.partition for one in probed or () if one.is_registered]
    if not late:
        return None
    return f"late data at the old place of {late[0] or 'the table'} was registered just now"


def _stranded(probed: Sequence[ProbeResult] | None) -> str | None:
    found = [one for one in probed or () if one.found is Probed.STRANDED]
    return f"{found[0].partition or 'the table'}: {found[0].detail}" if found else None


def _name(item: ItemIntent) -> str:
    return item.partition or "the table"


def _begin(order: PurgeOrder, wanted: PurgeBatch, tools: Tools) -> None:
    tools.gate()
    path = wanted.directory.child(purge_mark(wanted.batch))
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
        with tools.fail.step("slice"):
            for path in files[start : start + SLICE_FILES]:
                tools.fs.remove_file(below(home, path))
    directories = [fact.path for fact in item.files if fact.is_dir]
    for path in sorted(directories, key=lambda text: text.count("/") + bool(text), reverse=True):
        tools.fs.remove_empty_directory(below(home, path))


def _is_retired(directory: LakePath, tools: Tools) -> bool:
    ref = read_claimed(directory.name)
    return ref is not None and tools.fs.status(directory.parent.child(ref.purged_name)) is not None
