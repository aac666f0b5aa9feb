"""Preserves the time of a directory when something is moved out of it or into it.

A rename gives both parents the time of the rename, which looks like a change of a person's. What
stands below keeps its own times. Where the file system refuses, the new time stays: no act fails
for it. A write of somebody else into the directory itself, in the seconds between, keeps its own
time on what it wrote, and only there.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

from portal.connectors.file_status import FileSystem
from portal.lake.errors import PortalError
from portal.lake.paths import LakePath


@contextmanager
def times_kept(fs: FileSystem, directories: Iterable[LakePath]) -> Iterator[None]:
    """Yield directories that are there the times back that they have now, once all is done."""
    found = {path: fs.status(path) for path in set(directories)}
    before = {path: status.mtime_ms for path, status in found.items() if status is not None}
    yield
    set_times(fs, before)


def set_times(fs: FileSystem, times: Mapping[LakePath, int]) -> None:
    """Set times in milliseconds as far as the file system allows."""
    for path, mtime_ms in times.items():
        with suppress(PortalError):
            fs.set_modified(path, mtime_ms)
