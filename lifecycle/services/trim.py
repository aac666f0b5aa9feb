"""When do the rows of old pictures go? After a newer one is shown, in short transactions."""

from django.db import transaction
from django.db.models import Model, QuerySet

from lifecycle.models import (
    DatabaseFinding,
    Generation,
    ItemExample,
    ItemRange,
    OwnerTotals,
    PathFinding,
    TableAges,
    TableFinding,
)
from lifecycle.models.findings import GenerationState
from portal.runs.results import CHUNK

KEPT = 2


def generations_trim(lake: str) -> int:
    """Remove the rows of all but the newest `KEPT` pictures; their totals stay. Safe to repeat."""
    ready = Generation.objects.filter(lake=lake, state=GenerationState.READY).order_by("-pk")
    old = list(ready[KEPT:])
    for generation in old:
        rows_delete(generation)
        Generation.objects.filter(pk=generation.pk).update(state=GenerationState.TRIMMED)
    return len(old)


def rows_delete(generation: Generation) -> None:
    """Remove every row of one generation, children first, at most `CHUNK` a transaction."""
    for rows in (
        ItemExample.objects.filter(table__generation=generation),
        ItemRange.objects.filter(table__generation=generation),
        PathFinding.objects.filter(generation=generation),
        OwnerTotals.objects.filter(generation=generation),
        TableAges.objects.filter(table__generation=generation),
        TableFinding.objects.filter(generation=generation),
        DatabaseFinding.objects.filter(generation=generation),
    ):
        _delete(rows)


def _delete(rows: QuerySet[Model]) -> None:
    while keys := list(rows.values_list("pk", flat=True)[:CHUNK]):
        with transaction.atomic():
            rows.model._default_manager.filter(pk__in=keys).delete()
