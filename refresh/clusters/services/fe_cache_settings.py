"""Reads how each front end is set to renew and evict its own caches.

Asked of each one, because settings are their own and lost where it starts again. One that does not
answer keeps what was known, with its age.
"""

from collections.abc import Sequence
from datetime import datetime

from portal.lake.errors import PortalError
from refresh.clusters.domain.addresses import Place
from refresh.clusters.domain.fe_cache_settings import PATTERNS, are_due, kept
from refresh.clusters.domain.frontends import FeState
from refresh.clusters.services.fe_client import Member, connected
from refresh.clusters.services.front_ends import login_of, problem_keep
from refresh.core.connectors.front_end import FrontEndClient
from refresh.core.domain.answers import Answer, ErrorKind
from refresh.core.domain.versions import Dialect
from refresh.models import Cluster, ClusterFrontEnd

# A catalog may hold access keys; only what its caches hang on is kept.
_CACHES = ("_cache_", "_sync", "enable_")


def settings_read(cluster: Cluster, *, now: datetime) -> None:
    """Read the settings of every front end that lives; what fails is kept as the problem."""
    _read(cluster, [fe for fe in cluster.front_ends.all() if _can_be_asked(fe)], now=now)


def settings_read_due(cluster: Cluster, *, now: datetime) -> None:
    """Read those that were never read, that started again since, or that were read a day ago."""
    due = [
        fe
        for fe in cluster.front_ends.all()
        if _can_be_asked(fe)
        and are_due(read_at=fe.config_at, read_start=fe.config_start, start=fe.start, now=now)
    ]
    if due:
        _read(cluster, due, now=now)


def _can_be_asked(fe: ClusterFrontEnd) -> bool:
    return fe.state is FeState.ALIVE and not fe.login_refused


def _read(cluster: Cluster, fes: Sequence[ClusterFrontEnd], *, now: datetime) -> None:
    try:
        login = login_of(cluster)
    except PortalError as error:
        problem_keep(cluster, "Settings", error.message)
        return
    problem = ""
    for row in fes:
        member = Member(Place(row.host, row.query_port), row.dialect)
        for _, client in connected([member], login=login):
            if isinstance(client, Answer):
                # A refused login is said by the greeting, which also sees its end.
                problem = problem if client.meaning is ErrorKind.BAD_LOGIN else client.short
                continue
            try:
                row.config = _ask(client, row.dialect)
            except PortalError as error:
                problem = error.message
                continue
            row.config_at, row.config_start = now, row.start
            row.save(update_fields=["config", "config_at", "config_start"])
    problem_keep(cluster, "Settings", problem)


def _ask(client: FrontEndClient, dialect: Dialect) -> dict[str, dict[str, object]]:
    config: dict[str, str] = {}
    for pattern in PATTERNS:
        config |= client.config(pattern)
    catalogs = client.catalog_properties() if dialect is Dialect.CATALOGS else {}
    return {
        "front_end": dict(kept(config)),
        "catalogs": {name: _of_caches(properties) for name, properties in catalogs.items()},
    }


def _of_caches(properties: dict[str, str]) -> dict[str, str]:
    return {
        key: value
        for key, value in properties.items()
        if any(part in key for part in _CACHES) and "." not in key
    }
