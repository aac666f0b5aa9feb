"""What every server of the stack has in common: a port, a log, start, wait_ready, stop."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from stack.ledger import Ledger
from stack.process import ServerProcess, free_port, port_answers


class Server:
    """A real server on loopback. Subclasses say how it starts and when it is ready.

    The port is chosen once, so a server that is stopped and started again has the same address.
    """

    name = "server"
    ready_seconds = 60.0
    grace_seconds = 10.0

    def __init__(self, var: Path, *, ledger: Ledger, port: int | None = None) -> None:
        self.directory = var / self.name
        self.ledger = ledger
        self.port = port or free_port()
        self.process = ServerProcess(self.name, var / "logs" / f"{self.name}.log")

    def prepare(self) -> None:
        """Make what the server needs on disk; twice does nothing."""
        self.directory.mkdir(parents=True, exist_ok=True)

    def command(self) -> Sequence[str]:
        """Return the argv that starts the server."""
        raise NotImplementedError

    def environment(self) -> Mapping[str, str]:
        """Return the environment that the server starts with."""
        return self.ledger.environment()

    def is_ready(self) -> bool:
        """Whether the server answers."""
        return port_answers(self.port)

    def start(self) -> None:
        """Start the server; returns at once."""
        self.prepare()
        self.ledger.add(
            self.process.start(
                self.command(),
                environment=self.environment(),
                cwd=self.directory,
                port=self.port,
            )
        )

    def wait_ready(self, timeout_seconds: float | None = None) -> None:
        """Wait until the server answers; StackError names its log."""
        self.process.wait_until(
            self.is_ready, timeout_seconds=timeout_seconds or self.ready_seconds
        )

    def stop(self) -> None:
        """End the server's process group; twice does nothing."""
        self.process.stop(grace_seconds=self.grace_seconds)
        self.ledger.remove(self.name)

    def kill(self) -> None:
        """End the server as a crash would (SIGKILL), for tests of failure."""
        self.process.stop(grace_seconds=0)
        self.ledger.remove(self.name)


class _Part(Protocol):
    """What starts several processes, waits for them and ends them."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


P = TypeVar("P", bound=_Part)


@contextmanager
def running(part: P) -> Iterator[P]:
    """Start processes that end with the block, also where not all of them came up."""
    try:
        part.start()
        yield part
    finally:
        part.stop()


class Together(Server):
    """Several processes that a stack starts and ends as one of its servers."""

    def __init__(self, name: str, var: Path, *, ledger: Ledger, part: _Part) -> None:
        self.name = name
        super().__init__(var, ledger=ledger)
        self.part = part

    def start(self) -> None:
        """Start all of them; returns when they answer."""
        self.part.start()

    def wait_ready(self, timeout_seconds: float | None = None) -> None:
        """They answer already."""

    def stop(self) -> None:
        """End all of them; twice does nothing."""
        self.part.stop()
