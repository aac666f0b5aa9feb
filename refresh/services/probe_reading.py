"""What does a front end believe of a table, and what has the metastore? Reads only.

A probe loads what is not cached, so only what is hot and no giant is asked for its plan.
"""

import logging
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from portal.access.lakes import get_lake
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure
from refresh.connectors.front_end import FrontEndClient, failure
from refresh.connectors.session import Budget, Login
from refresh.domain.answers import Answer
from refresh.domain.frontends import FeState
from refresh.domain.lanes import Lane
from refresh.domain.probing import Picture, both
from refresh.domain.versions import Dialect
from refresh.models import ClusterFrontEnd, RefreshTarget
from refresh.selectors.records import has_unready
from refresh.services.load import metastore_answered, metastore_pays
from refresh.services.looking import hive_of
from refresh.services.sending import Clock

_log = logging.getLogger(__name__)
# A plan of all partitions loads those that are not cached: too dear for a giant.
MOST_PLANNED = 2_000
_CALLS = 3
_CONNECT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Truth:
    """What the metastore has, and the names of the partitions of a table that is no giant.

    `is_planned`: a plan would be neither too dear, nor differ with who has what is not ready.
    """

    picture: Picture
    names: tuple[str, ...]
    is_planned: bool


def truth_of(target: RefreshTarget, *, clock: Clock) -> Truth | None:
    """Ask the metastore; None if it may not be asked now, or has the table no more.

    Raises:
        ExternalFailure: it does not answer; nothing is known then.
    """
    watched = target.watched
    if not metastore_pays(watched.lake, _CALLS, now=clock()):
        return None
    hive = hive_of(watched)
    try:
        with Metastore.connect(get_lake(watched.lake)) as metastore:
            table = metastore.table_or_none(hive)
            if table is None:
                return None
            n = metastore.n_partitions(hive) if table.partitionKeys else None
            names = metastore.partition_names(hive) if n and n <= MOST_PLANNED else ()
    except ExternalFailure:
        metastore_answered(watched.lake, is_well=False, now=clock())
        raise
    metastore_answered(watched.lake, is_well=True, now=clock())
    ddl_time = str((table.parameters or {}).get("transient_lastDdlTime", ""))
    location = (table.sd.location if table.sd else None) or None
    picture = Picture(
        n_partitions=n,
        ddl_time=int(ddl_time) if ddl_time.isascii() and ddl_time.isdigit() else None,
        location=location.rstrip("/") if location else None,
    )
    # Who has no unready partition yet is as right as who got it with the whole table.
    is_planned = (n or 0) <= MOST_PLANNED and not has_unready(watched)
    return Truth(picture, tuple(names), is_planned)


def pictures_of(
    target: RefreshTarget, truth: Truth, *, login: Login, now: datetime
) -> dict[str, Picture]:
    """Ask each front end that lives; one that does not answer says nothing."""
    found = {}
    for fe in ClusterFrontEnd.objects.filter(cluster_id=target.cluster_id).order_by("name"):
        if fe.state is not FeState.ALIVE or not fe.breaker.allows(now):
            continue
        try:
            found[fe.name] = _picture(target, fe, truth, login=login)
        except ExternalFailure as error:
            _log.warning("%s was not probed there: %s", target, error.message)
    return found


def _picture(target: RefreshTarget, fe: ClusterFrontEnd, truth: Truth, *, login: Login) -> Picture:
    client = FrontEndClient.connect(
        fe.host, fe.query_port, login=login, dialect=fe.dialect, budget=_budget()
    )
    if isinstance(client, Answer):
        raise failure(client, place=fe.name)
    table = target.external
    with client:
        # On a resource the DDL is StarRocks' own, and says nothing of Hive's.
        kept = client.kept_table(table) if fe.dialect is Dialect.CATALOGS else Picture()
        return both(client.plan(table) if truth.is_planned else Picture(), kept)


def _budget() -> Budget:
    return Budget(
        query_timeout=settings.LAKEWARDEN_REFRESH_SECONDS[Lane.FAST],
        connect=_CONNECT_SECONDS,
        beyond=settings.LAKEWARDEN_REFRESH_BEYOND,
    )
