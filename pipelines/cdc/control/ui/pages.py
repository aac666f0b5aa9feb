"""The pages of change capture: all pipelines, one with its tables, and one table."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from pipelines.cdc.control.selectors.pipelines import (
    CHANGE_ORDERS,
    PIPELINE_ORDERS,
    TABLE_ORDERS,
    CapturedTableFilter,
    PipelineFilter,
    PipelineRow,
    TableRow,
    check_lake_staff,
    get_captured_table,
    get_pipeline_for_user,
    last_minutes,
    pipeline_rows,
    pipelines_for,
    schema_changes_of,
    table_row,
    tables_of,
)
from pipelines.cdc.control.services.orders import plan_of
from pipelines.cdc.control.services.protections import is_refused, protections_shown
from pipelines.cdc.control.ui.charts import charts_of
from pipelines.cdc.protecting.domain.protections import Method
from pipelines.models import CapturedTable, Pipeline
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.filters import filtered
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column, Table
from portal.ui.tables.addresses import table_url


def pipeline_url(pipeline: Pipeline) -> str:
    """Return the page of a pipeline."""
    return reverse("pipelines:pipeline", args=[pipeline.name])


def captured_url(table: CapturedTable) -> str:
    """Return the page of a captured table."""
    return reverse("pipelines:table", args=[table.pipeline.name, table.pk])


def _row_url(row: PipelineRow) -> str:
    return pipeline_url(row.pipeline)


def _table_url(row: TableRow) -> str:
    return captured_url(row.table)


def _target_url(row: TableRow) -> str:
    table = row.table
    return table_url(table.lake, table.target_db, table.target_table)


PIPELINES = (
    Column(key="pipeline.name", title="Pipeline", kind="code", url=_row_url, sort="name"),
    Column(key="state", title="State", kind="state"),
    Column(key="pipeline.lake", title="Lake", shown_from="desktop"),
    Column(key="pipeline.host", title="Source", kind="code", shown_from="tablet"),
    Column(key="pipeline.target_db", title="Target database", kind="code"),
    Column(key="n_tables", title="Tables", kind="count"),
    Column(key="n_troubled", title="Waiting for a person", kind="count", is_zero_blank=True),
    Column(key="n_quarantined", title="Quarantined", kind="count", is_zero_blank=True),
    Column(key="data_at", title="Data in the lake of", kind="ago"),
)
TABLES = (
    Column(key="table.__str__", title="Source table", kind="code", url=_table_url, sort="name"),
    Column(key="state", title="State", kind="state"),
    Column(key="table.target", title="Lake's table", kind="code", url=_target_url),
    Column(key="table.data_at", title="Data of", kind="ago"),
    Column(key="table.n_upserts", title="Upserts", kind="count", shown_from="desktop"),
    Column(key="table.n_deletes", title="Deletes", kind="count", shown_from="desktop"),
    Column(key="table.n_quarantined", title="Quarantined", kind="count", is_zero_blank=True),
    Column(key="table.n_aside", title="Kept aside", kind="count", is_zero_blank=True),
    Column(key="note", title="Note", is_wide=True),
)


@require_GET
def pipelines(request: HttpRequest) -> HttpResponseBase:
    """List the pipelines, also as CSV."""
    check_lake_staff(person(request), current_lake(request))
    chosen = PipelineFilter(request.GET, queryset=pipelines_for(person(request)))
    rows, now = filtered(chosen), timezone.now()
    if request.GET.get("format") == "csv":
        return stream_csv(
            pipeline_rows(rows.order_by("name"), now=now), PIPELINES, filename="pipelines.csv"
        )
    page = keyset_page(rows, request.GET, orders=PIPELINE_ORDERS)
    shown = pipeline_rows(page.rows, now=now)
    table = Table(PIPELINES, shown, "Pipelines", tuple(PIPELINE_ORDERS), page.sort)
    context = {
        "filter": chosen,
        "page": page,
        "table": table,
        "is_admin": person(request).is_portal_admin,
    }
    return render(request, "pipelines/pipelines.html", context)


@require_GET
def pipeline(request: HttpRequest, name: str) -> HttpResponseBase:
    """Show one pipeline: its state, its last hours, and its tables, these also as CSV."""
    user, now = person(request), timezone.now()
    found = get_pipeline_for_user(name, user=user)
    chosen = CapturedTableFilter(request.GET, queryset=tables_of(found))
    rows = filtered(chosen)
    if request.GET.get("format") == "csv":
        ordered = rows.order_by("db", "table", "pk").iterator(chunk_size=2_000)
        return stream_csv(map(table_row, ordered), TABLES, filename=f"{found.name}-tables.csv")
    page = keyset_page(rows, request.GET, orders=TABLE_ORDERS)
    shown = [table_row(row) for row in page.rows]
    table = Table(TABLES, shown, "Tables of the pipeline", tuple(TABLE_ORDERS), page.sort)
    context: dict[str, Any] = {
        "found": found,
        "row": pipeline_rows([found], now=now)[0],
        "filter": chosen,
        "page": page,
        "table": table,
        "charts": charts_of(last_minutes(found, now=now)),
        "is_admin": user.is_lake_admin_of(found.lake),
    }
    return render(request, "pipelines/pipeline.html", context)


@require_GET
def captured_table(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Show one captured table: how far it is, and each schema that it had."""
    user = person(request)
    found = get_pipeline_for_user(name, user=user)
    row = table_row(get_captured_table(found, pk))
    schemas = list(row.table.schemas.all())
    plan = plan_of(row.table, schemas)
    page = keyset_page(schema_changes_of(row.table), request.GET, orders=CHANGE_ORDERS)
    context: dict[str, Any] = {
        "pipeline": found,
        "row": row,
        "found": row.table,
        "target_url": _target_url(row),
        "pending": plan.pending,
        "protections": protections_shown(row.table, plan),
        "is_refused": is_refused(row.table, schemas),
        "methods": [one.value for one in Method],
        "is_admin": user.is_lake_admin_of(row.table.pipeline.lake),
        "page": page,
    }
    return render(request, "pipelines/table.html", context)
