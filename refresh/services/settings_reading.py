"""How is each front end set to renew and forget by itself?

Asked of each one, because settings are their own. One that does not answer keeps what was known,
with its age.
"""

from datetime import datetime

from portal.lake.errors import PortalError
from refresh.connectors.front_end import FrontEndClient
from refresh.domain.answers import Answer
from refresh.domain.frontends import FeState
from refresh.domain.own_settings import PATTERNS, kept
from refresh.domain.places import Place
from refresh.domain.versions import Dialect
from refresh.models import Cluster
from refresh.services.reaching import Member, connected
from refresh.services.reading import login_of, problem_keep

# A catalog may hold access keys; only what its caches hang on is kept.
_CACHES = ("_cache_", "_sync", "enable_")


def settings_read(cluster: Cluster, *, now: datetime) -> None:
    """Read the settings of every front end that lives; what fails is kept as the problem."""
    try:
        login = login_of(cluster)
    except PortalError as error:
        problem_keep(cluster, "Settings", error.message)
        return
    problem = ""
    for row in cluster.front_ends.all():
        if row.state is not FeState.ALIVE:
            continue
        member = Member(Place(row.host, row.query_port), row.dialect)
        for _, client in connected([member], login=login):
            if isinstance(client, Answer):
                problem = client.short
                continue
            try:
                row.config = _ask(client, row.dialect)
            except PortalError as error:
                problem = error.message
                continue
            row.config_at = now
            row.save(update_fields=["config", "config_at"])
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
