"""Gauges of ready partitions for a monitoring server. Nothing names a table."""

from collections.abc import Iterator

from django.db.models import Count
from django.utils import timezone

from portal.access.gauges import Gauge, Sample, register_gauge
from quality.freshness.selectors.expected import late_now
from quality.models import ExpectedPartition, FreshnessRule


def register_gauges() -> None:
    """Add the numbers of ready partitions to /metrics."""
    register_gauge(
        Gauge(
            "readiness_late_partitions",
            "Partitions that are not ready in time, by lake.",
            late,
            labels=("lake",),
        )
    )


def late() -> Iterator[Sample]:
    """Count what is late now; a lake with tables that are expected is told also with none."""
    rows = ExpectedPartition.objects.filter(late_now(timezone.now())).order_by()
    found = dict(rows.values_list("lake").annotate(n=Count("pk")))
    for lake in FreshnessRule.objects.order_by("lake").values_list("lake", flat=True).distinct():
        yield {"lake": lake}, found.get(lake, 0)
