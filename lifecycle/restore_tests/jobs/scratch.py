"""Scratch area of a restore test's copies. A test clears all of its own, and no more.

`<backup root>/drills/<run>/<epoch>` and a database of that run and epoch. Both carry a mark with
the deployment's id; what carries none, or another's, is left alone. A left-over of a restore test
that was killed is found by the next one.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from pymetastore.hive_metastore import ttypes

from lifecycle.backup.engine.files.backup_root import check_marker
from lifecycle.restore_tests.domain import DIRECTORY, MARK, mark_of, read_scratch, scratch_database
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import NotVisible, StaleState
from portal.lake.names import TableName
from portal.lake.paths import LakePath

MARKER = "drill.json"
_MODE = 0o700


@dataclass(frozen=True, slots=True)
class Scratch:
    """The scratch of one epoch of a restore test: a database, and a place on each backup root."""

    config: LakeConfig
    metastore: Metastore
    run: str
    epoch: int

    @property
    def db(self) -> str:
        """The scratch database."""
        return scratch_database(self.run, self.epoch)

    def place(self, root: LakePath) -> LakePath:
        """Where the copies lie that are made on a backup root; made and marked at first use."""
        fs = open_file_system(root, config=self.config)
        check_marker(fs, root, deployment_id=self.config.deployment_id)
        place = root.child(DIRECTORY, self.run, str(self.epoch))
        if fs.status(place) is None:
            fs.make_directories(place, mode=_MODE)
            fs.write_new(place.child(MARKER), json.dumps({MARK: self._mark}).encode())
        self._make_database(fs, place)
        return place

    def clear(self, roots: Iterable[LakePath]) -> None:
        """Clear what this epoch has made."""
        for root in roots:
            fs = open_file_system(root, config=self.config)
            place = root.child(DIRECTORY, self.run, str(self.epoch))
            if fs.status(place) is not None:
                _clear_place(fs, place)
        if self.db in self.metastore.databases():
            _clear_database(self.config, self.metastore, self.db)
        for root in roots:
            _remove_empty(open_file_system(root, config=self.config), root, self.run)

    def _make_database(self, fs: FileSystem, place: LakePath) -> None:
        home = place.child("database")
        if fs.status(home) is not None:
            return
        fs.make_directory(home, mode=_MODE)
        with suppress(StaleState):
            self.metastore.create_database(
                ttypes.Database(
                    name=self.db,
                    description="A restore test's scratch; it goes again by itself.",
                    locationUri=str(home),
                    parameters={MARK: self._mark},
                )
            )

    @property
    def _mark(self) -> str:
        return mark_of(self.config.deployment_id, self.run, self.epoch)


def clear_left_over(
    config: LakeConfig,
    metastore: Metastore,
    roots: Collection[LakePath],
    *,
    under_way: Collection[str],
) -> list[str]:
    """Clear what restore tests left that are not under way.

    Returns the names of what was cleared.
    """
    keep = {run.replace("-", "") for run in under_way}
    cleared = []
    for db in metastore.databases():
        found = read_scratch(db)
        if found and found[0] not in keep and _is_ours(config, metastore, db, roots):
            _clear_database(config, metastore, db)
            cleared.append(db)
    for root in roots:
        fs = open_file_system(root, config=config)
        for place in _places(fs, root):
            run, epoch = place.parent.name, place.name
            if run.replace("-", "") in keep or not epoch.isdigit():
                continue
            if _is_marked(fs, place, mark_of(config.deployment_id, run, int(epoch))):
                _clear_place(fs, place)
                _remove_empty(fs, root, run)
                cleared.append(str(place))
    return cleared


def _is_ours(
    config: LakeConfig, metastore: Metastore, db: str, roots: Collection[LakePath]
) -> bool:
    """Whether a database has our mark and lies in our restore tests' place.

    A name alone proves little.
    """
    found, named = metastore.database(db), read_scratch(db)
    home = config.path(found.locationUri)
    return (
        named is not None
        and (found.parameters or {}).get(MARK) == mark_of(config.deployment_id, *named)
        and any(home.is_at_or_under(root.child(DIRECTORY)) for root in roots)
    )


def _is_marked(fs: FileSystem, place: LakePath, mark: str) -> bool:
    """Whether a directory has our mark; one that was killed before it had any holds nothing."""
    try:
        return bool(json.loads(fs.read(place.child(MARKER))).get(MARK) == mark)
    except (NotVisible, ValueError, AttributeError):
        return not fs.names(place)


def _clear_database(config: LakeConfig, metastore: Metastore, db: str) -> None:
    """Drop a scratch database and its tables: metadata alone, their files go by their place."""
    for table in metastore.tables(db):
        with suppress(NotVisible):
            metastore.drop_table(TableName(config.lake, db, table), delete_data=False)
    with suppress(NotVisible):
        metastore.drop_empty_database(db)


def _clear_place(fs: FileSystem, place: LakePath) -> None:
    """Remove a restore test's directory, one by one, the mark last.

    What is stopped is found again.
    """
    found = []
    for status in fs.walk(place):
        if status.is_dir and status.mode & _MODE != _MODE:
            # A copy has the modes of what it was copied from, which may forbid to empty it.
            fs.set_mode(status.path, _MODE)
        found.append(status)
    for status in reversed(found):
        if status.path in (place, place.child(MARKER)):
            continue
        if status.is_dir:
            fs.remove_empty_directory(status.path)
        else:
            fs.remove_file(status.path)
    fs.remove_file(place.child(MARKER))
    fs.remove_empty_directory(place)


def _remove_empty(fs: FileSystem, root: LakePath, run: str) -> None:
    for directory in (root.child(DIRECTORY, run), root.child(DIRECTORY)):
        with suppress(StaleState, NotVisible):
            fs.remove_empty_directory(directory)


def _places(fs: FileSystem, root: LakePath) -> Iterator[LakePath]:
    for run in _directories(fs, root.child(DIRECTORY)):
        yield from _directories(fs, run)


def _directories(fs: FileSystem, path: LakePath) -> list[LakePath]:
    try:
        return [status.path for status in fs.children(path) if status.is_dir]
    except NotVisible:
        return []
