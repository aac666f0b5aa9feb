"""Asks what an index of a column would cost and save, without building it."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from optimizer.iceberg.indexing.domain.wanted import MOST_COLUMNS, WantedIndex
from optimizer.iceberg.indexing.selectors import recorded_uses
from optimizer.models import IcebergTable
from portal.access.models import User
from portal.lake.errors import NotVisible, RuleViolation
from portal.runs.models import Run
from portal.runs.requests.services import run_request

KIND = "optimizer.index_estimate"
QUERIES_A_DAY = 10


def estimate_request(
    table: IcebergTable,
    columns: Sequence[str],
    *,
    queries_a_day: int = QUERIES_A_DAY,
    user: User,
    now: datetime,
) -> Run:
    """Have some columns of a table sampled by a short run; the table must be visible to the person.

    Raises:
        RuleViolation: `index.columns`, no column or too many; `index.queries`.
    """
    names = list(dict.fromkeys(name.strip() for name in columns if name.strip()))
    if not 1 <= len(names) <= MOST_COLUMNS:
        raise RuleViolation(
            "index.columns",
            f"Name between 1 and {MOST_COLUMNS} columns, with commas between them.",
            field="columns",
        )
    if not 1 <= queries_a_day <= 10**9:
        raise RuleViolation(
            "index.queries", "Say how many queries a day ask for it: 1 or more.", field="queries"
        )
    return run_request(
        KIND,
        lake=table.lake,
        params={
            "db": table.db,
            "table": table.table,
            "uuid": table.uuid,
            "columns": names,
            "queries_a_day": queries_a_day,
            "uses": recorded_uses(table, map(WantedIndex, names), now=now),
        },
        requested_by=user.username,
        reason="What an index would do was asked.",
        subject=("table", f"{table.db}.{table.table}"),
        now=now,
    )


def get_estimate(table: IcebergTable, run_id: UUID) -> Run:
    """Return an estimate of a table by its run.

    Raises:
        NotVisible: `index.estimate`, the table has no such estimate.
    """
    run = _estimates_of(table).filter(pk=run_id).first()
    if run is None:
        raise NotVisible("index.estimate", "The table has no such estimate.", run=str(run_id))
    return run


def last_estimate(table: IcebergTable) -> Run | None:
    """Return the estimate that was asked for last."""
    return _estimates_of(table).order_by("-queued_at").first()


def _estimates_of(table: IcebergTable) -> QuerySet[Run]:
    name = f"{table.db}.{table.table}"
    return Run.objects.filter(lake=table.lake, kind=KIND, subject_type="table", subject_id=name)
