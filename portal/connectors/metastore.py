"""The Hive Metastore over Thrift: raw generated structures in and out, every call with a time-out.

One factory makes every transport, so that SASL comes in at one place. A lost answer is an
ExternalFailure: the caller looks again before it repeats, nothing is retried here. Statistics and
DDL times are left as given: a change of ours must not count as a user's update.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeVar

from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.protocol.TJSONProtocol import TJSONProtocol
from thrift.Thrift import TApplicationException, TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import (
    TBufferedTransport,
    TMemoryBuffer,
    TTransportException,
)

from portal.connectors.kerberos.sasl import SaslTransport
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure, NotVisible, StaleState
from portal.lake.names import PartitionName, TableName

_BATCH = 500
_MOST_NAMES = 32_767  # the limit is an i16 on the wire
_KEEP = {"DO_NOT_UPDATE_STATS": "true"}

Struct = TypeVar("Struct")
Answer = TypeVar("Answer")


class Metastore:
    """One connection to one lake's metastore; not for several threads."""

    def __init__(
        self, client: Any, transport: Any, open_another: "Callable[[], Metastore]"
    ) -> None:
        self._client = client
        self._transport = transport
        self._open_another = open_another
        self._aside: Metastore | None = None

    @classmethod
    def connect(cls, config: LakeConfig, *, timeout_seconds: float | None = None) -> "Metastore":
        """Open a connection and say who we are: by Kerberos where the lake has it, else set_ugi.

        Raises:
            ExternalFailure: nothing listens, it does not answer in time, or it refuses us.
        """
        socket = TSocket(config.thrift_host, config.thrift_port)
        socket.setTimeout((timeout_seconds or config.metastore_timeout_seconds) * 1000)
        if (kerberos := config.kerberos) is None:
            transport = TBufferedTransport(socket)
        else:
            service = kerberos.service_principal(config.thrift_host)
            transport = TBufferedTransport(SaslTransport(socket, kerberos, service))
        client = ThriftHiveMetastore.Client(TBinaryProtocolAccelerated(transport))
        with _translated():
            transport.open()
            if kerberos is None and config.hadoop_user is not None:
                client.set_ugi(config.hadoop_user, [config.hadoop_user])
        return cls(client, transport, lambda: cls.connect(config, timeout_seconds=timeout_seconds))

    def __enter__(self) -> Self:
        """Return the open connection."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection; twice is no error."""
        self.close_aside()
        self._transport.close()

    def aside(self) -> "Metastore":
        """Return a second connection for calls that may end theirs: opened once, closed with this.

        Raises:
            ExternalFailure: nothing listens, or it does not answer in time.
        """
        if self._aside is None:
            self._aside = self._open_another()
        return self._aside

    def close_aside(self) -> None:
        """Close the second connection, if there is one; who asks for it again gets a new one."""
        if self._aside is not None:
            self._aside.close()
            self._aside = None

    def call(self, ask: Callable[[Any], Answer]) -> Answer:
        """Return what the raw client answers, its errors told as those of all other calls."""
        with _translated():
            return ask(self._client)

    def call_if_known(self, ask: Callable[[Any], Answer]) -> Answer | None:
        """Return what the raw client answers; None where the metastore knows no such call."""
        try:
            return self.call(ask)
        except ExternalFailure as error:
            cause = error.__cause__
            if isinstance(cause, TApplicationException) and (
                cause.type == TApplicationException.UNKNOWN_METHOD
            ):
                return None
            raise

    def databases(self) -> list[str]:
        """Return the names of all databases."""
        with _translated():
            return sorted(self._client.get_all_databases())

    def database(self, name: str) -> ttypes.Database:
        """Return a database; NotVisible `metastore.missing`."""
        with _translated():
            return self._client.get_database(name)

    def table(self, name: TableName) -> ttypes.Table:
        """Return a table; NotVisible `metastore.missing`."""
        with _translated():
            return self._client.get_table(name.db, name.table)

    def table_or_none(self, name: TableName) -> ttypes.Table | None:
        """Return a table, or None where there is none of this name."""
        try:
            return self.table(name)
        except NotVisible:
            return None

    def partition_names(self, table: TableName) -> list[str]:
        """Return the names of all partitions of a table (small tables and tests only)."""
        with _translated():
            return list(self._client.get_partition_names(table.db, table.table, -1))

    def n_partitions(self, table: TableName) -> int:
        """Count a table's partitions in one cheap call; 0 where it has no partition keys."""
        with _translated():
            return int(self._client.get_num_partitions_by_filter(table.db, table.table, ""))

    def partition_names_like(
        self, table: TableName, values: Sequence[str], *, limit: int | None = _MOST_NAMES
    ) -> list[str]:
        """Return names of partitions with these values, one a key, "" = any; None = no limit.

        The metastore reads a full stop as any character, so a few names more may come: compare.
        """
        most = -1 if limit is None else min(limit, _MOST_NAMES)
        with _translated():
            return list(
                self._client.get_partition_names_ps(table.db, table.table, list(values), most)
            )

    def partitions_by_names(self, table: TableName, names: Sequence[str]) -> list[ttypes.Partition]:
        """Return those of the named partitions that exist, 500 a call; names as `k=v/k=v`."""
        found: list[ttypes.Partition] = []
        for start in range(0, len(names), _BATCH):
            batch = list(names[start : start + _BATCH])
            with _translated():
                found += self._client.get_partitions_by_names(table.db, table.table, batch)
        return found

    def drop_partitions(
        self, table: TableName, names: Sequence[str], *, delete_data: bool = False
    ) -> list[ttypes.Partition]:
        """Drop partitions in one metastore transaction and give what was dropped.

        A name that is not registered fails the whole call: NotVisible `metastore.missing`.
        """
        request = ttypes.DropPartitionsRequest(
            dbName=table.db,
            tblName=table.table,
            parts=ttypes.RequestPartsSpec(names=list(names)),
            deleteData=delete_data,
            ifExists=False,
            needResult=True,
        )
        with _translated():
            return list(self._client.drop_partitions_req(request).partitions or [])

    def drop_table(self, table: TableName, *, delete_data: bool = False) -> None:
        """Drop a table; NotVisible `metastore.missing`."""
        with _translated():
            self._client.drop_table(table.db, table.table, delete_data)

    def create_database(self, database: ttypes.Database) -> None:
        """Register a database; StaleState `metastore.exists`."""
        with _translated():
            self._client.create_database(database)

    def alter_database(self, name: str, database: ttypes.Database) -> None:
        """Change a database; NotVisible `metastore.missing`."""
        with _translated():
            self._client.alter_database(name, database)

    def drop_empty_database(self, name: str) -> None:
        """Drop a database that holds no table; NotVisible `metastore.missing`."""
        with _translated():
            self._client.drop_database(name, deleteData=False, cascade=False)

    def tables(self, db: str) -> list[str]:
        """Return the names of a database's tables and views."""
        with _translated():
            return sorted(self._client.get_all_tables(db))

    def create_table(self, table: ttypes.Table) -> None:
        """Register a table as given, its statistics and DDL time included."""
        with _translated():
            self._client.create_table_with_environment_context(table, _context())

    def add_partitions(
        self, partitions: Sequence[ttypes.Partition], *, if_not_exists: bool
    ) -> list[ttypes.Partition]:
        """Register partitions of one table and give those added; else `metastore.exists`."""
        if not partitions:
            return []
        request = ttypes.AddPartitionsRequest(
            dbName=partitions[0].dbName,
            tblName=partitions[0].tableName,
            parts=list(partitions),
            ifNotExists=if_not_exists,
            needResult=True,
        )
        with _translated():
            return list(self._client.add_partitions_req(request).partitions or [])

    def alter_table_keeping_times(self, name: TableName, table: ttypes.Table) -> None:
        """Change a table; a Thrift alter keeps the DDL time that the structure holds."""
        with _translated():
            self._client.alter_table_with_environment_context(
                name.db, name.table, table, _context()
            )

    def alter_partitions(self, table: TableName, partitions: Sequence[ttypes.Partition]) -> None:
        """Change partitions in one call; their DDL times stay as given."""
        with _translated():
            self._client.alter_partitions_with_environment_context(
                table.db, table.table, list(partitions), _context()
            )

    def config_value(self, name: str) -> str:
        """Return one of the metastore's own settings; empty where it has none."""
        with _translated():
            return str(self._client.get_config_value(name, ""))

    def current_notification_id(self) -> int:
        """Return the id of the newest event."""
        with _translated():
            return int(self._client.get_current_notificationEventId().eventId)

    def notifications_after(self, event_id: int, limit: int) -> list[ttypes.NotificationEvent]:
        """Return at most `limit` events after `event_id`, oldest first."""
        request = ttypes.NotificationEventRequest(lastEvent=event_id, maxEvents=limit)
        with _translated():
            return list(self._client.get_next_notification(request).events or [])

    def fire_insert(
        self, table: TableName, partition: PartitionName | None = None, *, files: Sequence[str] = ()
    ) -> None:
        """Put an INSERT event into the log: a table's or one partition's files have changed.

        Raises:
            ExternalFailure: `metastore.refused`; the metastore does not say why.
        """
        # 3.1.3 looks for a checksum of each file and breaks the connection where there is none.
        added = ttypes.InsertEventRequestData(
            replace=False, filesAdded=list(files), filesAddedChecksum=[""] * len(files)
        )
        request = ttypes.FireEventRequest(
            successful=True,
            data=ttypes.FireEventRequestData(insertData=added),
            dbName=table.db,
            tableName=table.table,
            partitionVals=None if partition is None else partition.metastore_values,
        )
        with _translated(), _told_why(table, partition):
            self._client.fire_listener_event(request)


