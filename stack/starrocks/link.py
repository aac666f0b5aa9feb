"""Link of one front end to the metastore: its calls, and its faults.

Every call is counted by its Thrift name, as the metastore's own audit log would by source address.
Faults of the way are set here for one front end: a slow metastore, one that never answers, none.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from math import ceil
from typing import TypeVar

from stack.starrocks.hive import (
    Hive,
    HivePartition,
    HiveTable,
    MetastoreDown,
    NoSuchObject,
    ReadTimedOut,
)

T = TypeVar("T")
# A read that times out is repeated: with 10 s each, a statement was seen to take 51 s.
_N_TRIES = 5
# Config max_hive_partitions_per_rpc.
_BATCH = 5000
# Into how many slices a call by names is split, one after the other as each times out.
_SLICES = (1, 2, 4, 8)


class Trouble(StrEnum):
    """What is wrong between a front end and the metastore."""

    NONE = "NONE"
    FROZEN = "FROZEN"
    DOWN = "DOWN"


@dataclass(slots=True)
class Weather:
    """What stands in the way now; `delay` seconds are added to each call.

    `delay_a_name`: seconds for each partition that a call asks for by name.
    """

    trouble: Trouble = Trouble.NONE
    delay: float = 0.0
    delay_a_name: float = 0.0


class Link:
    """The metastore as one front end sees it; a frozen or dead one is kept at the `gate`."""

    def __init__(
        self, hive: Hive, *, timeout_seconds: float, gate: Callable[[], None] = lambda: None
    ) -> None:
        self._hive = hive
        self.timeout_seconds = timeout_seconds
        self._gate = gate
        self.weather = Weather()
        self.calls: Counter[str] = Counter()
        self._changed = threading.Condition()

    def set_weather(self, weather: Weather) -> None:
        """Change what stands in the way; calls that wait see it at once."""
        with self._changed:
            self.weather = weather
            self._changed.notify_all()

    def databases(self) -> list[str]:
        """Return the names of all databases."""
        return self._call("get_all_databases", self._hive.databases)

    def has_database(self, db: str) -> bool:
        """Whether there is a database of this name."""
        return self._call("get_database", lambda: self._hive.has_database(db))

    def tables(self, db: str) -> list[str]:
        """Return the names of a database's tables."""
        return self._call("get_all_tables", lambda: self._hive.tables(db))

    def table(self, db: str, table: str) -> HiveTable:
        """Return a table, or raise NoSuchObject."""
        return self._call("get_table", lambda: self._hive.table(db, table))

    def partition_names(self, table: HiveTable) -> tuple[str, ...]:
        """Return the names of all partitions."""
        names = self._call(
            "get_partition_names", lambda: self._hive.partition_names(table.db, table.name)
        )
        return tuple(names)

    def partitions(self, table: HiveTable, names: Sequence[str]) -> dict[str, HivePartition]:
        """Return those of the named partitions that exist, 5000 a call.

        A call that times out is made again in 2, then 4, then 8 slices.
        """
        found = {}
        for start in range(0, len(names), _BATCH):
            for partition in self._sliced(table, names[start : start + _BATCH]):
                found[partition.name] = partition
        return found

    def _sliced(self, table: HiveTable, batch: Sequence[str]) -> list[HivePartition]:
        for n_slices in _SLICES:
            size = max(1, ceil(len(batch) / n_slices))
            found: list[HivePartition] = []
            with suppress(ReadTimedOut):
                for start in range(0, len(batch), size):
                    some = batch[start : start + size]
                    ask = partial(self._hive.partitions, table, some)
                    name = "get_partitions_by_names"
                    found += self._call(name, ask, n_names=len(some), n_tries=1)
                return found
        raise ReadTimedOut

    def partition(self, table: HiveTable, name: str) -> HivePartition:
        """Return one partition, or raise NoSuchObject (2.2 asks one by one)."""
        found = self._call("get_partition", lambda: self._hive.partitions(table, [name]))
        if not found:
            raise NoSuchObject(f"NoSuchObjectException: partition values={_values(name)}")
        return found[0]

    def statistics(self, table: HiveTable, names: Sequence[str]) -> None:
        """Ask for the columns' statistics of partitions."""
        self._call("get_partitions_statistics_req", lambda: self._hive.statistics(table, names))

    def file_bytes(self, location: str) -> int:
        """Return the size of the files below a location; the metastore has no part in it."""
        return self._hive.file_bytes(location)

    def _call(
        self, name: str, call: Callable[[], T], *, n_names: int = 0, n_tries: int = _N_TRIES
    ) -> T:
        self._gate()
        self.calls[name] += 1
        for _ in range(n_tries):
            if self._passes(n_names):
                with suppress(ReadTimedOut):
                    return call()
        raise ReadTimedOut

    def _passes(self, n_names: int) -> bool:
        """Wait as the weather has it; False if the call was lost."""
        with self._changed:
            weather = self.weather
            if weather.trouble is Trouble.DOWN:
                raise MetastoreDown
            if weather.trouble is Trouble.FROZEN:
                self._changed.wait(self.timeout_seconds)
                return self.weather.trouble is Trouble.NONE
            delay = weather.delay + weather.delay_a_name * n_names
            if delay:
                self._changed.wait(min(delay, self.timeout_seconds))
                return delay <= self.timeout_seconds
            return True


def _values(name: str) -> str:
    return "[" + ", ".join(part.partition("=")[2] for part in name.split("/")) + "]"
