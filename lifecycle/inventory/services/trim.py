"""Deletes rows of old generations after a newer one is shown, in short transactions."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Model, Q, QuerySet

from lifecycle.inventory.models.findings import GenerationState
from lifecycle.models import (
    DatabaseFinding,
    DueDay,
    LatestScan,
    OwnerTotals,
    PartitionRange,
    PathFinding,
    SamplePartition,
    ScanSnapshot,
    TableAges,
    TableFinding,
)
from portal.runs.results.parquet import CHUNK

KEPT = 2


def generations_trim(lake: str) -> int:
    """Remove the rows of all but the newest `KEPT` pictures; their totals stay. Safe to repeat."""
    ready = ScanSnapshot.objects.filter(lake=lake, state=GenerationState.READY).order_by("-pk")
    old = list(ready[KEPT:])
    for generation in old:
        rows_delete(generation)
        ScanSnapshot.objects.filter(pk=generation.pk).update(state=GenerationState.TRIMMED)
    return len(old)


def scans_shown(lake: str, *, since: datetime) -> set[UUID]:
    """Return the scans whose result files are in use.

    These are the one of the current picture, those of all pictures that were shown since an instant
    and may still be read, and those that are being loaded.
    """
    pictures = ScanSnapshot.objects.filter(lake=lake)
    current = Q(pk__in=LatestScan.objects.filter(lake=lake).values("generation"))
    shown = pictures.exclude(state=GenerationState.LOADING).filter(run__finished_at__lte=since)
    # Shown at that instant was the last one of those that had been loaded by then.
    first = shown.order_by("-pk").values_list("pk", flat=True).first()
    newer = Q(pk__gte=first) if first is not None else Q()
    wanted = current | newer | Q(state=GenerationState.LOADING)
    return set(pictures.filter(wanted).values_list("run", flat=True))


def rows_delete(generation: ScanSnapshot) -> None:
    """Remove every row of one generation, children first, at most `CHUNK` a transaction."""
    for rows in (
        SamplePartition.objects.filter(table__generation=generation),
        PartitionRange.objects.filter(table__generation=generation),
        PathFinding.objects.filter(generation=generation),
        OwnerTotals.objects.filter(generation=generation),
        DueDay.objects.filter(generation=generation),
        TableAges.objects.filter(table__generation=generation),
        TableFinding.objects.filter(generation=generation),
        DatabaseFinding.objects.filter(generation=generation),
    ):
        _delete(rows)


def _delete(rows: QuerySet[Model]) -> None:
    while keys := list(rows.values_list("pk", flat=True)[:CHUNK]):
        with transaction.atomic():
            rows.model._default_manager.filter(pk__in=keys).delete()
