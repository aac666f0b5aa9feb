"""Monitoring gauges of the optimizer. None names a table or a person."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Count, Min
from django.utils import timezone

from portal.access.gauges import Gauge, Sample, register_gauge
from refresh.freshness.domain.freshness import Danger
from refresh.models import Refresh, RefreshOutcome, RefreshTarget
from refresh.worker.domain.lanes import Lane

LOOK_BACK = timedelta(hours=1)


def register_gauges() -> None:
    """Add the room's numbers to /metrics."""
    for gauge in (
        Gauge(
            "refresh_tables",
            "Tables by cluster and state.",
            tables_by_state,
            labels=("cluster", "state"),
        ),
        Gauge(
            "refresh_waiting",
            "Tables that wait, by cluster and lane.",
            waiting_by_lane,
            labels=("cluster", "lane"),
        ),
        Gauge(
            "refresh_oldest_waiting_seconds",
            "Age of the oldest that waits.",
            oldest_waiting,
            labels=("cluster", "lane"),
        ),
        Gauge(
            "refresh_worst_staleness_seconds",
            "How far behind the worst is.",
            worst_staleness,
            labels=("cluster", "danger"),
        ),
        Gauge(
            "refresh_statements_last_hour",
            "Statements begun in an hour.",
            recent_statements,
            labels=("ending",),
        ),
    ):
        register_gauge(gauge)


def tables_by_state() -> Iterator[Sample]:
    """Count tables by cluster and state."""
    rows = RefreshTarget.objects.order_by().values("cluster__name", "freshness")
    for row in rows.annotate(n=Count("pk")):
        yield {"cluster": row["cluster__name"], "state": row["freshness"]}, row["n"]


def waiting_by_lane() -> Iterator[Sample]:
    """Count what waits by cluster and lane; `NEW` is not planned yet."""
    for labels, n_waiting, _ in _waiting():
        yield labels, n_waiting


def oldest_waiting() -> Iterator[Sample]:
    """Yield how long the oldest of each cluster and lane waits."""
    for labels, _, oldest in _waiting():
        if oldest is not None:
            yield labels, (timezone.now() - oldest).total_seconds()


def worst_staleness() -> Iterator[Sample]:
    """Give, by cluster and what queries see, since when the table furthest behind is so."""
    rows = RefreshTarget.objects.filter(stale_since__isnull=False, watched__is_opted_out=False)
    found = rows.exclude(danger=Danger.NONE).order_by().values("cluster__name", "danger")
    for row in found.annotate(since=Min("stale_since")):
        age = (timezone.now() - row["since"]).total_seconds()
        yield {"cluster": row["cluster__name"], "danger": row["danger"]}, age


def recent_statements() -> Iterator[Sample]:
    """Count the statements of the last hour by ending; all of them would be read at each look."""
    rows = Refresh.objects.filter(began_at__gte=timezone.now() - LOOK_BACK)
    for ending in RefreshOutcome:
        yield {"ending": ending.value}, rows.filter(ending=ending).count()


def _waiting() -> Iterator[tuple[dict[str, str], int, datetime | None]]:
    rows = RefreshTarget.objects.filter(due_at__isnull=False, running_since=None)
    found = rows.order_by().values("cluster__name", "lane")
    for row in found.annotate(n=Count("pk"), oldest=Min("waits_since")):
        lane = "NEW" if row["lane"] is None else Lane(row["lane"]).name
        yield {"cluster": row["cluster__name"], "lane": lane}, row["n"], row["oldest"]
