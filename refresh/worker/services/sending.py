"""Sends one planned statement. A row first, then the network, outside any transaction."""

import logging
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction

from portal.lake.errors import PortalError
from portal.reliability.claims import claim
from refresh.clusters.domain.frontends import FeState
from refresh.clusters.services.front_ends import login_of
from refresh.core.connectors.front_end import Budget, FrontEndClient, Login
from refresh.core.domain.answers import Answer, ErrorKind
from refresh.core.domain.names import ExternalTable
from refresh.core.domain.versions import Dialect
from refresh.models import Cluster, ClusterFrontEnd, Refresh, RefreshTarget
from refresh.worker.domain.lanes import Lane, statement_timeout

_log = logging.getLogger(__name__)
_EXAMPLES = 20


@dataclass(frozen=True, slots=True)
class Order:
    """Everything that sending one statement needs; made with its row."""

    refresh_id: int
    table: ExternalTable
    partitions: tuple[str, ...]
    host: str
    port: int
    dialect: Dialect
    lane: Lane
    query_timeout: int


def begin(target: RefreshTarget, fe: ClusterFrontEnd, *, epoch: int, now: datetime) -> Order | None:
    """Write that the target's first step goes to a front end now; None if it was changed since.

    The begin that is written lies before the statement: only what it reads later counts.
    """
    if not target.steps or target.waits_since is None or target.lane is None:
        return None
    step = target.steps[0]
    names = tuple(step["partitions"])
    with transaction.atomic():
        free = RefreshTarget.objects.filter(
            pk=target.pk, running_since=None, steps=target.steps, epoch__lte=epoch
        )
        if not claim(free, running_since=now, running_on=fe.name, epoch=epoch):
            return None
        row = Refresh.objects.create(
            cluster_id=target.cluster_id,
            target=target,
            coordinator=fe.name,
            kind=step["kind"],
            n_partitions=len(names),
            examples=list(names[:_EXAMPLES]),
            causes=target.watched.causes,
            lane=target.lane,
            waited_since=target.waits_since,
            began_at=now,
            epoch=epoch,
        )
    return Order(
        row.pk,
        target.external,
        names,
        fe.host,
        fe.query_port,
        fe.dialect,
        Lane(target.lane),
        _query_timeout(target, Lane(target.lane)),
    )


def send(order: Order, *, cluster: Cluster) -> Answer | None:
    """Send it and wait for the answer; None = all well. Never raises for what a front end does."""
    try:
        login = login_of(cluster)
    except PortalError as error:
        return Answer(1045, error.message, ErrorKind.BAD_LOGIN)
    return _send(order, login)


def longest(lane: Lane) -> float:
    """Return the seconds after which a statement of a lane has ended, heard or not."""
    budget = _budget(lane, settings.LAKEWARDEN_REFRESH_SECONDS[lane])
    return budget.connect + budget.read


def _send(order: Order, login: Login) -> Answer | None:
    client = FrontEndClient.connect(
        order.host,
        order.port,
        login=login,
        dialect=order.dialect,
        budget=_budget(order.lane, order.query_timeout),
    )
    if isinstance(client, Answer):
        return client
    with client:
        answer = client.refresh(order.table, order.partitions)
    if answer is not None:
        _log.warning("%s on %s:%s: %s", order.table, order.host, order.port, answer.text)
    return answer


def _query_timeout(target: RefreshTarget, lane: Lane) -> int:
    fes = ClusterFrontEnd.objects.filter(cluster_id=target.cluster_id)
    return statement_timeout(
        target.expected_seconds or 0.0,
        most=settings.LAKEWARDEN_REFRESH_SECONDS[lane],
        is_one_silent=any(fe.state is not FeState.ALIVE for fe in fes),
    )


def _budget(lane: Lane, query_timeout: int) -> Budget:
    # The time-out bounds the calls to others only: the taker's own part has the lane's whole time.
    listens = settings.LAKEWARDEN_REFRESH_SECONDS[lane] + settings.LAKEWARDEN_REFRESH_BEYOND
    return Budget(query_timeout=query_timeout, beyond=listens - query_timeout)
