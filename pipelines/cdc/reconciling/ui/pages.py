"""Pages of comparisons: the last of each table of a pipeline, and one table's history."""

import json
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from pipelines.cdc.control.selectors.pipelines import get_captured_table, get_pipeline_for_user
from pipelines.cdc.control.ui.pages import captured_url
from pipelines.cdc.reconciling.selectors.comparisons import (
    HISTORY_ORDERS,
    LAST_ORDERS,
    ComparisonFilter,
    HistoryFilter,
    differing_keys,
    history_of,
    last_comparison,
    last_comparisons,
    last_proven,
    last_repair,
)
from pipelines.cdc.reconciling.services.repairs import needs_admin
from pipelines.cdc.reconciling.services.schedules import NO_SOURCE, open_run_of, schedule_of
from pipelines.models import CapturedTable, DifferingKey, TableComparison
from portal.ui.frame.context import person
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.filters import filtered
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column, Table


def comparisons_url(table: CapturedTable) -> str:
    """Return the page of a table's comparisons."""
    return reverse("pipelines:table-comparisons", args=[table.pipeline.name, table.pk])


def _row_url(row: TableComparison) -> str:
    return comparisons_url(row.captured)


_RESULT = (
    Column(key="badge", title="Result", kind="state"),
    Column(key="compared_at", title="Compared", kind="ago"),
)
_COUNTS = (
    Column(key="n_rows", title="Rows at the source", kind="count"),
    Column(key="n_missing", title="Missing in the lake", kind="count", is_zero_blank=True),
    Column(key="n_extra", title="Extra in the lake", kind="count", is_zero_blank=True),
    Column(key="n_different", title="Different", kind="count", is_zero_blank=True),
    Column(
        key="n_unfit", title="In quarantine", kind="count", is_zero_blank=True, shown_from="tablet"
    ),
    Column(
        key="n_changing",
        title="Still changing",
        kind="count",
        is_zero_blank=True,
        shown_from="tablet",
        help="Rows that changed whenever they were read.",
    ),
)
LAST = (
    Column(key="captured.__str__", title="Source table", kind="code", url=_row_url, sort="name"),
    *_RESULT,
    *_COUNTS,
    Column(key="note", title="Note", is_wide=True),
)
HISTORY = (
    Column(key="compared_at", title="Compared", kind="ago", sort="compared"),
    Column(key="badge", title="Result", kind="state"),
    *_COUNTS,
    Column(key="n_ranges", title="Ranges", kind="count", shown_from="desktop"),
    Column(
        key="n_ranges_differing",
        title="Compared row by row",
        kind="count",
        is_zero_blank=True,
        shown_from="desktop",
        help="Ranges whose sums were not the same.",
    ),
    Column(key="position", title="Position", kind="code", shown_from="desktop"),
    Column(key="requested_by", title="Asked by", shown_from="desktop"),
    Column(key="note", title="Note", is_wide=True),
)


def _key(row: DifferingKey) -> str:
    return json.dumps(row.key, ensure_ascii=False)


KEYS = (Column(key="kind", title="Kind"), Column(key="text", title="Key", name="key"))


@require_GET
def comparisons(request: HttpRequest, name: str) -> HttpResponseBase:
    """List the last comparison of each table of a pipeline, also as CSV."""
    user = person(request)
    found = get_pipeline_for_user(name, user=user)
    chosen = ComparisonFilter(request.GET, queryset=last_comparisons(found))
    rows = filtered(chosen)
    if request.GET.get("format") == "csv":
        ordered = rows.order_by(*LAST_ORDERS["name"]).iterator(chunk_size=2_000)
        return stream_csv(ordered, LAST, filename=f"{found.name}-comparisons.csv")
    page = keyset_page(rows, request.GET, orders=LAST_ORDERS)
    table = Table(LAST, page.rows, "Last comparison of each table", tuple(LAST_ORDERS), page.sort)
    context: dict[str, Any] = {
        "found": found,
        "filter": chosen,
        "page": page,
        "table": table,
        "no_source": NO_SOURCE if found.is_of_topics else "",
        "schedule": schedule_of(found),
        "run": open_run_of(found),
        "hours": range(24),
    }
    return render(request, "pipelines/comparisons.html", context)


@require_GET
def table_comparisons(request: HttpRequest, name: str, pk: int) -> HttpResponseBase:
    """Show what the comparisons of a table came to, the last first, also as CSV."""
    user = person(request)
    found = get_pipeline_for_user(name, user=user)
    captured = get_captured_table(found, pk)
    chosen = HistoryFilter(request.GET, queryset=history_of(captured))
    rows = filtered(chosen)
    if request.GET.get("format") == "csv":
        ordered = rows.order_by(*HISTORY_ORDERS["-compared"]).iterator(chunk_size=2_000)
        return stream_csv(ordered, HISTORY, filename=f"{found.name}-{pk}-comparisons.csv")
    page = keyset_page(rows, request.GET, orders=HISTORY_ORDERS)
    last = last_comparison(captured)
    table = Table(HISTORY, page.rows, "Comparisons", tuple(HISTORY_ORDERS), page.sort)
    context: dict[str, Any] = {
        "pipeline": found,
        "found": captured,
        "captured_url": captured_url(captured),
        "filter": chosen,
        "page": page,
        "table": table,
        "last": last,
        "proven": last_proven(captured),
        "repair": last_repair(captured),
        "needs_admin": last is not None and needs_admin(last),
        "is_admin": user.is_lake_admin_of(found.lake),
        "run": open_run_of(found),
        "no_source": NO_SOURCE if found.is_of_topics else "",
    }
    return render(request, "pipelines/table_comparisons.html", context)


@require_GET
def comparison_keys(
    request: HttpRequest, name: str, pk: int, comparison_id: int
) -> HttpResponseBase:
    """Return the differing keys of a comparison as CSV (admins)."""
    user = person(request)
    captured = get_captured_table(get_pipeline_for_user(name, user=user), pk)
    keys = differing_keys(captured, comparison_id, user=user)
    rows = keys.order_by("pk").iterator(chunk_size=2_000)
    told = ({"kind": row.kind, "text": _key(row)} for row in rows)
    return stream_csv(told, KEYS, filename=f"{name}-{pk}-{comparison_id}-keys.csv")
