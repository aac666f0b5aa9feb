"""Reads and writes packets of the MySQL protocol as a server does."""

import hashlib
import socket
import struct
from collections.abc import Iterable, Sequence

PLUGIN = "mysql_native_password"
_MOST = 0xFFFFFF
_UTF8 = 45
_VARCHAR = 0xFD
_AUTOCOMMIT = 2
# Long password and flag, a database at connect, 4.1, transactions, hashed passwords, plug-ins.
CAPABILITIES = 0x1 | 0x4 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x80000
WITH_DB = 0x8
WITH_PLUGIN = 0x80000
LENGTH_ENCODED_ANSWER = 0x200000


class ConnectionEnded(Exception):
    """The client is gone, or the front end is."""


class Wire:
    """Whole packets in and out of a socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._sequence = 0

    def restart(self) -> None:
        """Begin a new exchange: the client's command has number 0."""
        self._sequence = 0

    def read(self) -> bytes:
        """Read one payload, of however many packets."""
        payload = b""
        while True:
            head = self._exactly(4)
            size = int.from_bytes(head[:3], "little")
            self._sequence = (head[3] + 1) % 256
            payload += self._exactly(size)
            if size < _MOST:
                return payload

    def send(self, *payloads: bytes) -> None:
        """Write payloads in one go."""
        written = b"".join(self._packets(payloads))
        try:
            self.socket.sendall(written)
        except OSError as error:
            raise ConnectionEnded(str(error)) from error

    def _packets(self, payloads: Iterable[bytes]) -> Iterable[bytes]:
        for payload in payloads:
            for start in range(0, len(payload) + 1, _MOST):
                part = payload[start : start + _MOST]
                yield len(part).to_bytes(3, "little") + bytes([self._sequence]) + part
                self._sequence = (self._sequence + 1) % 256

    def _exactly(self, size: int) -> bytes:
        parts = []
        while size:
            try:
                part = self.socket.recv(min(size, 1 << 20))
            except OSError as error:
                raise ConnectionEnded(str(error)) from error
            if not part:
                raise ConnectionEnded("The client closed the connection.")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def greeting(connection_id: int, *, server_version: str, nonce: bytes) -> bytes:
    """Write the first packet: handshake version 10."""
    return b"".join(
        (
            b"\x0a",
            server_version.encode() + b"\0",
            struct.pack("<I", connection_id),
            nonce[:8] + b"\0",
            struct.pack("<H", CAPABILITIES & 0xFFFF),
            bytes([_UTF8]),
            struct.pack("<H", _AUTOCOMMIT),
            struct.pack("<H", CAPABILITIES >> 16),
            bytes([len(nonce) + 1]),
            b"\0" * 10,
            nonce[8:] + b"\0",
            PLUGIN.encode() + b"\0",
        )
    )


def native_answer(password: str, nonce: bytes) -> bytes:
    """Return what a client answers to a nonce; nothing for an empty password."""
    if not password:
        return b""
    once = _sha1(password.encode())
    mask = _sha1(nonce + _sha1(once))
    return bytes(a ^ b for a, b in zip(once, mask, strict=True))


def _sha1(data: bytes) -> bytes:
    return hashlib.sha1(data, usedforsecurity=False).digest()


def switch_plugin(nonce: bytes) -> bytes:
    """Ask a client that answered by another method to answer by ours."""
    return b"\xfe" + PLUGIN.encode() + b"\0" + nonce + b"\0"


def ok(affected: int = 0) -> bytes:
    """Write the OK packet."""
    return b"\x00" + length(affected) + length(0) + struct.pack("<HH", _AUTOCOMMIT, 0)


def error(code: int, state: str, text: str) -> bytes:
    """Write an error packet."""
    return b"\xff" + struct.pack("<H", code) + b"#" + state.encode() + text.encode()


def result(columns: Sequence[str], rows: Iterable[Sequence[str | None]]) -> list[bytes]:
    """Write a result set of texts."""
    end = b"\xfe" + struct.pack("<HH", 0, _AUTOCOMMIT)
    packets = [length(len(columns)), *map(_column, columns), end]
    packets += [b"".join(b"\xfb" if cell is None else _text(cell) for cell in row) for row in rows]
    return [*packets, end]


def _column(name: str) -> bytes:
    tail = struct.pack("<BHIBHBxx", 12, _UTF8, 65_535, _VARCHAR, 0, 0)
    return _text("def") + b"\0\0\0" + _text(name) + _text(name) + tail


def _text(text: str) -> bytes:
    data = text.encode()
    return length(len(data)) + data


def length(number: int) -> bytes:
    """Write a number in as few bytes as it takes."""
    if number < 0xFB:
        return bytes([number])
    for mark, size in ((0xFC, 2), (0xFD, 3)):
        if number < 1 << 8 * size:
            return bytes([mark]) + number.to_bytes(size, "little")
    return b"\xfe" + number.to_bytes(8, "little")
