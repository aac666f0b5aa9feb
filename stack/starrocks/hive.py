"""Reads what a front end needs from a Hive metastore and its files, with their failures.

`Hive` is the port: `ThriftHive` speaks to a real metastore. The simulator's own tests have a small
model of a lake behind the same port, because what they test is the front end (its caches, locks,
words, timing), and they must run where no JVM may.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


class HiveError(Exception):
    """The metastore did not give what was asked; the text is what a front end repeats."""


class NoSuchObject(HiveError):
    """It says that there is no such thing."""


class ReadTimedOut(HiveError):
    """It did not answer in time."""

    def __init__(self) -> None:
        super().__init__("SocketTimeoutException: Read timed out")


class MetastoreDown(HiveError):
    """Nobody listens; the words come with a whole Java stack."""

    def __init__(self) -> None:
        super().__init__(
            "MetaException: Could not connect to meta store using any of the URIs provided."
            " Most recent failure: org.apache.thrift.transport.TTransportException:"
            " java.net.ConnectException: Connection refused (Connection refused)\n"
            "\tat org.apache.thrift.transport.TSocket.open(TSocket.java:226)\n"
            "\tat org.apache.hadoop.hive.metastore.HiveMetaStoreClient.open"
        )


@dataclass(frozen=True, slots=True)
class HiveTable:
    """A table as the metastore has it; columns are (name, Hive type)."""

    db: str
    name: str
    columns: tuple[tuple[str, str], ...]
    partition_columns: tuple[tuple[str, str], ...]
    location: str
    is_external: bool = False
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_partitioned(self) -> bool:
        """Whether it has partitions."""
        return bool(self.partition_columns)


@dataclass(frozen=True, slots=True)
class HivePartition:
    """A partition as the metastore has it."""

    name: str
    location: str
    parameters: Mapping[str, str] = field(default_factory=dict)


class Hive(Protocol):
    """The calls of a front end. All raise HiveError; safe for several threads."""

    def databases(self) -> list[str]:
        """Return the names of all databases."""
        ...

    def has_database(self, db: str) -> bool:
        """Whether there is a database of this name."""
        ...

    def tables(self, db: str) -> list[str]:
        """Return the names of a database's tables."""
        ...

    def table(self, db: str, table: str) -> HiveTable:
        """Return a table, or raise NoSuchObject."""
        ...

    def partition_names(self, db: str, table: str) -> list[str]:
        """Return the names of all partitions."""
        ...

    def partitions(self, table: HiveTable, names: Sequence[str]) -> list[HivePartition]:
        """Return those of the named partitions that exist."""
        ...

    def statistics(self, table: HiveTable, names: Sequence[str]) -> None:
        """Ask for the columns' statistics of partitions; what comes back is not used here."""
        ...

    def file_bytes(self, location: str) -> int:
        """Return the size of the files below a location; 0 where there is none."""
        ...
