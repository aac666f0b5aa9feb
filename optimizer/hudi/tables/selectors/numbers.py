"""Monitoring gauges of Hudi tables. None names a table or a person."""

from collections.abc import Iterator

from django.db.models import Count, Min, QuerySet, Sum
from django.utils import timezone

from optimizer.core.selectors.tables import IN_BAND, IS_THERE
from optimizer.hudi.inspect.domain.alarms import CODES
from optimizer.models import HudiAlarm, HudiTable
from portal.access.gauges import Gauge, Sample, register_gauge


def register_hudi_gauges() -> None:
    """Add the numbers of Hudi tables to /metrics."""
    for gauge in (
        Gauge(
            "optimizer_hudi_tables",
            "Hudi tables by lake and health.",
            tables_by_band,
            labels=("lake", "health"),
        ),
        Gauge(
            "optimizer_hudi_alarms",
            "Open alarms of Hudi tables by what is wrong.",
            alarms,
            labels=("lake", "code"),
        ),
        Gauge(
            "optimizer_hudi_pending_plans",
            "Plans that are not executed, by lake.",
            plans,
            labels=("lake",),
        ),
        Gauge(
            "optimizer_hudi_stalest_seconds",
            "How far the stalest read-optimized view is behind, by lake.",
            stalest,
            labels=("lake",),
        ),
    ):
        register_gauge(gauge)


def tables_by_band() -> Iterator[Sample]:
    """Count tables by lake and band of health."""
    counts = {band.value: Count("pk", filter=asked) for band, asked in IN_BAND.items()}
    for lake, *found in _there().values_list("lake").annotate(**counts):
        for band, n_tables in zip(counts, found, strict=True):
            yield {"lake": lake, "health": band}, n_tables


def alarms() -> Iterator[Sample]:
    """Count open alarms by lake and code; of a lake with Hudi tables every code is told."""
    rows = HudiAlarm.objects.filter(is_open=True).order_by().values("table__lake", "code")
    found = {(row["table__lake"], row["code"]): row["n"] for row in rows.annotate(n=Count("pk"))}
    for lake in _there().values_list("lake", flat=True).distinct():
        for code in CODES:
            yield {"lake": lake, "code": code}, found.get((lake, code), 0)


def plans() -> Iterator[Sample]:
    """Add up what is planned and not executed."""
    for lake, n_pending in _there().values_list("lake").annotate(n=Sum("n_pending")):
        yield {"lake": lake}, n_pending or 0


def stalest() -> Iterator[Sample]:
    """Yield the age of the oldest write that a view lacks; 0 where none lacks any."""
    now = timezone.now()
    for lake, since in _there().values_list("lake").annotate(since=Min("stale_since")):
        yield {"lake": lake}, max(0.0, (now - since).total_seconds()) if since else 0.0


def _there() -> QuerySet[HudiTable]:
    return HudiTable.objects.filter(IS_THERE).order_by("lake")
