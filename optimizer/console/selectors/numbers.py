"""Numbers of the optimizer: gauges, which name no table and no person, and health by format."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Count, Min, Q, QuerySet, Sum
from django.utils import timezone

from optimizer.core.domain.tasks import FINAL, TaskState
from optimizer.core.selectors.tables import IN_BAND, IS_THERE
from optimizer.models import HudiTable, IcebergTable, OptimizeTask
from portal.access.gauges import Gauge, Sample, register_gauge
from portal.access.models import User
from portal.access.visibility import visible_to

LOOK_BACK = timedelta(hours=1)
_OPEN = (TaskState.WAITING, TaskState.HELD, TaskState.SENT)


def register_gauges() -> None:
    """Add the room's numbers to /metrics."""
    for gauge in (
        Gauge(
            "optimizer_tables",
            "Iceberg tables by lake and health.",
            tables_by_band,
            labels=("lake", "health"),
        ),
        Gauge(
            "optimizer_files",
            "Files of Iceberg tables by lake and what they are.",
            files,
            labels=("lake", "files"),
        ),
        Gauge("optimizer_tasks", "Open tasks by state.", open_tasks, labels=("state",)),
        Gauge("optimizer_oldest_waiting_seconds", "Age of the oldest that waits.", oldest_waiting),
        Gauge(
            "optimizer_ended_last_hour",
            "Tasks ended in an hour, by outcome.",
            recently_ended,
            labels=("outcome",),
        ),
    ):
        register_gauge(gauge)


def tables_by_band() -> Iterator[Sample]:
    """Count tables by lake and band of health."""
    counts = {band.value: Count("pk", filter=asked) for band, asked in IN_BAND.items()}
    for lake, *found in _there().values_list("lake").annotate(**counts):
        for band, n_tables in zip(counts, found, strict=True):
            yield {"lake": lake, "health": band}, n_tables


def tables_by_health(lake: str, user: User) -> dict[str, dict[str, int]]:
    """Count the tables of each format that the person may see, by band of health."""
    counts = {band.value: Count("pk", filter=asked) for band, asked in IN_BAND.items()}
    seen = IS_THERE & visible_to(user) & Q(lake=lake)
    iceberg = IcebergTable.objects.filter(seen).aggregate(**counts)
    hudi = HudiTable.objects.filter(seen).aggregate(**counts)
    return {"Iceberg": iceberg, "Hudi": hudi}


def files() -> Iterator[Sample]:
    """Add up data files, small ones among them, and delete files."""
    sums = {"data": Sum("n_files"), "small": Sum("n_small"), "deletes": Sum("n_delete_files")}
    for lake, *found in _there().values_list("lake").annotate(**sums):
        for what, n_files in zip(sums, found, strict=True):
            yield {"lake": lake, "files": what}, n_files or 0


def open_tasks() -> Iterator[Sample]:
    """Count what waits, is held or runs."""
    rows = OptimizeTask.objects.filter(state__in=_OPEN).order_by().values("state")
    found = {row["state"]: row["n"] for row in rows.annotate(n=Count("pk"))}
    for state in _OPEN:
        yield {"state": state.value}, found.get(state, 0)


def oldest_waiting() -> Iterator[Sample]:
    """Yield how long the oldest waits that nothing holds; nothing where none waits."""
    waiting = OptimizeTask.objects.filter(state=TaskState.WAITING)
    oldest = waiting.aggregate(at=Min("created_at"))["at"]
    if oldest is not None:
        yield {}, (timezone.now() - oldest).total_seconds()


def recently_ended() -> Iterator[Sample]:
    """Count the tasks of the last hour by what came of them."""
    rows = OptimizeTask.objects.filter(
        state__in=FINAL, ended_at__gte=timezone.now() - LOOK_BACK
    ).order_by()
    found = {row["state"]: row["n"] for row in rows.values("state").annotate(n=Count("pk"))}
    for state in sorted(FINAL):
        yield {"outcome": state.value}, found.get(state, 0)


def _there() -> QuerySet[IcebergTable]:
    return IcebergTable.objects.filter(IS_THERE).order_by("lake")
