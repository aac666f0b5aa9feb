"""Comparisons as pages and API show them: the last of each table, a table's history, its keys."""

from collections import Counter
from collections.abc import Iterator

import django_filters as filters
from django.db.models import OuterRef, QuerySet, Subquery

from pipelines.cdc.control.selectors.pipelines import check_lake_staff
from pipelines.models import (
    CapturedTable,
    DifferingKey,
    Pipeline,
    TableComparison,
    TableRepair,
)
from portal.access.gauges import Gauge, Sample, register_gauge
from portal.access.models import User
from portal.catalog.services.source_comparisons import SourceComparison
from portal.lake.errors import NotAllowed, NotVisible
from portal.lake.names import TableName
from portal.ui.lists.filters import ListFilter, prefix

LAST_ORDERS = {"name": ("captured__db", "captured__table", "pk")}
HISTORY_ORDERS = {"-compared": ("-compared_at", "-pk"), "compared": ("compared_at", "pk")}
KEY_ORDERS = {"id": ("pk",)}
KINDS = [("missing", "Missing"), ("extra", "Extra"), ("different", "Different")]
STATES = [
    ("equal", "Equal"),
    ("different", "Different"),
    ("skipped", "Not compared"),
    ("failed", "Error"),
]


class ComparisonFilter(ListFilter):
    """Last comparisons by table and by what they came to."""

    db = prefix("captured__db", "Database")
    table = prefix("captured__table", "Table")
    state = filters.ChoiceFilter(choices=STATES, label="Result", empty_label="Any")


class HistoryFilter(ListFilter):
    """Comparisons of a table by what they came to."""

    state = filters.ChoiceFilter(choices=STATES, label="Result", empty_label="Any")


class KeyFilter(ListFilter):
    """Keys by how their rows differ."""

    kind = filters.ChoiceFilter(choices=KINDS, label="Kind", empty_label="Any")


def last_comparisons(pipeline: Pipeline) -> QuerySet[TableComparison]:
    """Return the last comparison of each table of a pipeline."""
    return _last(TableComparison.objects.filter(captured__pipeline=pipeline))


def differing(lake: str) -> QuerySet[TableComparison]:
    """Return the last comparisons of a lake that found differences."""
    return _last(TableComparison.objects.filter(captured__lake=lake)).filter(state="different")


def history_of(table: CapturedTable) -> QuerySet[TableComparison]:
    """Return the comparisons of a table, each with its table."""
    return TableComparison.objects.filter(captured=table).select_related("captured__pipeline")


def last_comparison(table: CapturedTable) -> TableComparison | None:
    """Return the last comparison of a table."""
    return history_of(table).order_by("-compared_at", "-pk").first()


def last_proven(table: CapturedTable) -> TableComparison | None:
    """Return the last comparison that came to a result, equal or different."""
    found = history_of(table).filter(state__in=["equal", "different"])
    return found.order_by("-compared_at", "-pk").first()


def last_repair(table: CapturedTable) -> TableRepair | None:
    """Return the last repair of a table."""
    return TableRepair.objects.filter(captured=table).order_by("-requested_at", "-pk").first()


def differing_keys(
    table: CapturedTable, comparison_id: int, *, user: User
) -> QuerySet[DifferingKey]:
    """Return the differing keys of a comparison; keys are data, so for admins alone.

    Raises:
        NotVisible: for those who keep no pipelines, and where there is no such comparison.
        NotAllowed: `comparison.keys`, for others than admins.
    """
    lake = table.pipeline.lake
    check_lake_staff(user, lake)
    if not user.is_lake_admin_of(lake):
        raise NotAllowed("comparison.keys", "Only admins may see keys, because they are data.")
    found = history_of(table).filter(pk=comparison_id).first()
    if found is None:
        raise NotVisible("comparison.unknown", "The table has no such comparison.")
    return DifferingKey.objects.filter(comparison=found)


def table_comparison(table: TableName) -> SourceComparison | None:
    """Return what the last comparison of a lake's table found; None: it is not captured."""
    rows = CapturedTable.objects.filter(
        lake=str(table.lake), target_db=table.db, target_table=table.table
    )
    captured = rows.first()
    if captured is None:
        return None
    last = last_proven(captured)
    return (
        SourceComparison(last.compared_at, last.n_differences) if last else SourceComparison(None)
    )


def register_gauges() -> None:
    """Add the numbers of comparisons to /metrics."""
    register_gauge(
        Gauge(
            "cdc_differing_rows",
            "Rows that differ, by the last comparison.",
            _differing_rows,
            labels=("pipeline",),
        )
    )


def _differing_rows() -> Iterator[Sample]:
    rows = _last(TableComparison.objects.filter(state__in=["equal", "different"]))
    found: Counter[str] = Counter()
    for row in rows.select_related("captured__pipeline"):
        found[row.captured.pipeline.name] += row.n_differences
    for name, n_rows in sorted(found.items()):
        yield {"pipeline": name}, float(n_rows)


def _last(rows: QuerySet[TableComparison]) -> QuerySet[TableComparison]:
    newest = TableComparison.objects.filter(captured=OuterRef("captured"))
    last = newest.order_by("-compared_at", "-pk").values("pk")[:1]
    return rows.filter(pk=Subquery(last)).select_related("captured__pipeline")
