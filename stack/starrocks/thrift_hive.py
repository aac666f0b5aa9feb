"""The port to the metastore, spoken to a real one over Thrift.

Its own client rather than the portal's: a front end repeats the metastore's very words, which the
portal's client has already turned into its own.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.Thrift import TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

from portal.connectors.kerberos.sasl import SaslTransport
from portal.connectors.kerberos.settings import Kerberos
from portal.lake.names import escape_path_name
from stack.starrocks.files import file_bytes
from stack.starrocks.hive import (
    HiveError,
    HivePartition,
    HiveTable,
    MetastoreDown,
    NoSuchObject,
    ReadTimedOut,
)
from stack.starrocks.spec import OPEN, Access

T = TypeVar("T")
_DEFAULT_PORT = 9083


class _Connection:
    """One open connection."""

    def __init__(
        self, host: str, port: int, *, timeout_seconds: float, kerberos: Kerberos | None
    ) -> None:
        socket: Any = TSocket(host, port)
        socket.setTimeout(timeout_seconds * 1000)
        if kerberos is not None:
            socket = SaslTransport(socket, kerberos, kerberos.service_principal(host))
        self.transport = TBufferedTransport(socket)
        self.client: Any = ThriftHiveMetastore.Client(TBinaryProtocolAccelerated(self.transport))
        self.transport.open()


class ThriftHive:
    """A metastore by its addresses, `thrift://host:port[,..]`; for any number of threads."""

    def __init__(self, uris: str, *, timeout_seconds: float, access: Access = OPEN) -> None:
        self._access = access
        self._places = [_place(uri) for uri in uris.split(",")]
        self._timeout_seconds = timeout_seconds
        self._idle: list[_Connection] = []
        self._lock = threading.Lock()

    def databases(self) -> list[str]:
        """Return the names of all databases."""
        return sorted(self._call(lambda client: client.get_all_databases()))

    def has_database(self, db: str) -> bool:
        """Whether there is a database of this name."""
        try:
            self._call(lambda client: client.get_database(db))
        except NoSuchObject:
            return False
        return True

    def tables(self, db: str) -> list[str]:
        """Return the names of a database's tables."""
        return sorted(self._call(lambda client: client.get_all_tables(db)))

    def table(self, db: str, table: str) -> HiveTable:
        """Return a table, or raise NoSuchObject."""
        found = self._call(lambda client: client.get_table(db, table))
        return HiveTable(
            db=found.dbName,
            name=found.tableName,
            columns=_columns(found.sd.cols),
            partition_columns=_columns(found.partitionKeys or ()),
            location=found.sd.location or "",
            is_external=found.tableType == "EXTERNAL_TABLE",
            parameters=dict(found.parameters or {}),
        )

    def partition_names(self, db: str, table: str) -> list[str]:
        """Return the names of all partitions."""
        return list(self._call(lambda client: client.get_partition_names(db, table, -1)))

    def partitions(self, table: HiveTable, names: Sequence[str]) -> list[HivePartition]:
        """Return those of the named partitions that exist."""
        if not names:
            return []
        found = self._call(
            lambda client: client.get_partitions_by_names(table.db, table.name, list(names))
        )
        return [
            HivePartition(
                _partition_name(table, one.values),
                one.sd.location or "",
                dict(one.parameters or {}),
            )
            for one in found
        ]

    def statistics(self, table: HiveTable, names: Sequence[str]) -> None:
        """Ask for the columns' statistics of partitions."""
        columns = [name for name, _ in table.columns]
        request = ttypes.PartitionsStatsRequest(
            dbName=table.db, tblName=table.name, colNames=columns, partNames=list(names)
        )
        if names and columns:
            self._call(lambda client: client.get_partitions_statistics_req(request))

    def file_bytes(self, location: str) -> int:
        """Return the size of the files below a location."""
        return file_bytes(location, self._access)

    # -- inside ----------------------------------------------------------------------------

    def _call(self, ask: Callable[[Any], T]) -> T:
        with _translated():
            connection, is_fresh = self._take()
            try:
                answer = self._ask(connection, ask)
            except TTransportException as error:
                # An idle connection may have been closed by a metastore that was restarted.
                if is_fresh or error.type == TTransportException.TIMED_OUT:
                    raise
                connection = self._open()
                answer = self._ask(connection, ask)
        with self._lock:
            self._idle.append(connection)
        return answer

    def _ask(self, connection: _Connection, ask: Callable[[Any], T]) -> T:
        try:
            return ask(connection.client)
        except (TException, OSError, EOFError):
            connection.transport.close()
            raise

    def _take(self) -> tuple[_Connection, bool]:
        with self._lock:
            if self._idle:
                return self._idle.pop(), False
        return self._open(), True

    def _open(self) -> _Connection:
        for host, port in self._places[:-1]:
            try:
                return self._connect(host, port)
            except TTransportException:
                continue
        return self._connect(*self._places[-1])

    def _connect(self, host: str, port: int) -> _Connection:
        kerberos = self._access.kerberos
        return _Connection(host, port, timeout_seconds=self._timeout_seconds, kerberos=kerberos)


def _place(uri: str) -> tuple[str, int]:
    host, _, port = uri.strip().rpartition("://")[2].partition(":")
    return host, int(port or _DEFAULT_PORT)


def _columns(fields: Sequence[Any]) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, field.type) for field in fields)


def _partition_name(table: HiveTable, values: Sequence[str]) -> str:
    pairs = zip(table.partition_columns, values, strict=True)
    return "/".join(
        f"{escape_path_name(name.lower())}={escape_path_name(value)}" for (name, _), value in pairs
    )


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (ttypes.NoSuchObjectException, ttypes.UnknownDBException) as error:
        raise NoSuchObject(f"NoSuchObjectException: {error.message}") from error
    except TTransportException as error:
        if error.type == TTransportException.TIMED_OUT:
            raise ReadTimedOut from error
        raise MetastoreDown from error
    except TimeoutError as error:
        raise ReadTimedOut from error
    except (OSError, EOFError) as error:
        raise MetastoreDown from error
    except TException as error:
        said = getattr(error, "message", None) or repr(error)
        raise HiveError(f"{type(error).__name__}: {said}") from error
