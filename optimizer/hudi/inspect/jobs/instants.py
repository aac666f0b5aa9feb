"""Reads the timeline of a Hudi table, instant by instant.

The active timeline is listed once, with the clocks of its files. Of the archived one as much is
read as is asked for: which instants of some completed, and when.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from optimizer.hudi.inspect.domain.facts import Action, Instant, InstantState
from optimizer.hudi.tables.jobs.errors import error_text
from optimizer.hudi.tables.jobs.table import HUDI, OpenedTable
from optimizer.hudi.tables.jobs.times import from_milliseconds
from portal.spark.java_errors import JAVA_ERRORS

_INSTANT = f"{HUDI}.table.timeline.HoodieInstant"
_FILE = "org.apache.hudi.storage.StoragePathInfo"
_PATH = "org.apache.hudi.storage.StoragePath"
_COMMITS = frozenset({Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT})
_MOST_READ = 500
"""Of how many of the newest instants the metadata is read: each is a file of its own."""


@dataclass(frozen=True)
class Timeline:
    """What was read of a timeline, and in `faults` what could not be."""

    instants: tuple[Instant, ...]
    archived_to: str | None = None
    faults: tuple[str, ...] = ()

    def completed(self) -> dict[str, Instant]:
        """Return the instants of which we know that they completed."""
        return {one.instant: one for one in self.instants if not one.is_pending}

    def pending(self) -> frozenset[str]:
        """Return those that are requested or inflight."""
        return frozenset(one.instant for one in self.instants if one.is_pending)


def read_timeline(table: OpenedTable, *, with_metadata: bool = True) -> Timeline:
    """Read the active timeline, and how far the archived one goes.

    Without the metadata of the newest commits it is not known what they did.
    """
    faults: list[str] = []
    java = table.java.getActiveTimeline()
    listed = java.getInstants()
    found = _instants(table, listed)
    began = _clocks(table, table.java.getTimelinePath(), ending=".inflight")
    beats = _clocks(table, table.path(".hoodie", ".heartbeat"))
    for n, one in enumerate(found):
        clocks = replace(
            one, inflight_at=began.get(one.instant), heartbeat_at=beats.get(one.instant)
        )
        is_read = with_metadata and n >= len(found) - _MOST_READ
        is_read = is_read and not one.is_pending and one.action in _COMMITS
        found[n] = _described(clocks, java, listed.get(n), faults) if is_read else clocks
    return Timeline(tuple(found), _archived_to(table, faults), tuple(faults))


def with_archived(table: OpenedTable, timeline: Timeline, wanted: Collection[str]) -> Timeline:
    """Add those of the wanted instants that are in the archived timeline."""
    missing = set(wanted) - {one.instant for one in timeline.instants}
    if not missing or timeline.archived_to is None or min(missing) > timeline.archived_to:
        return timeline
    try:
        archived = table.java.getArchivedTimeline(min(missing))
        found = _instants(table, archived.getInstants())
    except JAVA_ERRORS as error:
        fault = f"The archived timeline cannot be read ({error_text(error)})"
        return replace(timeline, faults=(*timeline.faults, fault))
    added = [replace(one, is_archived=True) for one in found if one.instant in missing]
    return replace(timeline, instants=(*added, *timeline.instants))


def _instants(table: OpenedTable, listed: Any) -> list[Instant]:
    if listed.isEmpty():
        return []
    step = table.columns.step
    columns = [
        table.columns.read(listed, step(_INSTANT, method))
        for method in ("requestedTime", "getAction", "getState", "getCompletionTime")
    ]
    return [
        Instant(
            instant=digits,
            action=Action(action) if action in frozenset(Action) else Action.OTHER,
            state=InstantState(state.lower()),
            requested_at=table.at(digits),
            completed=None if completed == "null" else completed,
            completed_at=None if completed == "null" else table.at(completed),
        )
        for digits, action, state, completed in zip(*columns, strict=True)
    ]


def _clocks(table: OpenedTable, folder: Any, *, ending: str = "") -> dict[str, datetime]:
    """Return when the files of a folder were written, by the digits that their names begin with."""
    storage = table.java.getStorage()
    if not storage.exists(folder):
        return {}
    files = storage.listDirectEntries(folder)
    if files.isEmpty():
        return {}
    step = table.columns.step
    names = table.columns.read(files, step(_FILE, "getPath"), step(_PATH, "getName"))
    times = table.columns.numbers(files, step(_FILE, "getModificationTime"))
    return {
        name.partition(".")[0]: from_milliseconds(time)
        for name, time in zip(names, times, strict=True)
        if name.endswith(ending)
    }


def _described(one: Instant, timeline: Any, java: Any, faults: list[str]) -> Instant:
    """Add what a commit's metadata says of it."""
    try:
        metadata = timeline.readCommitMetadata(java)
        operation = metadata.getOperationType()
        return replace(
            one,
            operation="" if operation is None else str(operation.name()),
            n_operations=int(metadata.getWriteStats().size()),
        )
    except JAVA_ERRORS as error:
        faults.append(f"The {one.action} {one.instant} cannot be read ({error_text(error)})")
        return one


def _archived_to(table: OpenedTable, faults: list[str]) -> str | None:
    """Return the newest instant of the archived timeline, by the names of its files."""
    lsm = table.hudi.common.table.timeline.LSMTimeline
    try:
        manifest = lsm.latestSnapshotManifest(table.java, table.java.getArchivePath())
        names = [str(name) for name in manifest.getFileNames()]
        return max((str(lsm.getMaxInstantTime(name)) for name in names), default=None)
    except JAVA_ERRORS as error:
        faults.append(f"The manifest of the archived timeline cannot be read ({error_text(error)})")
        return None
