"""Reads what materializations answered in the last weeks, and what that cost."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from pipelines.models import Materialization, MaterializationDay


@dataclass(frozen=True, slots=True)
class Uses:
    """Sums of all days that are kept."""

    n_answers: int
    bytes_spared: int
    answered_at: datetime | None
    n_reads: int
    n_refreshes: int
    seconds: float
    bytes_read: int


def with_uses(rows: QuerySet[Materialization]) -> QuerySet[Materialization]:
    """Add to each row `n_answers` and `answered_at` of the days that are kept."""
    days = MaterializationDay.objects.filter(materialization=OuterRef("pk"))
    sums = days.order_by().values("materialization")
    return rows.annotate(
        n_answers=Coalesce(Subquery(sums.annotate(n=Sum("n_answers")).values("n")), 0),
        answered_at=Subquery(sums.annotate(last=Max("answered_at")).values("last")),
    )


def uses_of(row: Materialization) -> Uses:
    """Return the sums of a materialization."""
    names = ("n_answers", "bytes_spared", "n_reads", "n_refreshes", "seconds", "bytes_read")
    sums = row.days.aggregate(**{f"all_{one}": Sum(one) for one in names}, last=Max("answered_at"))
    found = {one: sums[f"all_{one}"] or 0 for one in names}
    return Uses(**found, answered_at=sums["last"])


def days_of(row: Materialization) -> list[MaterializationDay]:
    """Return the days on which something happened, the last first."""
    return list(row.days.order_by("-day"))
