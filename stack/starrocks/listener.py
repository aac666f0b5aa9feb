"""Listener of a front end, with its faults as seen from outside.

Frozen: the kernel still accepts, nobody answers. Dead: connections break and new ones are refused.
Babbling: something else answers on the port.
"""

import secrets
import socket
import struct
import threading
import time
from contextlib import suppress

from stack.starrocks import wire
from stack.starrocks.cluster import Cluster
from stack.starrocks.front_end import NOT_LISTENING, FrontEnd, Life, ProcessEnded
from stack.starrocks.hello import welcome
from stack.starrocks.listing import Result
from stack.starrocks.session import Session
from stack.starrocks.texts import SqlError
from stack.starrocks.wire import ConnectionEnded, Wire

_QUIT, _INIT_DB, _QUERY, _PING, _RESET = 1, 2, 3, 14, 31
_HTTP = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Listener:
    """The MySQL port of one front end."""

    def __init__(self, cluster: Cluster, fe: FrontEnd) -> None:
        self.cluster = cluster
        self.fe = fe
        self._server: socket.socket | None = None
        self._clients: set[socket.socket] = set()
        self._lock = threading.Lock()

    def open(self) -> None:
        """Listen; the port stays the same for good."""
        server = socket.socket()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((self.fe.host, self.fe.port))
        server.listen(128)
        self.fe.port = server.getsockname()[1]
        self._server = server
        arguments = (server, self.fe.n_lives)
        threading.Thread(target=self._accept, args=arguments, daemon=True).start()

    def set_life(self, life: Life) -> None:
        """Change how the process is, on its port as well."""
        was = self.fe.life
        self.fe.set_life(life)
        if life is Life.DEAD:
            self.close()
        elif was in NOT_LISTENING:
            self.open()

    def close(self) -> None:
        """Break every connection and listen no more; twice does nothing."""
        server, self._server = self._server, None
        with self._lock:
            clients = list(self._clients)
        if server is not None:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()
        for client in clients:
            with suppress(OSError):
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
                client.shutdown(socket.SHUT_RDWR)

    def _accept(self, server: socket.socket, n_lives: int) -> None:
        with suppress(OSError, ProcessEnded):
            while True:
                client, _ = server.accept()
                self.fe.pause(n_lives)
                arguments = (client, n_lives)
                threading.Thread(target=self._serve, args=arguments, daemon=True).start()

    def _serve(self, client: socket.socket, n_lives: int) -> None:
        with self._lock:
            self._clients.add(client)
        try:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.fe.life is Life.GARBAGE:
                client.sendall(_HTTP)
                return
            self._talk(Wire(client), n_lives)
        except (ConnectionEnded, ProcessEnded, SqlError, OSError, UnicodeDecodeError):
            pass  # this connection is over; what there was to say has been said
        finally:
            with self._lock:
                self._clients.discard(client)
            client.close()

    def _talk(self, line: Wire, n_lives: int) -> None:
        number = self.cluster.next_connection()
        version = "5.1.0" if self.cluster.spec.is_old else "8.0.33"
        passwords = {name: user.password for name, user in self.cluster.users.items()}
        visitor = welcome(line, connection_id=number, server_version=version, passwords=passwords)
        session = Session(self.cluster, self.fe, user=visitor.user, number=number)
        session.variables["version"] = version
        session.db = visitor.db
        while True:
            line.restart()
            command = line.read()
            self.fe.pause(n_lives)
            if command[:1] == bytes([_QUIT]):
                return
            packets = self._answer(session, command)
            self.fe.pause(n_lives)
            if self.fe.life is Life.GARBAGE:
                line.socket.sendall(secrets.token_bytes(64))
                return
            line.send(*packets)

    def _answer(self, session: Session, command: bytes) -> list[bytes]:
        kind, text = command[:1], command[1:].decode()
        started = time.monotonic()
        error = 0
        try:
            return _packets(self._run(session, kind[0] if kind else 0, text))
        except SqlError as refusal:
            error = refusal.code
            return [wire.error(refusal.code, refusal.state, str(refusal))]
        finally:
            if kind == bytes([_QUERY]):
                self.cluster.note(
                    self.fe,
                    user=session.user,
                    statement=text,
                    error=error,
                    seconds=time.monotonic() - started,
                )

    def _run(self, session: Session, kind: int, text: str) -> Result | None:
        if kind == _QUERY:
            return session.run(text)
        if kind == _INIT_DB:
            session.use(text)
        elif kind not in (_PING, _RESET):
            raise SqlError(1047, "Unknown command", state="08S01")
        return None


def _packets(result: Result | None) -> list[bytes]:
    return [wire.ok()] if result is None else wire.result(result.columns, result.rows)
