"""Asks a NameNode which service it is to Kerberos, as it tells every client before the log-in.

The first message of Hadoop's RPC and its answer, by hand: the library for HDFS does not show them.
"""

import socket
import struct
from collections.abc import Iterator

_TIMEOUT_SECONDS = 10.0
_MOST_BYTES = 65_536
# Version 9, no class of service, and SASL as the way to log in.
_PREAMBLE = b"hrpc\x09\x00\xdf"
# RpcRequestHeaderProto: protocol buffers, a final packet, call -33, no client, no repetition.
_HEADER = b"\x08\x02\x10\x00\x18\x41\x22\x00\x28\x01"
_NEGOTIATE = b"\x10\x01"
"""RpcSaslProto with this state alone."""
_AUTHS = 4
_METHOD, _SERVICE, _HOST = 1, 3, 4
_VARINT, _EIGHT_BYTES, _DELIMITED, _FOUR_BYTES = 0, 1, 2, 5
_FIXED = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}


def offered_service(address: str) -> str:
    """Return `service/host` of the NameNode at `host:port`; empty where it asks for no Kerberos.

    Raises:
        OSError: nothing answers there in time, or not as a NameNode does.
    """
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=_TIMEOUT_SECONDS) as connection:
        call = b"".join(bytes([len(part)]) + part for part in (_HEADER, _NEGOTIATE))
        connection.sendall(_PREAMBLE + struct.pack(">I", len(call)) + call)
        (length,) = struct.unpack(">I", _taken(connection, 4))
        if length > _MOST_BYTES:
            raise ConnectionError("it does not speak Hadoop's RPC")
        answer = _taken(connection, length)
    try:
        return _kerberos_in(answer)
    except (IndexError, ValueError) as error:
        raise ConnectionError("its answer is none of Hadoop's RPC") from error


def _taken(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise ConnectionError("it ended the connection")
        data += more
    return data


def _kerberos_in(answer: bytes) -> str:
    start, length = 0, 0
    for _ in range(2):  # the header of the answer, then its message
        start += length
        length, start = _varint(answer, start)
    for number, auth in _fields(answer[start : start + length]):
        if number == _AUTHS:
            words = {key: value.decode() for key, value in _fields(auth)}
            if words.get(_METHOD) == "KERBEROS":
                return f"{words.get(_SERVICE, '')}/{words.get(_HOST, '')}"
    return ""


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Give the texts and messages of a message with their numbers; numbers of it are left out."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == _VARINT:
            _, at = _varint(message, at)
        elif kind == _DELIMITED:
            length, at = _varint(message, at)
            if at + length > len(message):
                raise ValueError("a field is longer than its message")
            yield tag >> 3, message[at : at + length]
            at += length
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            raise ValueError(f"no kind of field: {kind}")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and where it ends."""
    value, shift = 0, 0
    while data[at] & 0x80:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1
