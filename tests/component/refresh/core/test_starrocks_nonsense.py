"""Whatever listens there and whatever it sends: the client of a front end gives an answer."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from portal.lake.errors import ExternalFailure
from refresh.core.connectors.front_end import Budget, FrontEndClient, Login
from refresh.core.domain.answers import Answer, ErrorKind, RecoveryAction
from refresh.core.domain.names import ClusterId, ExternalTable
from refresh.core.domain.versions import Dialect
from stack.process import LOOPBACK
from stack.starrocks import wire
from stack.starrocks.wire import ConnectionEnded, Wire

SALES = ExternalTable(ClusterId("bi"), "hive", "shop", "sales")
GREETING = wire.greeting(1, server_version="8.0.33", nonce=b"n" * 20)
N_BEFORE = 2  # the character set and query_timeout
BUDGET = Budget(query_timeout=1, connect=2, beyond=1)


class Babbler:
    """Greets as it is told, takes any login, then answers statements as it is told and hangs up."""

    def __init__(self) -> None:
        self.greeting = b""
        self.replies: list[bytes] = []
        self.server = socket.create_server((LOOPBACK, 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.server.getsockname()[1])

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.server.accept()
                with client, suppress(ConnectionEnded, OSError):
                    self._talk(Wire(client))

    def _talk(self, line: Wire) -> None:
        line.socket.settimeout(5)
        line.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line.socket.sendall(self.greeting)
        if self.greeting != packet(GREETING):
            return
        line.read()
        line.send(wire.ok())
        for _ in range(N_BEFORE):
            line.restart()
            line.read()
            line.send(wire.ok())
        for reply in self.replies:
            line.restart()
            line.read()
            line.socket.sendall(reply)


def packet(payload: bytes, number: int = 0) -> bytes:
    return len(payload).to_bytes(3, "little") + bytes([number]) + payload


@pytest.fixture(scope="module")
def babbler() -> Iterator[Babbler]:
    babbler = Babbler()
    yield babbler
    babbler.server.shutdown(socket.SHUT_RDWR)
    babbler.server.close()


def connect(babbler: Babbler) -> FrontEndClient | Answer:
    return FrontEndClient.connect(
        LOOPBACK, babbler.port, login=Login("svc", "x"), dialect=Dialect.CATALOGS, budget=BUDGET
    )


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=60) | st.binary(max_size=60).map(packet))
@example(b"HTTP/1.1 400 Bad Request\r\n\r\n")
@example(packet(b"\x0a8.0.33\0"))
@example(packet(wire.error(1040, "08004", "Too many connections")))
def test_a_greeting_of_any_bytes_is_an_answer(babbler: Babbler, greeting: bytes) -> None:
    babbler.greeting = greeting
    assert isinstance(connect(babbler), Answer)


@settings(max_examples=60, deadline=None)
@given(
    st.binary(max_size=60)
    | st.binary(max_size=60).map(lambda payload: packet(payload, 1))
    | st.lists(st.binary(max_size=20), max_size=6).map(
        lambda all_: b"".join(packet(one, number) for number, one in enumerate(all_, start=1))
    )
)
@example(packet(b"\xfe" + b"\xff" * 8, 1))
@example(packet(b"\xfb/etc/passwd", 1))
@example(packet(b"\x01", 1) + packet(b"\xff", 2))
def test_a_reply_of_any_bytes_is_an_answer(babbler: Babbler, reply: bytes) -> None:
    babbler.greeting, babbler.replies = packet(GREETING), [reply]
    client = connect(babbler)
    assert isinstance(client, FrontEndClient)
    with client:
        answer = client.refresh(SALES)
        assert answer is None or answer.remedy in RecoveryAction
    client = connect(babbler)
    assert isinstance(client, FrontEndClient)
    with client, suppress(ExternalFailure):
        client.front_ends()


def test_the_reply_is_that_of_the_statement(babbler: Babbler) -> None:
    babbler.greeting = packet(GREETING)
    babbler.replies = [packet(wire.error(5203, "42000", "Access denied"), 1)]
    client = connect(babbler)
    assert isinstance(client, FrontEndClient)
    with client:
        answer = client.refresh(SALES)
    assert answer is not None
    assert answer.meaning is ErrorKind.NO_RIGHT


@pytest.mark.parametrize("plugin", [b"mysql_clear_password", b"dialog", b"caching_sha2_password"])
def test_a_server_that_asks_for_the_password_itself_never_gets_it(plugin: bytes) -> None:
    heard: list[bytes] = []

    def ask(server: socket.socket) -> None:
        client, _ = server.accept()
        with client, suppress(ConnectionEnded, OSError):
            client.settimeout(5)
            line = Wire(client)
            line.send(GREETING)
            heard.append(line.read())
            line.send(b"\xfe" + plugin + b"\0" + b"n" * 20 + b"\0")
            heard.append(client.recv(1000))

    with socket.create_server((LOOPBACK, 0)) as server:
        asking = threading.Thread(target=ask, args=(server,), daemon=True)
        asking.start()
        answer = FrontEndClient.connect(
            LOOPBACK,
            server.getsockname()[1],
            login=Login("svc", "hush-hush"),
            dialect=Dialect.CATALOGS,
            budget=BUDGET,
        )
        asking.join(5)
    assert isinstance(answer, Answer)
    assert answer.meaning is ErrorKind.BAD_LOGIN
    assert "mysql_native_password" in answer.short
    assert not asking.is_alive()
    assert b"hush" not in b"".join(heard)
