"""Sums up by day what a materialization answered, who read it, and what its refreshes cost."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from pipelines.materialized.domain.messages import Refreshed
from pipelines.models import Materialization, MaterializationDay

KEPT_DAYS = 35


def answer_add(lake: str, table: str, now: datetime) -> None:
    """Count a query that was answered from the table of a materialization; others are none.

    Its sources' bytes are those of the last refresh that counted them: so many it would have read
    at most.
    """
    db, _, name = table.partition(".")
    row = Materialization.objects.filter(lake=lake, db=db, table=name).first()
    if row is None:
        return
    last = row.refreshes.filter(all_bytes__gt=0).order_by("-ended_at").first()
    n_bytes = 0 if last is None else last.all_bytes
    _add(row, now, {"n_answers": 1, "bytes_spared": n_bytes}, answered_at=now)


def read_add(lake: str, tables: Sequence[str], now: datetime) -> None:
    """Count a query that read tables of materializations by their names; others are none."""
    places = [(db, name) for db, _, name in (table.partition(".") for table in tables)]
    rows = Materialization.objects.filter(
        lake=lake, db__in={db for db, _ in places}, table__in={name for _, name in places}
    )
    for row in rows:
        if (row.db, row.table) in places:
            _add(row, now, {"n_reads": 1})


def refresh_add(row: Materialization, found: Refreshed, *, now: datetime) -> None:
    """Count what a refresh cost; called twice it is counted twice."""
    read = {"incremental": found.changed_bytes, "full": found.all_bytes}.get(found.way, 0)
    _add(row, now, {"n_refreshes": 1, "seconds": found.seconds, "bytes_read": read})


@transaction.atomic
def _add(row: Materialization, now: datetime, counts: dict[str, float], **said: Any) -> None:
    today = now.astimezone(UTC).date()
    found, is_new = MaterializationDay.objects.get_or_create(materialization=row, day=today)
    if is_new:
        row.days.filter(day__lt=today - timedelta(days=KEPT_DAYS)).delete()
    added = {name: F(name) + value for name, value in counts.items()}
    MaterializationDay.objects.filter(pk=found.pk).update(**added, **said)
