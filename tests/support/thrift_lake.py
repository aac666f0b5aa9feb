"""A small lake behind the metastore's own Thrift interface, on a socket of its own.

So the client is tested by the generated code's other half where no JVM may run; that a real
metastore answers alike is an integration test's business.
"""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocolFactory
from thrift.transport.TSocket import TServerSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

from stack.process import LOOPBACK, free_port
from tests.support.small_hive import COLUMNS, SmallHive


class ThriftLake:
    """The handler of the calls that a front end makes; anything else it does not know."""

    def __init__(self, lake: SmallHive, root: Path) -> None:
        self.lake = lake
        self.root = root
        self.asked: list[str] = []
        self.owner = "olga"
        self.events: list[Any] = []
        self.shows_events = True
        """Whether whoever asks may read the notification log."""

    def write(self, table: str, part: str, size: int) -> None:
        """Write a partition's one file, with hidden ones beside it, and register it."""
        folder = self.root / table / part
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "part-0.parquet").write_bytes(b"x" * size)
        (folder / "_SUCCESS").write_bytes(b"done")
        self.lake.put(table, part, size=size)

    def get_all_databases(self) -> list[str]:
        return self.lake.databases()

    def get_database(self, name: str) -> Any:
        if not self.lake.has_database(name):
            raise ttypes.NoSuchObjectException(name)
        return ttypes.Database(name=name)

    def get_all_tables(self, db: str) -> list[str]:
        return self.lake.tables(db)

    def get_table(self, db: str, name: str) -> Any:
        self.asked.append(f"{db}.{name}")
        if name not in self.lake.kept.get(db, {}):
            raise ttypes.NoSuchObjectException(f"hive.{db}.{name} table not found")
        if name == "broken":
            raise ttypes.MetaException("it is broken")
        return ttypes.Table(
            dbName=db,
            tableName=name,
            tableType="EXTERNAL_TABLE",
            sd=ttypes.StorageDescriptor(
                cols=_fields(COLUMNS), location=f"file://{self.root}/{name}"
            ),
            partitionKeys=_fields(self.lake.kept[db][name].partition_columns),
            owner=self.owner,
            parameters=dict(self.lake.kept[db][name].parameters),
        )

    def get_partition_names(self, db: str, name: str, limit: int) -> list[str]:
        assert limit == -1
        return self.lake.partition_names(db, name)

    def get_partitions_by_names(self, db: str, name: str, names: list[str]) -> list[Any]:
        table = self.lake.table(db, name)
        return [
            ttypes.Partition(
                values=[one.name.partition("=")[2].replace("%3A", ":")],
                sd=ttypes.StorageDescriptor(location=f"file://{self.root}/{name}/{one.name}"),
                parameters=dict(one.parameters),
            )
            for one in reversed(self.lake.partitions(table, names))
        ]

    def get_num_partitions_by_filter(self, db: str, name: str, text: str) -> int:
        assert text == ""
        return len(self.lake.partition_names(db, name))

    def get_current_notificationEventId(self) -> Any:
        if not self.shows_events:
            raise ttypes.MetaException("User olga is not allowed to perform this API call")
        return ttypes.CurrentNotificationEventId(max([e.eventId for e in self.events], default=0))

    def get_next_notification(self, request: Any) -> Any:
        found = [event for event in self.events if event.eventId > request.lastEvent]
        return ttypes.NotificationEventResponse(found[: request.maxEvents])

    def get_partitions_statistics_req(self, request: Any) -> Any:
        assert request.colNames == [name for name, _ in COLUMNS]
        self.asked.append(f"statistics of {len(request.partNames)}")
        return ttypes.PartitionsStatsResult(partStats={})


def _fields(columns: Sequence[tuple[str, str]]) -> list[Any]:
    return [ttypes.FieldSchema(name=name, type=kind) for name, kind in columns]


@contextmanager
def served(lake: ThriftLake, *, port: int | None = None) -> Iterator[int]:
    """Serve a lake's Thrift interface; returns the port."""
    chosen = port or free_port()
    server = TServerSocket(LOOPBACK, chosen)
    server.listen()
    open_ones: list[Any] = []
    accepting = threading.Thread(target=_accept, args=(server, lake, open_ones), daemon=True)
    accepting.start()
    try:
        yield chosen
    finally:
        with suppress(OSError):
            server.handle.shutdown(socket.SHUT_RDWR)
        server.close()
        for connection in open_ones:
            connection.close()
        accepting.join(5)


def _accept(server: Any, lake: ThriftLake, open_ones: list[Any]) -> None:
    with suppress(OSError, AttributeError):
        while True:
            connection = server.accept()
            open_ones.append(connection)
            threading.Thread(target=_serve, args=(connection, lake), daemon=True).start()


def _serve(connection: Any, lake: ThriftLake) -> None:
    protocol = TBinaryProtocolFactory().getProtocol(TBufferedTransport(connection))
    processor = ThriftHiveMetastore.Processor(lake)
    with suppress(TTransportException, OSError, EOFError, AttributeError):
        while True:
            processor.process(protocol, protocol)
