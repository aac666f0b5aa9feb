"""Reads a front end's view of a table, and the metastore's. Read-only.

A probe loads the names of partitions, so only what is hot and no very large table is asked for
plans. Each plan selects one partition: the newest, and those that changed lately.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings

from portal.access.lakes import get_lake
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure
from refresh.clusters.domain.frontends import FeState
from refresh.core.connectors.front_end import Budget, FrontEndClient, Login, failure
from refresh.core.domain.answers import Answer, ErrorKind
from refresh.core.domain.clock import Clock
from refresh.core.domain.names import ExternalTable
from refresh.core.domain.versions import Dialect
from refresh.core.services.metastore_reader import hive_of
from refresh.core.services.rate_limit import metastore_answered, metastore_pays
from refresh.freshness.domain.pending_refresh import TABLE_ITSELF
from refresh.freshness.selectors.records import has_unready
from refresh.models import ClusterFrontEnd, RefreshTarget
from refresh.verify.domain.probing import (
    Costs,
    Picture,
    both,
    can_be_probed,
    picture_of,
    selection,
)
from refresh.verify.domain.sweeping import SweepLimits, chosen
from refresh.verify.selectors import recently_touched
from refresh.worker.domain.lanes import Lane

# A plan loads the names of all partitions where they are not cached: too dear for a very large
# table.
MOST_PLANNED = 2_000
# The partitions of a table that are probed, each by one statement on each front end.
_PROBED = SweepLimits(newest=5, changed=5)
_LATELY = timedelta(days=7)
_CALLS = 3
_CONNECT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Truth:
    """What the metastore has, and the partition names of a table that is not very large.

    `is_planned`: a plan would be neither too dear, nor differ with who has what is not ready.
    """

    picture: Picture
    names: tuple[str, ...]
    is_planned: bool


@dataclass(frozen=True, slots=True)
class Pictures:
    """What each front end that answered believes, and why the others said nothing, by key."""

    found: Mapping[int, Picture] = field(default_factory=dict)
    problems: Mapping[int, str] = field(default_factory=dict)


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


def pictures_of(target: RefreshTarget, truth: Truth, *, login: Login, now: datetime) -> Pictures:
    """Ask each front end that lives; one that does not answer says nothing, and why is kept."""
    found: dict[int, Picture] = {}
    problems: dict[int, str] = {}
    probed = _probed(target, truth, now=now)
    for fe in ClusterFrontEnd.objects.filter(cluster_id=target.cluster_id).order_by("name"):
        if fe.state is not FeState.ALIVE or not fe.breaker.allows(now):
            continue
        try:
            found[fe.pk] = _picture(target, fe, probed, login=login)
        except ExternalFailure as error:
            problems[fe.pk] = error.message
    return Pictures(found, problems)


def _probed(target: RefreshTarget, truth: Truth, *, now: datetime) -> Sequence[str]:
    """Return the partitions to ask plans for; the table itself where it has none."""
    if not truth.is_planned:
        return ()
    if not truth.names:
        return (TABLE_ITSELF,)
    names = [name for name in truth.names if can_be_probed(name)]
    lately = recently_touched(target.watched, since=now - _LATELY)
    return chosen(names, lately, limits=_PROBED)[0]


def _picture(
    target: RefreshTarget, fe: ClusterFrontEnd, probed: Sequence[str], *, login: Login
) -> Picture:
    client = FrontEndClient.connect(
        fe.host, fe.query_port, login=login, dialect=fe.dialect, budget=_budget()
    )
    if isinstance(client, Answer):
        raise failure(client, place=fe.place)
    table = target.external
    with client:
        # On a resource the DDL is StarRocks' own, and says nothing of Hive's.
        kept = client.kept_table(table) if fe.dialect is Dialect.CATALOGS else Picture()
        costs = {name: _plan(client, table, name) for name in probed}
        return both(picture_of(costs), kept)


def _plan(client: FrontEndClient, table: ExternalTable, name: str) -> Costs:
    where = selection(name) if name else ()
    try:
        return client.plan(table, where)
    except ExternalFailure as error:
        if error.code != f"starrocks.{ErrorKind.PLANNER_SLOW.lower()}":
            raise
        # What the first one loaded before it gave up is cached now.
        return client.plan(table, where)


def _budget() -> Budget:
    return Budget(
        query_timeout=settings.LAKEWARDEN_REFRESH_SECONDS[Lane.FAST],
        connect=_CONNECT_SECONDS,
        beyond=settings.LAKEWARDEN_REFRESH_BEYOND,
    )
