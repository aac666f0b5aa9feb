"""What the portal asks of a file system, and what it gets back: the port that adapters implement.

The promises that journal.md rests on are here: a rename is atomic, never replaces its target and
never makes a parent, on every adapter. The same contract tests run against each.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from portal.lake.errors import ExternalFailure, NotVisible, PortalError, StaleState
from portal.lake.paths import LakePath

FAILED = "fs.failed"
UNKNOWN = "fs.unknown"
MISSING = "fs.missing"
REFUSED = "fs.refused"
_STALE = {
    "fs.exists": "is there already",
    "fs.missing": "is not there any more",
    "fs.parent_missing": "has no parent directory",
    "fs.not_empty": "is not empty",
}


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One file or directory; `atime_ms` is None where the file system keeps no access times."""

    path: LakePath
    is_dir: bool
    size: int
    mtime_ms: int
    atime_ms: int | None
    owner: str
    group: str
    mode: int
    acl: tuple[str, ...] = ()


class FileSystem(Protocol):
    """One file system; every call has a time-out and raises only PortalError."""

    def status(self, path: LakePath) -> FileStatus | None:
        """Return a file's status, or None where nothing is there."""

    def children(self, path: LakePath) -> list[FileStatus]:
        """List a directory, sorted by name; a missing one is NotVisible `fs.missing`."""

    def names(self, path: LakePath) -> list[str]:
        """List a directory's names only, sorted: far cheaper than `children` where many lie."""

    def walk(self, path: LakePath) -> Iterator[FileStatus]:
        """Return the root and all below it, parents before children, sorted; follows no links."""

    def make_directory(self, path: LakePath, *, mode: int) -> None:
        """Make one directory; StaleState `fs.exists` or `fs.parent_missing`."""

    def make_directories(self, path: LakePath, *, mode: int) -> None:
        """Make a directory and its missing parents, all with `mode`; existing ones are left."""

    def rename(self, source: LakePath, target: LakePath, *, sync: bool = True) -> None:
        """Move atomically; StaleState `fs.exists`, `fs.parent_missing` or `fs.missing`.

        ExternalFailure `fs.refused` when the file system answered that it will not, `fs.unknown`
        when its answer was lost: then the move may be done, or may still happen. Without `sync` it
        outlives a power cut only after `sync_directories` of both parents.
        """

    def sync_directories(self, paths: Iterable[LakePath]) -> None:
        """Make sure that renames into and out of these directories outlive a power cut."""

    def read(self, path: LakePath, *, n_bytes: int = -1) -> bytes:
        """Read a whole small file, or only its start; a missing one is NotVisible `fs.missing`."""

    def write_new(self, path: LakePath, data: bytes) -> None:
        """Write a file that must not exist: whole or not at all, durable; else `fs.exists`."""

    def replace(self, path: LakePath, data: bytes) -> None:
        """Write a file over whatever is there: readers see the old or the new one, whole."""

    def remove_file(self, path: LakePath) -> None:
        """Remove one file; a missing one is no error."""

    def remove_empty_directory(self, path: LakePath) -> None:
        """Remove an empty directory; a full one is StaleState `fs.not_empty`, none no error."""

    def set_mode(self, path: LakePath, mode: int) -> None:
        """Set the permission bits."""

    def set_modified(self, path: LakePath, mtime_ms: int) -> None:
        """Set the time of the last modification; that of the last access stays."""

    def set_owner(self, path: LakePath, owner: str, group: str) -> None:
        """Set owner and group."""

    def set_acl(self, path: LakePath, acl: tuple[str, ...]) -> None:
        """Set the ACL entries as `status` gave them."""

    def is_closed(self, path: LakePath) -> bool | None:
        """Whether no writer has the file open; None where the file system cannot say."""


def stale_path(code: str, path: LakePath) -> StaleState:
    """Return the error of a lost race on a path: `fs.exists`, `fs.missing`, `fs.parent_missing`."""
    return StaleState(code, f"{path} {_STALE[code]}.", path=path)


def lost_answer(source: LakePath, target: LakePath, reason: str) -> ExternalFailure:
    """Return the error of a rename of which nobody knows whether it is done."""
    return ExternalFailure(
        UNKNOWN,
        f"The file system did not answer whether {source} was moved to {target}: {reason}. Look at "
        "both places before anything is done with either.",
        service="filesystem",
        retryable=True,
        source=source,
        target=target,
    )


def rename_and_look(
    file_system: FileSystem, source: LakePath, target: LakePath, *, sync: bool = True
) -> None:
    """Move where nobody else takes `source` away or makes `target`; both ends decide in doubt.

    A lost answer, or a repeated request that found its own work done, is success when the source
    is gone and the target is there. Anything else raises as `FileSystem.rename` does.
    """
    try:
        file_system.rename(source, target, sync=sync)
    except PortalError as error:
        if error.code not in (UNKNOWN, MISSING):
            raise
        if file_system.status(source) is not None or file_system.status(target) is None:
            raise


def place_new(file_system: FileSystem, temporary: LakePath, path: LakePath) -> None:
    """Bring a file written beside to its place, which must be free; else it is taken away again."""
    try:
        rename_and_look(file_system, temporary, path)
    except BaseException:
        file_system.remove_file(temporary)
        raise


def walk_tree(file_system: FileSystem, path: LakePath) -> Iterator[FileStatus]:
    """Yield a path and all below it, parents before children, sorted; links are not followed."""
    root = file_system.status(path)
    if root is None:
        raise NotVisible("fs.missing", f"{path} is not there.", path=path)
    pending = [root]
    while pending:
        status = pending.pop()
        yield status
        if status.is_dir:
            pending.extend(reversed(file_system.children(status.path)))
