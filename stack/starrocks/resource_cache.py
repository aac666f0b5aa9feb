"""Cache of a Hive resource in a front end of 2.2, and what a refresh loads.

One lock of the process covers every refresh of every table. A table's refresh loads the names of
its partitions and not the partitions, which are loaded one by one. If it fails, the table's caches
are cleared; a failed refresh of partitions leaves the old ones, and queries go wrong.
"""

import threading
from collections.abc import Sequence

from stack.starrocks import scan, texts
from stack.starrocks.hive import HiveError, HivePartition, HiveTable
from stack.starrocks.link import Link
from stack.starrocks.scan import Loaded, Scan
from stack.starrocks.texts import SqlError

Key = tuple[str, str]


class ResourceCache:
    """The caches of one resource on one front end; `lock` is the front end's one lock."""

    def __init__(self, link: Link, *, lock: threading.Lock) -> None:
        self.link = link
        self._lock = lock
        # What the table is, is StarRocks' own knowledge here: it is kept, whatever Hive does.
        self._tables: dict[Key, HiveTable] = {}
        self._names: dict[Key, tuple[str, ...]] = {}
        self._loaded: dict[Key, dict[str, Loaded]] = {}

    def refresh_table(self, db: str, name: str) -> None:
        """Load the names of the partitions and the statistics."""
        key = (db, name)
        with self._lock:
            try:
                table = self._tables[key] = self.link.table(db, name)
                names = self._names[key] = self._load_names(table)
                self.link.table(db, name)  # a second time, for its row count
                self.link.statistics(table, names)
                if not table.is_partitioned:
                    self._keep(key, "", _whole_table(table))
            except HiveError as error:
                self._names.pop(key, None)
                self._loaded.pop(key, None)
                raise texts.old_table_failed(str(error)) from error

    def refresh_partitions(self, db: str, name: str, partitions: Sequence[str]) -> None:
        """Load these partitions one by one; those before one that fails stay loaded."""
        with self._lock:
            try:
                table = self._table((db, name))
                for part in partitions:
                    self._load(table, part)
            except HiveError as error:
                raise texts.old_partition_failed(str(error)) from error

    def scan(self, db: str, name: str, where: Sequence[tuple[str, str]]) -> Scan:
        """Plan a scan from what is kept; what is not kept is loaded."""
        key = (db, name)
        try:
            table = self._table(key)
            names = self._names.get(key)
            if names is None:
                names = self._names[key] = self._load_names(table)
            wanted = scan.chosen(names, where) if table.is_partitioned else list(names)
            kept = dict(self._loaded.get(key, {}))  # a refresh beside this may clear them
            for part in wanted:
                if part not in kept:
                    kept[part] = self._load(table, part)
        except HiveError as error:
            raise SqlError(1064, f"get partition detail failed: {error}") from error
        cached = [kept[part] for part in wanted]
        return scan.plan(table, n_known=len(names), n_selected=len(wanted), cached=cached)

    def _table(self, key: Key) -> HiveTable:
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = self.link.table(*key)
        return table

    def _load_names(self, table: HiveTable) -> tuple[str, ...]:
        return self.link.partition_names(table) if table.is_partitioned else ("",)

    def _load(self, table: HiveTable, part: str) -> Loaded:
        if not table.is_partitioned:
            return self._keep((table.db, table.name), "", _whole_table(table))
        partition = self.link.partition(table, part)
        self.link.partition(table, part)  # a second time, for its row count
        return self._keep((table.db, table.name), part, partition)

    def _keep(self, key: Key, part: str, partition: HivePartition) -> Loaded:
        loaded = Loaded(partition, self.link.file_bytes(partition.location))
        self._loaded.setdefault(key, {})[part] = loaded
        return loaded


def _whole_table(table: HiveTable) -> HivePartition:
    return HivePartition("", table.location, table.parameters)
