"""Pages of the queries that cost most: the list, and one shape with its numbers over days."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from optimizer.core.ui.columns import cell
from optimizer.models import TopShape
from optimizer.queries.selectors import (
    SHAPE_ORDERS,
    TopShapeFilter,
    get_top_shape_for_user,
    name_tables,
    queries_lately,
    top_shapes_visible,
)
from optimizer.queries.services.analysis import analysis_request
from optimizer.queries.services.keeping import keeps_queries
from portal.ui.charts.figures import Axes, Chart, bar_chart
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column


def shape_url(row: TopShape) -> str:
    """Return the page of one shape."""
    return f"{reverse('optimizer:top-shape', args=[row.digest])}?lake={row.lake}"


SHAPES = ListSpec(
    template="optimizer/top_shapes.html",
    caption="Queries that took most time in four weeks, without their constants",
    columns=(
        cell("Query", "shape_text", is_wide=True),
        Column(key="engine", title="Engine", shown_from="tablet"),
        Column(key="n_queries", title="Queries", kind="count", sort="queries"),
        cell("Time", "shape_time", sort="seconds", is_number=True),
        cell("Middle and 95 %", "shape_each", is_number=True),
        cell("Against before", "shape_change", is_number=True, shown_from="tablet"),
        Column(key="n_bytes", title="Read", kind="bytes", sort="bytes"),
        cell("Help", "shape_help"),
    ),
    orders=SHAPE_ORDERS,
    filename="queries.csv",
    exports=(
        "lake", "digest", "engine", "text", "n_queries", "n_failed", "seconds", "p50", "p95",
        "seconds_lately", "seconds_before", "n_bytes", "share", "is_helped", "table_names",
        "last_at", "analysed_at",
    ),
)  # fmt: skip


@require_GET
def top_shapes(request: HttpRequest) -> HttpResponseBase:
    """List the shapes of queries that took most time, whose tables the person sees."""
    lake, user = current_lake(request), person(request)
    rows = top_shapes_visible(lake, user)
    context = {
        "is_kept": keeps_queries(lake),
        "may_analyse": user.is_lake_staff_of(lake),
        "engines": queries_lately(lake, now=timezone.now()),
    }
    filterset = TopShapeFilter(request.GET, queryset=rows)
    return list_response(
        request, SHAPES, filterset=filterset, context=context, complete=name_tables
    )


@require_GET
def top_shape(request: HttpRequest, digest: str) -> HttpResponse:
    """Show one shape: its text, what it reads, and its numbers over days."""
    lake = current_lake(request)
    row = get_top_shape_for_user(lake, digest, person(request))
    context = {"shape": row, "charts": _charts(row), "tables": row.tables.order_by("db", "table")}
    return render(request, "optimizer/top_shape.html", context)


@require_POST
def analyse(request: HttpRequest) -> HttpResponse:
    """Analyse the recorded queries now, and lead to the run."""
    run = analysis_request(current_lake(request), user=person(request), now=timezone.now())
    messages.success(request, "The recorded queries are analysed.")
    return HttpResponseRedirect(reverse("ui:run", args=[run.pk]))


def _charts(row: TopShape) -> list[Chart]:
    if not row.days:
        return []
    labels = [str(one["day"]) for one in row.days]
    return [
        bar_chart(
            "queries",
            title="Queries by day",
            labels=labels,
            series={"queries": [one["n_queries"] for one in row.days]},
            axes=Axes("Day", "Queries"),
        ),
        bar_chart(
            "read",
            title="Bytes read by day",
            labels=labels,
            series={"read": [one["n_bytes"] for one in row.days]},
            axes=Axes("Day", "Bytes read", unit="bytes"),
        ),
    ]
