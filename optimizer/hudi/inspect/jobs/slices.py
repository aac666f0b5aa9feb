"""Reads the files of a Hudi table's file groups, and which of them a reader merges.

One listing of the whole table, by Hudi's own view of it and without its metadata table: what lies
there is what an engine merges that lists by itself.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from optimizer.hudi.inspect.domain.facts import FileGroupId, FileSlice, Instant, Uncompacted
from optimizer.hudi.tables.jobs.errors import error_text
from optimizer.hudi.tables.jobs.table import HUDI, OPTION, OpenedTable
from portal.spark.java_errors import JAVA_ERRORS

_VIEW = f"{HUDI}.table.view.AbstractTableFileSystemView"
_GROUP = f"{HUDI}.model.HoodieFileGroup"
_SLICE = f"{HUDI}.model.FileSlice"
_LOG = f"{HUDI}.model.HoodieLogFile"
_BASE = f"{HUDI}.model.HoodieBaseFile"
_STAT = f"{HUDI}.model.HoodieWriteStat"
_TEXT = "java.lang.String"


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log file: the commit that wrote it, as its name says."""

    group: FileGroupId
    path: str
    instant: str
    n_bytes: int

    @property
    def name(self) -> str:
        """The name alone."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class BaseFile:
    """A base file: the commit that wrote it, as its name says."""

    group: FileGroupId
    name: str
    instant: str
    n_bytes: int


@dataclass(frozen=True)
class Files:
    """What lies in the table now: the latest slices, their logs, and every file of their groups."""

    slices: tuple[FileSlice, ...] = ()
    merged: tuple[LogFile, ...] = ()
    logs: tuple[LogFile, ...] = ()
    bases: tuple[BaseFile, ...] = ()

    def sizes(self) -> dict[str, int]:
        """Return the bytes of every file by its name."""
        logs = {one.name: one.n_bytes for one in self.logs}
        return logs | {one.name: one.n_bytes for one in self.bases}

    def totals(self) -> dict[str, int]:
        """Return the numbers of the latest slices that are told before and after a service."""
        bases = [one.base_bytes for one in self.slices if one.base_bytes is not None]
        return {
            "n_file_groups": len(self.slices),
            "n_base_files": len(bases),
            "base_bytes": sum(bases),
            "n_logs": sum(one.n_logs for one in self.slices),
            "log_bytes": sum(one.log_bytes for one in self.slices),
            "n_files": len(self.logs) + len(self.bases),
            "n_bytes": sum(self.sizes().values()),
        }


def read_files(table: OpenedTable) -> Files:
    """List the table."""
    view = _view(table)
    try:
        groups = table.listed(view.getAllFileGroups())
        if groups.isEmpty():
            return Files()
        reader = _Reader(table)
        logs = reader.logs(reader.streamed(reader.raw(groups), _SLICE, "getLogFiles"))
        bases = reader.bases(reader.streamed(groups, _GROUP, "getAllBaseFiles"))
        last = view.getLastInstant()
        if not last.isPresent():
            return Files(logs=logs, bases=bases)
        latest = reader.latest(view, str(last.get().requestedTime()))
        merged = reader.logs(reader.streamed(latest, _SLICE, "getLogFiles"))
        return Files(reader.slices(latest, merged, bases), merged, logs, bases)
    finally:
        view.close()


def uncompacted(files: Files, completed: dict[str, Instant]) -> tuple[Uncompacted, ...]:
    """Return the completed commits of which something stands only in logs, oldest first."""
    found: defaultdict[str, list[LogFile]] = defaultdict(list)
    for one in files.merged:
        found[one.instant].append(one)
    return tuple(
        Uncompacted(
            instant=digits,
            completed_at=at,
            n_file_groups=len({one.group for one in logs}),
            log_bytes=sum(one.n_bytes for one in logs),
        )
        for digits, logs in sorted(found.items())
        if digits in completed and (at := completed[digits].completed_at) is not None
    )


def earlier_bases(
    table: OpenedTable, slices: Iterable[FileSlice], faults: list[str]
) -> set[FileGroupId]:
    """Return those of some slices without a base file whose commits tell of one they had.

    A base file that is gone leaves its trace in the metadata of the commit that wrote it, and of
    those that wrote logs to it.
    """
    wanted = {one.group for one in slices}
    found: set[FileGroupId] = set()
    if not wanted:
        return found
    step = table.columns.step
    timeline = table.java.getActiveTimeline().getCommitsTimeline().filterCompletedInstants()
    for instant in timeline.getInstants():
        try:
            stats = timeline.readCommitMetadata(instant).getWriteStats()
        except JAVA_ERRORS as error:
            faults.append(f"{instant.requestedTime()} cannot be read ({error_text(error)})")
            continue
        if stats.isEmpty():
            continue
        columns = (
            table.columns.read(stats, step(_STAT, method))
            for method in ("getPartitionPath", "getFileId", "getPath", "getPrevBaseFile")
        )
        for partition, file_id, path, base in zip(*columns, strict=True):
            is_log = path.rpartition("/")[2].startswith(".")
            if not is_log or base not in {"null", ""}:
                found.add(FileGroupId(partition, file_id))
    return found & wanted


def _view(table: OpenedTable) -> Any:
    of = table.hudi.common
    settings = table.jvm.java.util.Properties()
    settings.setProperty("hoodie.metadata.enable", "false")
    listing = of.config.HoodieMetadataConfig.newBuilder().fromProperties(settings).build()
    # A file that a pending compaction shall replace has its newer logs after that plan, and a
    # reader merges both; a view of completed instants alone would not show them.
    seen = table.java.getActiveTimeline().filterCompletedAndCompactionInstants()
    view = of.table.view.FileSystemViewManager.createInMemoryFileSystemViewWithTimeline(
        table.engine, table.java, listing, seen
    )
    view.loadAllPartitions()
    return view


class _Reader:
    """Reads Hudi's objects in columns."""

    def __init__(self, table: OpenedTable) -> None:
        self.table = table
        self.read, self.step = table.columns.read, table.columns.step
        self.prefix = str(table.java.getBasePath().toString()).rstrip("/") + "/"

    def raw(self, groups: Any) -> Any:
        return self.streamed(groups, _GROUP, "getAllRawFileSlices")

    def streamed(self, items: Any, owner: str, method: str) -> Any:
        """Return Java's list of all that the streams of the items hold."""
        return self.table.listed(items.stream().flatMap(self.step(owner, method)))

    def latest(self, view: Any, instant: str) -> Any:
        """Return the slices that a reader merges, those of pending compactions joined."""
        slices = self.step(
            _VIEW, "getLatestMergedFileSlicesBeforeOrOn", _TEXT, _TEXT, of=view, last=(instant,)
        )
        return self.table.listed(view.getPartitionNames().stream().flatMap(slices))

    def logs(self, items: Any) -> tuple[LogFile, ...]:
        if items.isEmpty():
            return ()
        paths = self.read(items, self.step(_LOG, "getPath"))
        files, instants = (
            self.read(items, self.step(_LOG, method))
            for method in ("getFileId", "getDeltaCommitTime")
        )
        sizes = self.table.columns.numbers(items, self.step(_LOG, "getFileSize"))
        rows = zip(paths, files, instants, sizes, strict=True)
        return tuple(
            LogFile(FileGroupId(self.partition(path), file_id), path, instant, max(0, size))
            for path, file_id, instant, size in rows
        )

    def bases(self, items: Any) -> tuple[BaseFile, ...]:
        if items.isEmpty():
            return ()
        paths, files, instants = (
            self.read(items, self.step(_BASE, method))
            for method in ("getPath", "getFileId", "getCommitTime")
        )
        sizes = self.table.columns.numbers(items, self.step(_BASE, "getFileSize"))
        rows = zip(paths, files, instants, sizes, strict=True)
        return tuple(
            BaseFile(
                FileGroupId(self.partition(path), file_id), path.rpartition("/")[2], instant, size
            )
            for path, file_id, instant, size in rows
        )

    def slices(
        self, items: Any, merged: Iterable[LogFile], bases: Iterable[BaseFile]
    ) -> tuple[FileSlice, ...]:
        if items.isEmpty():
            return ()
        partitions, files, instants = (
            self.read(items, self.step(_SLICE, method))
            for method in ("getPartitionPath", "getFileId", "getBaseInstantTime")
        )
        base_size = self.step(_BASE, "getFileSize")
        base_bytes = self.read(
            items,
            self.step(_SLICE, "getBaseFile"),
            self.step(OPTION, "map", "java.util.function.Function", last=(base_size,)),
            self.step(OPTION, "orElse", "java.lang.Object", last=(None,)),
        )
        logs: defaultdict[FileGroupId, list[LogFile]] = defaultdict(list)
        for log in merged:
            logs[log.group].append(log)
        written: defaultdict[FileGroupId, set[str]] = defaultdict(set)
        for base in bases:
            written[base.group].add(base.instant)
        found = []
        for partition, file_id, instant, size in zip(
            partitions, files, instants, base_bytes, strict=True
        ):
            group = FileGroupId(partition, file_id)
            own = logs[group]
            earlier = {one for one in written[group] if one < instant or size == "null"}
            found.append(
                FileSlice(
                    group=group,
                    base_instant=instant,
                    base_bytes=None if size == "null" else int(size),
                    n_logs=len(own),
                    log_bytes=sum(log.n_bytes for log in own),
                    oldest_log_instant=min((log.instant for log in own), default=None),
                    newest_log_instant=max((log.instant for log in own), default=None),
                    has_earlier_base=bool(earlier),
                )
            )
        return tuple(sorted(found, key=lambda one: one.group))

    def partition(self, path: str) -> str:
        """Return the partition in which a file of the table lies."""
        return path.removeprefix(self.prefix).rpartition("/")[0]
