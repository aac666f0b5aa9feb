"""Opens the client of a name service as one user, or as the principal of its lake."""

from functools import lru_cache

import hdfs_native

from portal.connectors.hdfs_user import turns
from portal.connectors.kerberos.settings import Kerberos
from portal.connectors.kerberos.tickets import login
from portal.connectors.name_services.client import NameServiceClient
from portal.connectors.name_services.properties import deadline_seconds, turned

_TIMEOUT_MS = 30_000


@lru_cache(maxsize=32)
def open_client(
    authority: str,
    user: str | None,
    settings: frozenset[tuple[str, str]],
    kerberos: Kerberos | None,
) -> NameServiceClient:
    """Make a client, one a user: its connections belong to whoever opened them."""
    config = {
        "dfs.client.socket-timeout": str(_TIMEOUT_MS),
        "dfs.client.use.datanode.hostname": "true",
        # With the library's waits between them about 20 s: a failover may be under way.
        "dfs.client.failover.max.attempts": "9",
        **dict(settings),
    }
    log_in = login(kerberos) if kerberos else {}

    def make(n: int) -> hdfs_native.Client:
        own = turned(config, authority, n)
        with turns.of(user):
            return hdfs_native.Client(f"hdfs://{authority}", config=own, **log_in)

    return NameServiceClient(make, deadline_seconds=deadline_seconds(config))
