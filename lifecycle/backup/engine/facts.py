"""Checks again, before acting, that an item is still as approved and that nobody writes to it.

The token is what the plan knew: generation, location, LEVEL, TTL, newest mtime, file count, bytes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from lifecycle.backup.engine.journal.records import FileFact, Generation
from portal.connectors.file_status import FileStatus, FileSystem
from portal.lake.errors import NotVisible
from portal.lake.paths import LakePath

WALKERS = 16
MINUTE_MS = 60_000
DDL_TIME = "transient_lastDdlTime"
NOT_READY = "its data is not complete (commit=false)"
_STAGING_PREFIXES = (".hive-staging", ".spark-staging")

Lister = Callable[[Sequence[LakePath]], dict[LakePath, list[FileStatus]]]


@dataclass(frozen=True, slots=True)
class ActItem:
    """One item of an approved plan; a None is a fact that the scan did not need to know."""

    db: str
    table: str
    partition: str
    location: str
    create_time: int
    ddl_time: int | None
    level: int
    ttl: int
    mtime_ms: int | None
    n_files: int | None
    n_bytes: int | None
    due_on: str = ""

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> "ActItem":
        """Read a line of the items file; what else stands in it is kept out."""
        return cls(**{name: row[name] for name in cls.__slots__ if name in row})


@dataclass(frozen=True, slots=True)
class Policy:
    """LEVEL and TTL as they stand now; None where unset or unreadable."""

    level: int | None
    ttl: int | None


def generation_of(struct: Any) -> Generation:
    """Return the generation of a Thrift Table or Partition."""
    storage = struct.sd
    serde = (storage.serdeInfo.parameters or {}) if storage and storage.serdeInfo else {}
    ddl_time = (struct.parameters or {}).get(DDL_TIME)
    return Generation(
        create_time=int(struct.createTime),
        ddl_time=int(ddl_time) if ddl_time and ddl_time.isdigit() else None,
        location=(storage.location or "") if storage else "",
        data_path=serde.get("path"),
    )


def list_here(fs: FileSystem) -> Lister:
    """Return a lister that walks the paths in this process; a missing path has no entry.

    Several at a time: on HDFS each file costs a question and its answer's way.
    """

    def walk(path: LakePath) -> list[FileStatus]:
        try:
            return list(fs.walk(path))
        except NotVisible:
            return []

    def lister(paths: Sequence[LakePath]) -> dict[LakePath, list[FileStatus]]:
        if len(paths) < 2:
            return {path: files for path in paths if (files := walk(path))}
        with ThreadPoolExecutor(min(WALKERS, len(paths))) as pool:
            found = zip(paths, pool.map(walk, paths), strict=True)
            return {path: files for path, files in found if files}

    return lister


def changes(
    item: ActItem, *, generation: Generation, location: LakePath, policy: Policy
) -> list[str]:
    """Name what of the metastore's facts is not as approved."""
    pairs = {
        "create time": (item.create_time, generation.create_time),
        "DDL time": (item.ddl_time, generation.ddl_time),
        "location": (item.location, str(location)),
        "LEVEL": (item.level, policy.level),
        "TTL": (item.ttl, policy.ttl),
    }
    return [_differs(name, old, new) for name, (old, new) in pairs.items() if old != new]


def was_read_since(statuses: Iterable[FileStatus], since_ms: int) -> int | None:
    """Return the newest access time of a file that was read after `since_ms`, or None.

    A write sets both times, so only an access after the file's own modification is a read.
    """
    reads = (
        one.atime_ms
        for one in statuses
        if not one.is_dir and one.atime_ms is not None and one.atime_ms > one.mtime_ms
    )
    newest = max(reads, default=0)
    return newest if newest > since_ms else None


def file_changes(item: ActItem, files: Sequence[FileFact]) -> list[str]:
    """Name what of the files is not as approved; what the plan did not know is not judged.

    All files count, as in the scan and in `find`: also the checksum files that Hadoop's own view of
    local files hides.
    """
    newest = max(fact.mtime_ms for fact in files)
    pairs = {
        "newest modification": (item.mtime_ms, _as_precise(newest, item.mtime_ms)),
        "number of files": (item.n_files, sum(not fact.is_dir for fact in files)),
        "bytes": (item.n_bytes, sum(fact.size for fact in files)),
    }
    return [
        _differs(name, old, new)
        for name, (old, new) in pairs.items()
        if old is not None and old != new
    ]


def _as_precise(found_ms: int, known_ms: int | None) -> int:
    """Return a time as precisely as the known one: an image of the name node has minutes only.

    The scan takes such a minute's last millisecond.
    """
    if known_ms is None or known_ms % MINUTE_MS != MINUTE_MS - 1:
        return found_ms
    return found_ms - found_ms % MINUTE_MS + MINUTE_MS - 1


def is_staging(name: str) -> bool:
    """Whether a directory's name says that a job is writing here."""
    return name == "_temporary" or name.startswith(_STAGING_PREFIXES)


def being_written(paths: Iterable[str]) -> str | None:
    """Return the first relative path that shows a running job, if any."""
    for path in paths:
        if any(is_staging(segment) for segment in path.split("/")):
            return path
    return None


def holds_data(files: Iterable[FileFact]) -> bool:
    """Whether a listing holds a file that is not a running job's own; directories do not count."""
    return any(not fact.is_dir and being_written([fact.path]) is None for fact in files)


def _differs(name: str, old: object, new: object) -> str:
    return f"{name} was {old}, now {new}"
