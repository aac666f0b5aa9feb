"""SASL with GSSAPI as Thrift's servers speak it: the transport under the metastore's client.

A message of the log-in is a status byte, a length and data; afterwards a frame is a length and
data, which are signed or encrypted if the server asks for it.
"""

import struct
from typing import Any

from thrift.transport.TTransport import TTransportException

from portal.connectors.kerberos.gssapi import ClientContext, GssError
from portal.connectors.kerberos.settings import Kerberos
from portal.connectors.kerberos.tickets import credentials, failure, refused_by_service
from portal.lake.errors import ExternalFailure

_START, _OK, _BAD, _ERROR, _COMPLETE = 1, 2, 3, 4, 5
_PLAIN, _SIGNED, _ENCRYPTED = 1, 2, 4
_MOST_IN_LOGIN = 65_536
# A server takes its port's own limit; this is what Hive's and Hadoop's clients send at most.
_FRAME_BYTES = 65_536


class SaslTransport:
    """Frames over a socket, once the server knows who we are; Thrift's own names of methods."""

    def __init__(self, socket: Any, kerberos: Kerberos, service: str) -> None:
        self._socket = socket
        self._kerberos = kerberos
        self._service = service
        self._context: ClientContext | None = None
        self._protection = _PLAIN
        self._read, self._written = b"", bytearray()

    def isOpen(self) -> bool:
        """Whether the socket is open."""
        return bool(self._socket.isOpen())

    def open(self) -> None:
        """Connect and log in.

        Raises:
            ExternalFailure: `kerberos.*`, no ticket, or the server refuses it.
            TTransportException: nothing listens, or it does not answer in time.
        """
        self._socket.open()
        try:
            with credentials(self._kerberos, self._service) as found:
                self._context = ClientContext(found, self._service)
                self._log_in(self._context)
        except GssError as error:
            self.close()
            raise failure(error, self._kerberos.principal, self._service) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the connection; twice is no error."""
        self._socket.close()
        if self._context is not None:
            self._context.close()
            self._context = None
        self._read, self._written = b"", bytearray()

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes of the frame that is read, at least one."""
        while not self._read:
            self._read = self._frame()
        data, self._read = self._read[:size], self._read[size:]
        return data

    def readAll(self, size: int) -> bytes:
        """Return exactly `size` bytes."""
        parts = []
        while size:
            parts.append(self.read(size))
            size -= len(parts[-1])
        return b"".join(parts)

    def write(self, data: bytes) -> None:
        """Keep data until `flush`."""
        self._written += data

    def flush(self) -> None:
        """Send what was written, in frames that every server takes."""
        data, self._written = bytes(self._written), bytearray()
        for start in range(0, len(data), _FRAME_BYTES):
            frame = data[start : start + _FRAME_BYTES]
            if self._protection != _PLAIN and self._context is not None:
                frame = self._context.wrap(frame, encrypt=self._protection == _ENCRYPTED)
            self._socket.write(struct.pack(">I", len(frame)) + frame)
        self._socket.flush()

    # -- inside ----------------------------------------------------------------------------

    def _frame(self) -> bytes:
        (length,) = struct.unpack(">I", self._socket.readAll(4))
        frame = bytes(self._socket.readAll(length))
        if self._protection == _PLAIN or self._context is None:
            return frame
        try:
            return self._context.unwrap(frame)
        except GssError as error:
            raise TTransportException(message=f"A frame is damaged: {error}") from error

    def _log_in(self, context: ClientContext) -> None:
        self._send(_START, b"GSSAPI")
        self._send(_OK, context.step(b""))
        while not context.is_complete:
            self._send(_OK, context.step(self._answer()))
        token = self._answer()
        if not token:  # an empty step: the server had the last word of GSSAPI
            token = self._answer()
        offered = context.unwrap(token)[0]
        self._protection = max(
            level for level in (_PLAIN, _SIGNED, _ENCRYPTED) if offered & level or level == _PLAIN
        )
        choice = bytes([self._protection]) + _FRAME_BYTES.to_bytes(3, "big")
        self._send(_COMPLETE, context.wrap(choice, encrypt=False))
        self._answer()

    def _send(self, status: int, data: bytes) -> None:
        self._socket.write(struct.pack(">BI", status, len(data)) + data)
        self._socket.flush()

    def _answer(self) -> bytes:
        try:
            status, length = struct.unpack(">BI", self._socket.readAll(5))
        except TTransportException as error:
            raise self._refused("it ended the connection") from error
        if status not in {_OK, _COMPLETE, _BAD, _ERROR} or length > _MOST_IN_LOGIN:
            raise self._refused("it does not speak SASL")
        data = bytes(self._socket.readAll(length))
        if status in {_BAD, _ERROR}:
            raise self._refused(data.decode(errors="replace"))
        return data

    def _refused(self, reason: str) -> ExternalFailure:
        return refused_by_service(self._kerberos, self._service, reason)
