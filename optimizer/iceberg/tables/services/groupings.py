"""Sums up by day, for weeks, what queries group a table by: no text and no constant is kept."""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet

from optimizer.advice.domain.stars.groupings import StarGrouping
from optimizer.core.models import MaintainedTable
from optimizer.iceberg.tables.services.scans import KEPT_DAYS
from optimizer.models import GroupingSum

MOST_GROUPINGS = 200
"""Of a table and day; what comes beyond is summed without telling it apart."""
BEYOND = "it is one of more groupings than are told apart"
_MOST = 2**62
_MOST_NAMES = 32


@dataclass(frozen=True, slots=True)
class GroupedQuery:
    """What a query that groups so read of the table, and its shape with the tables it names."""

    n_bytes: int
    seconds: float = 0.0
    shape: str = ""
    tables: tuple[str, ...] = ()


def grouping_report(
    row: MaintainedTable, grouping: StarGrouping, query: GroupedQuery, *, now: datetime
) -> None:
    """Add a query to today's sum of its grouping; called twice it is counted twice.

    `row` is a table of any format: each has groupings of its own.
    """
    today = now.astimezone(UTC).date()
    of_day = row.groupings.filter(day=today)
    told = _told(grouping)
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]
    with transaction.atomic():
        if _counted(of_day.filter(digest=digest), query, now):
            return
        is_first = not of_day.exists()
        if of_day.exclude(digest="").count() >= MOST_GROUPINGS:
            digest, told = "", {"refused": BEYOND}
        shown = {"shape": query.shape, "tables": list(query.tables)} if digest else {}
        of_table = {"table": row, "day": today, "digest": digest}
        made = row.groupings.model(**of_table, last_at=now, **told, **shown)
        row.groupings.bulk_create([made], ignore_conflicts=True)
        _counted(of_day.filter(digest=digest), query, now)
        if is_first:
            row.groupings.filter(day__lt=today - timedelta(days=KEPT_DAYS)).delete()


def _told(grouping: StarGrouping) -> dict[str, Any]:
    measures = sorted(f"{one.function}({one.column})" for one in grouping.measures)
    refused = "".join(one if one.isprintable() else "?" for one in grouping.refused)
    # A grouping of made-up names is kept only as far as a cube could hold it.
    return {
        "dimensions": sorted(grouping.dimensions)[:_MOST_NAMES],
        "measures": measures[:_MOST_NAMES],
        "joins": sorted(grouping.joins)[:_MOST_NAMES],
        "refused": refused[:200],
    }


def _counted(rows: QuerySet[GroupingSum], query: GroupedQuery, now: datetime) -> int:
    """Add a query to a sum; returns 0 where there is none yet, or it is full."""
    return rows.filter(n_bytes__lt=_MOST, seconds__lt=_MOST).update(
        n_queries=F("n_queries") + 1,
        n_bytes=F("n_bytes") + min(query.n_bytes, _MOST),
        seconds=F("seconds") + query.seconds,
        last_at=now,
    )
