"""Counts what a materialization answers of the queries it was advised for; pauses one that fails.

Queries of whole days are counted, from the day after its first refresh, so that none from before is
among them.
"""

from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Sum

from pipelines.materialized.domain.advising import AdviceState, Served, failure_of, has_paid
from pipelines.materialized.services.definitions import materialization_pause_by
from pipelines.models import Materialization, MaterializationAdvice
from portal.catalog.services.stored_aggregates import query_logs

BY = "lakewarden"
MOST_AT_ONCE = 200


def advice_watch(lake: str, *, now: datetime) -> int:
    """Count for every advice that was followed; returns how many materializations were paused.

    Called again at any time. One that has paid is not watched any longer.
    """
    rows = MaterializationAdvice.objects.filter(
        lake=lake, state=AdviceState.APPLIED, is_open=True, gives_up=False
    )
    n_paused = 0
    for row in rows.select_related("materialization").order_by("pk")[:MOST_AT_ONCE]:
        n_paused += _watch(row, now=now)
    return n_paused


def _watch(row: MaterializationAdvice, *, now: datetime) -> bool:
    kept = row.materialization
    if kept is None or kept.is_paused:
        # Somebody took it back; what queries ask may be advised again.
        MaterializationAdvice.objects.filter(pk=row.pk).update(is_open=None)
        return False
    if kept.fresh_at is None:
        return False
    if row.measured_from is None:
        row.measured_from = now.astimezone(UTC).date() + timedelta(days=1)
        row.save(update_fields=["measured_from"])
    served = _served(row, kept)
    row.n_asked, row.n_answered = served.n_asked, served.n_answered
    row.is_open = None if has_paid(served) else True
    row.save(update_fields=["n_asked", "n_answered", "is_open"])
    failure = failure_of(served)
    if failure:
        _take_back(row, kept, failure, now=now)
    return failure != ""


def _served(row: MaterializationAdvice, kept: Materialization) -> Served:
    digests = [one["digest"] for one in row.groupings]
    n_asked = sum(
        log.n_asked(row.lake, row.facts, since=row.measured_from, digests=digests)
        for log in query_logs()
        if row.measured_from is not None
    )
    days = kept.days.filter(day__gte=row.measured_from)
    n_answered = days.aggregate(n=Sum("n_answers"))["n"] or 0
    return Served(n_asked, n_answered, kept.n_groups, kept.n_rows)


@transaction.atomic
def _take_back(
    row: MaterializationAdvice, kept: Materialization, failure: str, *, now: datetime
) -> None:
    MaterializationAdvice.objects.filter(pk=row.pk).update(
        state=AdviceState.ROLLED_BACK, is_open=None, decided_by=BY, decided_at=now, why=failure
    )
    data = {"reason": failure, "advice": row.pk}
    materialization_pause_by(kept, paused=True, by=BY, data=data, now=now)
