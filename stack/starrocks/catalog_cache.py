"""Cache of one Hive catalog in a front end of 3.x, and what a refresh loads.

A table's refresh locks that table; the refresh of partitions locks the whole catalog. A failure
clears nothing, except that a table which the metastore no longer has is forgotten.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

from stack.starrocks import scan, texts
from stack.starrocks.hive import HiveError, HivePartition, HiveTable, NoSuchObject
from stack.starrocks.link import Link
from stack.starrocks.scan import Loaded, Scan
from stack.starrocks.texts import SqlError

Key = tuple[str, str]
T = TypeVar("T")


class CatalogCache:
    """The caches of one catalog on one front end."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self._databases: set[str] = set()
        self._tables: dict[Key, HiveTable] = {}
        self._names: dict[Key, tuple[str, ...]] = {}
        self._loaded: defaultdict[Key, dict[str, Loaded]] = defaultdict(dict)
        self._whole = threading.Lock()
        self._of_table: defaultdict[Key, threading.Lock] = defaultdict(threading.Lock)

    # -- names -----------------------------------------------------------------------------

    def databases(self) -> list[str]:
        """Return all databases; never kept."""
        return _asked("Failed to getAllDatabases", self.link.databases)

    def tables(self, db: str) -> list[str]:
        """Return a database's tables; never kept."""
        words = f"Failed to get all table names on database: {db}"
        return _asked(words, lambda: self.link.tables(db))

    def has_database(self, db: str) -> bool:
        """Whether the database is known; a metastore that is down says no as well."""
        if db not in self._databases:
            try:
                if not self.link.has_database(db):
                    return False
            except HiveError:
                return False
            self._databases.add(db)
        return True

    def table(self, db: str, name: str) -> HiveTable:
        """Return a table, from the metastore if it is not kept."""
        key = (db, name)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = self._load_table(key)
        return table

    # -- refresh ---------------------------------------------------------------------------

    def refresh_table(self, db: str, name: str) -> None:
        """Load the table, the names of its partitions, and again whatever partition is kept."""
        key = (db, name)
        self.table(db, name)
        with self._of_table[key]:
            table = self._tables[key] = self._load_table(key)
            if not table.is_partitioned:
                self._names[key] = ("",)
                self._keep(key, [_whole_table(table)])
                return
            names = self._names[key] = self._load_names(table)
            # Also those that nobody has asked for: their paths are wanted.
            found = self._load_partitions(table, names)
            kept = dict(self._loaded[key])
            gone = [part for part in kept if part not in found]
            self._keep(key, [found[part] for part in list(kept) if part in found])
            for part in gone:
                self._loaded[key].pop(part, None)

    def refresh_partitions(self, db: str, name: str, partitions: Sequence[str]) -> None:
        """Load these partitions and the names of all; one that is not there fails the whole."""
        key = (db, name)
        table = self.table(db, name)
        with self._whole:
            found = self._load_partitions(table, partitions)
            _check_all(partitions, found)
            self._load_partitions(table, partitions)  # a second time, for their row counts
            self._load_statistics(table, partitions)
            self._names[key] = self._load_names(table)
            self._keep(key, [found[part] for part in partitions])

    # -- reading ---------------------------------------------------------------------------

    def scan(self, db: str, name: str, where: Sequence[tuple[str, str]]) -> Scan:
        """Plan a scan from what is kept; names may be loaded, the files of partitions never are."""
        table, names, wanted = self._selected(db, name, where)
        kept = dict(self._loaded[db, name])  # a refresh beside this may take some away
        cached = [kept[part] for part in wanted if part in kept]
        return scan.plan(table, n_known=len(names), n_selected=len(wanted), cached=cached)

    def query(self, db: str, name: str, where: Sequence[tuple[str, str]]) -> None:
        """Load the partitions that a query reads, with their files, where they are not kept."""
        table, _, wanted = self._selected(db, name, where)
        missing = [part for part in wanted if part not in self._loaded[db, name]]
        if missing and not table.is_partitioned:
            self._keep((db, name), [_whole_table(table)])
        elif missing:
            found = self._load_partitions(table, missing)
            _check_all(missing, found)
            self._keep((db, name), list(found.values()))

    # -- inside ----------------------------------------------------------------------------

    def _selected(
        self, db: str, name: str, where: Sequence[tuple[str, str]]
    ) -> tuple[HiveTable, tuple[str, ...], list[str]]:
        key = (db, name)
        table = self.table(db, name)
        names = self._names.get(key)
        if names is None:
            names = self._load_names(table) if table.is_partitioned else ("",)
            self._names[key] = names
        return table, names, scan.chosen(names, where) if table.is_partitioned else list(names)

    def _load_table(self, key: Key) -> HiveTable:
        try:
            return self.link.table(*key)
        except NoSuchObject as error:
            was_cached = key in self._tables
            for cache in (self._tables, self._names, self._loaded):
                cache.pop(key, None)
            raise texts.no_table(_dotted(key), str(error), was_cached=was_cached) from error
        except HiveError as error:
            raise texts.no_table(_dotted(key), str(error)) from error

    def _load_names(self, table: HiveTable) -> tuple[str, ...]:
        words = f"Failed to get partitionKeys on [{table.db}.{table.name}]"
        return _asked(words, lambda: self.link.partition_names(table))

    def _load_partitions(self, table: HiveTable, names: Sequence[str]) -> dict[str, HivePartition]:
        words = f"Failed to getPartitionsNames on [{table.db}.{table.name}]"
        return _asked(words, lambda: self.link.partitions(table, names))

    def _load_statistics(self, table: HiveTable, names: Sequence[str]) -> None:
        words = f"Failed to get partitions column statistics on [{table.db}.{table.name}]"
        _asked(words, lambda: self.link.statistics(table, names))

    def _load_files(self, partition: HivePartition) -> int:
        words = "Failed to get remote files"
        return _asked(words, lambda: self.link.file_bytes(partition.location))

    def _keep(self, key: Key, partitions: Sequence[HivePartition]) -> dict[str, Loaded]:
        fresh = {
            partition.name: Loaded(partition, self._load_files(partition))
            for partition in partitions
        }
        self._loaded[key].update(fresh)
        return fresh


def _whole_table(table: HiveTable) -> HivePartition:
    return HivePartition("", table.location, table.parameters)


def _dotted(key: Key) -> str:
    return ".".join(key)


def _check_all(wanted: Sequence[str], found: dict[str, HivePartition]) -> None:
    for part in wanted:
        if part not in found:
            raise texts.no_partition(part)


def _asked(words: str, call: Callable[[], T]) -> T:
    try:
        return call()
    except HiveError as error:
        raise SqlError(1064, f"{words}, msg: {error}") from error
