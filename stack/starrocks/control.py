"""Switches faults in a simulator of another process, for tests and the demo.

One line of JSON in, one out, on a port of its own: what no real cluster has stays off its ports.
"""

import json
import socket
import socketserver
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from stack.errors import StackError
from stack.process import LOOPBACK
from stack.starrocks.front_end import Life
from stack.starrocks.link import Trouble
from stack.starrocks.running import RunningCluster
from stack.starrocks.spec import Privilege, resource_table

_SECONDS = 30


class Control:
    """What can be asked of a running simulator, by name."""

    def __init__(self, running: RunningCluster) -> None:
        self._running = running
        self._acts: dict[str, Callable[..., Any]] = {
            "addresses": running.addresses,
            "life": lambda front_end, life: running.set_life(front_end, Life(life)),
            "restart": running.restart,
            "weather": self._weather,
            "user": self._user,
            "table": lambda **table: running.cluster.add_table(resource_table(table)),
            "calls": running.cluster.calls,
            "audit": lambda: [asdict(entry) for entry in running.cluster.audit],
        }

    def answer(self, line: bytes) -> bytes:
        """Do what a line asks."""
        try:
            asked = json.loads(line)
            given = self._acts[asked.pop("do")](**asked)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return json.dumps({"error": f"{type(error).__name__}: {error}"}).encode() + b"\n"
        return json.dumps({"answer": given}).encode() + b"\n"

    def _weather(self, front_end: str | None, trouble: str, delay: float) -> None:
        self._running.set_weather(front_end, Trouble(trouble), delay=delay)

    def _user(self, name: str, password: str, privileges: list[str]) -> None:
        self._running.set_user(name, password, frozenset(map(Privilege, privileges)))


def serve(running: RunningCluster, *, port: int) -> None:
    """Answer until the process ends."""
    control = Control(running)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                self.wfile.write(control.answer(line))

    class Switches(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

    with Switches((LOOPBACK, port), Handler) as server:
        server.serve_forever()


def ask(port: int, do: str, **arguments: Any) -> Any:
    """Ask a simulator in another process; StackError says what it refused."""
    with socket.create_connection((LOOPBACK, port), timeout=_SECONDS) as connection:
        connection.sendall(json.dumps({"do": do, **arguments}).encode() + b"\n")
        with connection.makefile("rb") as lines:
            data = json.loads(lines.readline())
    if "error" in data:
        raise StackError(f"The simulator could not {do} {arguments}: {data['error']}")
    return data["answer"]
