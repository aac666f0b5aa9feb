"""Asks a server for its binary log and reads the events' bytes, checked by their checksums.

It speaks the replication protocol itself: mysql-replication reconnects silently for ever, loses
its position with `is_mariadb`, and ends at any table of the server that has a compressed column.
A lost connection is an error here; whoever asked resumes from what he wrote.
"""

import re
import select
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pipelines.cdc.capture.connectors.mysql import connect, translated
from pipelines.cdc.capture.domain.config import SourceConfig
from pipelines.cdc.changes.domain.positions import Position
from portal.lake.errors import ExternalFailure

ROTATE, FORMAT, HEARTBEAT, HEARTBEAT_V2 = 4, 15, 27, 41
_COM_REGISTER_SLAVE, _COM_BINLOG_DUMP = 0x15, 0x12
_HEAD = struct.Struct("<IBIIIH")
_HEAD_SIZE = 20  # the protocol's byte "OK", then the event's own header of 19
_CHECKSUM = 4
_ARTIFICIAL = 0x20
_HEARTBEAT_SECONDS = 0.5
_NAME_WITH_CHECKSUM = re.compile(rb"[^/\0]+\.\d{6,10}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RawEvent:
    """An event as the server sent it: its body has neither header nor checksum."""

    kind: int
    at: int
    """Seconds since 1970."""
    size: int
    start: Position
    end: Position
    body: bytes
    is_artificial: bool
    """Whether it is made for this connection and is not in the log."""


class Dump:
    """One connection that receives the log from a position on. Close it when done."""

    def __init__(self, config: SourceConfig, position: Position) -> None:
        self._config = config
        self._position = position
        # PyMySQL has no words for replication, so its inner ones are used.
        self._link: Any = connect(config)
        self._has_checksums = False
        self.is_hurried = False
        """Whether to yield None at once, rather than wait, while the server has nothing to send."""
        with translated(config):
            self._ask()

    def close(self) -> None:
        """End the connection at once."""
        self._link.close()

    def __iter__(self) -> Iterator[RawEvent | None]:
        """Yield events for ever; heartbeats come while there are none, or None if hurried.

        Raises:
            ExternalFailure: what `mysql.failure` says; `cdc.event` on a wrong checksum.
        """
        while True:
            while self.is_hurried and not self._has_data():
                yield None
            with translated(self._config):
                packet = self._link._read_packet()
            if packet.is_eof_packet():
                raise ExternalFailure(
                    "cdc.unreachable",
                    "The server ended the binary log's connection.",
                    service="mysql",
                    retryable=True,
                )
            yield self._event(packet.get_all_data())

    def _has_data(self) -> bool:
        """Whether bytes came; a rest in the driver's buffer comes with the next heartbeat."""
        return bool(select.select([self._link._sock], [], [], 0)[0])

    def _ask(self) -> None:
        cursor = self._link.cursor()
        cursor.execute("SELECT @@global.binlog_checksum")
        row = cursor.fetchone()
        self._has_checksums = row is not None and str(row[0]).upper() == "CRC32"
        period = int(_HEARTBEAT_SECONDS * 1e9)
        for side in ("master", "source"):
            cursor.execute(f"SET @{side}_binlog_checksum = @@global.binlog_checksum")
            cursor.execute(f"SET @{side}_heartbeat_period = {period}")
        # Without it MariaDB replaces events that it thinks are not understood.
        cursor.execute("SET @mariadb_slave_capability = 4")
        cursor.close()
        # Registered, so that SHOW SLAVE HOSTS of the server lists the capture.
        name = b"lakewarden"
        host = bytes((len(name),)) + name
        own_id = self._config.server_id
        body = struct.pack("<I", own_id) + host + b"\0\0" + struct.pack("<HII", 0, 0, 0)
        self._command(_COM_REGISTER_SLAVE, body)
        self._link._read_packet()
        file = self._position.file.encode()
        offset = max(self._position.offset, 4)
        self._command(_COM_BINLOG_DUMP, struct.pack("<IHI", offset, 0, own_id) + file)

    def _command(self, number: int, body: bytes) -> None:
        self._link._execute_command(number, body)

    def _event(self, data: bytes) -> RawEvent:
        at, kind, _, size, end, flags = _HEAD.unpack_from(data, 1)
        is_artificial = end == 0 or bool(flags & _ARTIFICIAL) or kind in (HEARTBEAT, HEARTBEAT_V2)
        if kind == FORMAT:
            # Since MySQL 5.6 its last byte says whether the events of the file have checksums.
            self._has_checksums = data[-_CHECKSUM - 1] == 1
        has_checksum = self._has_checksums
        if kind == ROTATE:
            name = data[_HEAD_SIZE + 8 : -_CHECKSUM]
            has_checksum = _NAME_WITH_CHECKSUM.fullmatch(name) is not None
        if has_checksum or kind == FORMAT:
            if has_checksum and not is_artificial:
                self._check(data, end)
            data = data[:-_CHECKSUM]
        body = data[_HEAD_SIZE:]
        start = self._position
        if kind == ROTATE:
            (offset,) = struct.unpack_from("<Q", body)
            self._position = Position(start.epoch, body[8:].decode(), offset)
        elif not is_artificial:
            # The header's four bytes begin again after 4 GiB, which `Position` refuses to pass.
            wrapped = end < start.offset and start.offset + size >= 1 << 32
            begin = start.offset if wrapped else end - size
            start = Position(start.epoch, start.file, begin)
            self._position = Position(start.epoch, start.file, begin + size)
        return RawEvent(kind, at, size, start, self._position, body, is_artificial)

    def _check(self, data: bytes, end: int) -> None:
        told = int.from_bytes(data[-_CHECKSUM:], "little")
        if zlib.crc32(memoryview(data)[1:-_CHECKSUM]) != told:
            raise ExternalFailure(
                "cdc.event",
                f"The event that ends at {end} of {self._position.file} has a wrong checksum; look "
                "at the server's disk. The capture tries again by itself.",
                service="mysql",
                retryable=True,
            )
