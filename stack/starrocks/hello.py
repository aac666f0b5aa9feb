"""Authenticates a client by the exchange of packets before the first command."""

import secrets
import struct
from dataclasses import dataclass

from stack.starrocks import wire
from stack.starrocks.texts import SqlError, bad_login
from stack.starrocks.wire import Wire


@dataclass(frozen=True, slots=True)
class Visitor:
    """What a client said of itself."""

    user: str
    answer: bytes
    db: str
    plugin: str


def welcome(
    line: Wire, *, connection_id: int, server_version: str, passwords: dict[str, str]
) -> Visitor:
    """Greet a client and check its password; SqlError 1045 was sent before it is raised."""
    nonce = bytes(secrets.choice(range(1, 128)) for _ in range(20))
    line.send(wire.greeting(connection_id, server_version=server_version, nonce=nonce))
    visitor = read_visitor(line.read())
    answer = visitor.answer
    if visitor.plugin != wire.PLUGIN:
        line.send(wire.switch_plugin(nonce))
        answer = line.read()
    password = passwords.get(visitor.user)
    if password is None or answer != wire.native_answer(password, nonce):
        refusal = bad_login(visitor.user, with_password=bool(answer))
        line.send(wire.error(refusal.code, refusal.state, str(refusal)))
        raise refusal
    line.send(wire.ok())
    return visitor


def read_visitor(payload: bytes) -> Visitor:
    """Read a client's answer to the greeting."""
    if len(payload) < 33:
        raise SqlError(1043, "Bad handshake", state="08S01")
    (flags,) = struct.unpack_from("<I", payload)
    user, rest = _until_zero(payload[32:])
    size, rest = rest[0] if rest else 0, rest[1:]
    answer, rest = rest[:size], rest[size:]
    db = plugin = b""
    if flags & wire.WITH_DB:
        db, rest = _until_zero(rest)
    if flags & wire.WITH_PLUGIN:
        plugin, rest = _until_zero(rest)
    return Visitor(user.decode(), answer, db.decode(), plugin.decode() or wire.PLUGIN)


def _until_zero(data: bytes) -> tuple[bytes, bytes]:
    head, _, rest = data.partition(b"\0")
    return head, rest
