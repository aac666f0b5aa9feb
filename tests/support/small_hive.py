"""A lake of a few tables behind the simulator's metastore port, for the simulator's own tests.

What those test is the front end: its caches, locks, words and timing. They must run where no JVM
may; that the real client gives the same is tested apart.
"""

import threading
from collections.abc import Sequence

from stack.starrocks.hive import HivePartition, HiveTable, NoSuchObject

COLUMNS = (("id", "bigint"), ("price", "decimal(10,2)"), ("note", "string"))
DAY = (("dt", "string"),)


class SmallHive:
    """Databases, tables, partitions and the sizes of their files; changed by its tests."""

    def __init__(self, base: str = "hdfs://lake") -> None:
        self.base = base
        self.kept: dict[str, dict[str, HiveTable]] = {"shop": {}}
        self.parts: dict[tuple[str, str], dict[str, HivePartition]] = {}
        self.sizes: dict[str, int] = {}
        # A call of this name waits until its event is set.
        self.held: dict[str, threading.Event] = {}
        self.add_table("sales", days=("dt=2026-11-01", "dt=2026-11-02"))
        self.add_table("shops", days=None)

    def add_table(self, name: str, *, days: Sequence[str] | None, db: str = "shop") -> None:
        location = f"{self.base}/{db}/{name}"
        parameters = {"transient_lastDdlTime": "1000"}
        by = () if days is None else DAY
        self.kept[db][name] = HiveTable(db, name, COLUMNS, by, location, parameters=parameters)
        self.parts[db, name] = {}
        self.sizes[location] = 2600
        for day in days or ():
            self.put(name, day, size=2600, db=db)

    def put(self, name: str, part: str, *, size: int, rows: int = -1, db: str = "shop") -> None:
        """Write or overwrite a partition, as Spark does: an overwrite changes files only."""
        location = f"{self.base}/{db}/{name}/{part}"
        parameters = {"numRows": str(rows)} if rows >= 0 else {}
        self.parts[db, name][part] = HivePartition(part, location, parameters)
        self.sizes[location] = size

    def drop(self, name: str, part: str) -> None:
        del self.parts["shop", name][part]

    def drop_table(self, name: str) -> None:
        del self.kept["shop"][name], self.parts["shop", name]

    # -- the port --------------------------------------------------------------------------

    def databases(self) -> list[str]:
        return sorted(self.kept)

    def has_database(self, db: str) -> bool:
        return db in self.kept

    def tables(self, db: str) -> list[str]:
        return sorted(self.kept[db])

    def table(self, db: str, table: str) -> HiveTable:
        self._wait(f"table {table}")
        found = self.kept.get(db, {}).get(table)
        if found is None:
            raise NoSuchObject(f"NoSuchObjectException: {db}.{table} table not found")
        return found

    def partition_names(self, db: str, table: str) -> list[str]:
        return sorted(self.parts.get((db, table), {}))

    def partitions(self, table: HiveTable, names: Sequence[str]) -> list[HivePartition]:
        self._wait(f"partitions {table.name}")
        there = self.parts.get((table.db, table.name), {})
        return [there[name] for name in names if name in there]

    def statistics(self, table: HiveTable, names: Sequence[str]) -> None:
        self._wait(f"statistics {table.name}")

    def file_bytes(self, location: str) -> int:
        return self.sizes.get(location, 0)

    def _wait(self, call: str) -> None:
        if call in self.held:
            assert self.held[call].wait(30)