def to_json(struct: Any) -> str:
    """Write a Thrift structure as Hive's own JSON (numeric field ids), for manifests."""
    buffer = TMemoryBuffer()
    struct.write(TJSONProtocol(buffer))
    return str(buffer.getvalue().decode("utf-8"))


def from_json(cls: Callable[[], Struct], text: str) -> Struct:
    """Read what `to_json` wrote."""
    struct: Any = cls()
    struct.read(TJSONProtocol(TMemoryBuffer(text.encode("utf-8"))))
    return struct  # type: ignore[no-any-return]  # Thrift's structures are untyped


def _context() -> ttypes.EnvironmentContext:
    return ttypes.EnvironmentContext(properties=dict(_KEEP))


@contextmanager
def _told_why(table: TableName, partition: PartitionName | None) -> Iterator[None]:
    """Say what is likely; the call has no errors of its own in Thrift."""
    try:
        yield
    except TApplicationException as error:
        named = str(table) if partition is None else f"{table}, {partition}"
        raise ExternalFailure(
            "metastore.refused",
            f"The metastore took no INSERT event of {named} and does not say why. "
            "Check that it is registered and that the partition has a value for each key.",
            service="metastore",
            retryable=False,
        ) from error


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (ttypes.NoSuchObjectException, ttypes.UnknownDBException) as error:
        raise NotVisible("metastore.missing", _said(error, "It is not registered.")) from error
    except ttypes.AlreadyExistsException as error:
        raise StaleState("metastore.exists", _said(error, "It is registered already.")) from error
    except (TTransportException, OSError, EOFError) as error:
        raise ExternalFailure(
            "metastore.unreachable",
            f"The metastore does not answer: {error}. Nothing is known of the last call.",
            service="metastore",
            retryable=True,
        ) from error
    except TException as error:
        raise ExternalFailure(
            "metastore.refused",
            f"The metastore refused: {_said(error, repr(error))}",
            service="metastore",
            retryable=False,
        ) from error


def _said(error: Any, otherwise: str) -> str:
    return str(getattr(error, "message", None) or otherwise)
