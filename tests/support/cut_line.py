"""A TCP line to a server that loses the answer to one request, as a failover or a pause does."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class CutLine:
    """Forwards connections to a server; after `lose_next` the next answer never arrives."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._server = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._loses = 0
        self.n_lost = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        """The port to connect to."""
        return int(self._server.getsockname()[1])

    def lose_next(self, n: int = 1) -> None:
        """Lose the next `n` answers: the request arrives, then the connection is reset."""
        with self._lock:
            self._loses = n

    def close(self) -> None:
        """Accept no more connections."""
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self._target)
            except OSError:  # nobody is there: the client finds that out, too
                client.close()
                continue
            for ends in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pump, args=ends, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if is_answer and self._is_lost():
                    break
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _is_lost(self) -> bool:
        with self._lock:
            if not self._loses:
                return False
            self._loses -= 1
            self.n_lost += 1
            return True


@contextmanager
def cut_line(host: str, port: int) -> Iterator[CutLine]:
    """Open a line for as long as it is needed."""
    line = CutLine(host, port)
    try:
        yield line
    finally:
        line.close()
