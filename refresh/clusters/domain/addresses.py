"""Address of a front end as a person wrote it."""

import re
from dataclasses import dataclass

from portal.lake.errors import RuleViolation

_PORT = 9030
_MOST_PORT = 65535
_LABEL = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\Z")
_LONGEST = 253


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Host and query port of one front end."""

    host: str
    port: int

    @classmethod
    def read(cls, text: str) -> "Place":
        """Read `host:port`, `[v6]:port`, or a host alone (port 9030).

        Raises:
            RuleViolation: `cluster.address`, it is none.
        """
        plain = text.strip()
        host, colon, port = plain.rpartition(":")
        if not colon or plain.endswith("]"):
            host, port = plain, str(_PORT)
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
            is_host = bool(re.fullmatch(r"[0-9a-fA-F:.]{2,45}", host)) and ":" in host
        else:
            is_host = len(host) <= _LONGEST and all(map(_LABEL.match, host.split(".")))
        is_port = port.isascii() and port.isdigit() and len(port) <= 5
        if not is_host or not is_port or not 0 < int(port) <= _MOST_PORT:
            raise RuleViolation(
                "cluster.address",
                f"{plain[:100]!r} is not the address of a front end. Write host:port, for example "
                "fe1.example.org:9030; the port is the query port, 1-65535.",
                value=plain[:300],
            )
        return cls(host, int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
