"""Judges whether a live place is free for data that comes back, and makes room there.

An empty directory is no data: jobs make one before they write, and the metastore makes one with
each partition that is added.
"""

from lifecycle.backup.engine.facts import Lister, being_written, holds_data
from lifecycle.backup.engine.journal.records import files_of
from portal.connectors.file_status import FileSystem, stale_path
from portal.lake.paths import LakePath


def is_taken(fs: FileSystem, lister: Lister, place: LakePath, *, has_backup: bool) -> bool:
    """Whether something counts as data at a live place.

    While the item's data is in the backup, only files outside staging directories do. Without a
    backup whatever is there counts.
    """
    if not has_backup:
        return fs.status(place) is not None
    return holds_data(files_of(lister([place]).get(place, ()), root=place))


def make_room(fs: FileSystem, lister: Lister, place: LakePath) -> None:
    """Remove empty directories at a live place; files are never touched. Twice = the same.

    Raises:
        StaleState: `fs.exists`, files are there; `fs.not_empty`, a job is writing there.
    """
    there = lister([place]).get(place, [])
    files = files_of(there, root=place)
    if holds_data(files):
        raise stale_path("fs.exists", place)
    if being_written(fact.path for fact in files):
        raise stale_path("fs.not_empty", place)
    for status in sorted(there, key=lambda one: len(one.path.path), reverse=True):
        fs.remove_empty_directory(status.path)
