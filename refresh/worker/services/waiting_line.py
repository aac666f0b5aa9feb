"""Reads who waits and who runs in a cluster, as the choice of the next statements needs it."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Case, DateTimeField, ExpressionWrapper, F, Max, When

from refresh.core.services.rate_limit import metastore_may
from refresh.models import Cluster, Refresh, RefreshTarget
from refresh.worker.domain.lanes import Lane
from refresh.worker.domain.scheduling import URGENT_BY, Running, Waiting

_A_LANE = 100
# A table's place in the line, as `Waiting.order` has it.
PLACE = Case(
    When(
        is_urgent=True,
        then=ExpressionWrapper(F("waits_since") - URGENT_BY, output_field=DateTimeField()),
    ),
    default=F("waits_since"),
)


def n_ahead(cluster: Cluster, catalog: str, lake: str, *, now: datetime) -> int:
    """Count the plans of the fast lane that any front end may take, so wait for a place only."""
    rows = RefreshTarget.objects.filter(cluster=cluster, catalog=catalog, watched__lake=lake)
    rows = rows.filter(lane=Lane.FAST, only_on="", running_since=None, steps__isnull=False)
    return rows.exclude(not_before__gt=now).count()


def ready(cluster: Cluster, *, now: datetime) -> dict[str, RefreshTarget]:
    """Return the first of each lane that are planned and whose metastore may be asked."""
    rows = RefreshTarget.objects.filter(cluster=cluster, running_since=None, steps__isnull=False)
    rows = rows.exclude(not_before__gt=now).select_related("watched", "cluster")
    first = [
        target for lane in Lane for target in rows.filter(lane=lane).order_by(PLACE, "pk")[:_A_LANE]
    ]
    may = {lake: metastore_may(lake, now=now) for lake in {one.watched.lake for one in first}}
    return {str(one.pk): one for one in first if may[one.watched.lake]}


def turns(targets: Collection[RefreshTarget], *, now: datetime) -> dict[int, datetime]:
    """Say when the last statement ended that each table was sent since it waits, if any was."""
    oldest = min((target.waits_since or now for target in targets), default=now)
    sent = Refresh.objects.filter(
        target__in=[target.pk for target in targets],
        began_at__gte=oldest,  # said twice: the index takes an instant only
    ).filter(began_at__gte=F("target__waits_since"))
    return dict(sent.values("target").annotate(at=Max("ended_at")).values_list("target", "at"))


def waiting(target: RefreshTarget, *, turn_ended: datetime | None = None, now: datetime) -> Waiting:
    """Return a table's place in the line as the domain knows it."""
    return Waiting(
        str(target.pk),
        target.external,
        Lane(target.lane or 0),
        target.waits_since or now,
        is_urgent=target.is_urgent,
        not_before=target.not_before,
        only_on=target.only_on,
        turn_ended=turn_ended,
    )


def running(cluster: Cluster) -> list[Running]:
    """Return the statements that run in a cluster now."""
    rows = RefreshTarget.objects.filter(cluster=cluster).exclude(running_since=None)
    return [
        Running(row.external, Lane(row.lane or 0), row.running_on)
        for row in rows.select_related("cluster")
    ]
