"""Pages of cubes: all of a lake, one with its coverage and history, and what is asked of one."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from optimizer.core.ui.columns import cell
from optimizer.cubes.selectors import (
    CUBE_ORDERS,
    VERSION_ORDERS,
    CubeFilter,
    builds_of,
    cubes_visible,
    get_cube_for_user,
    newest_partitions,
    open_builds,
    readers_lately,
    version_of,
    versions_of,
)
from optimizer.cubes.services.definitions import cube_rebuild
from optimizer.cubes.services.upkeep import cube_drop, cube_pause, cube_resume
from optimizer.cubes.ui.addresses import cube_url, cubes_tab_url, report_url
from optimizer.iceberg.indexing.selectors import policy_of
from optimizer.models import Cube
from portal.access.registry import Page, register_page
from portal.ui.charts.figures import Axes, Chart, bar_chart
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column

BUILDS_SHOWN = 10
CUBE_LIST = ListSpec(
    template="optimizer/cubes.html",
    caption="Cubes of the lake",
    columns=(
        Column(key="name", title="Cube", kind="code", sort="name", url=cube_url),
        Column(key="table", title="Table", kind="code", url=lambda row: cubes_tab_url(row.table)),
        cell("State", "cube_state"),
        cell("Rows covered", "cube_share"),
        Column(key="n_cube_rows", title="Rows", kind="count", sort="rows"),
        Column(key="n_bytes", title="Size", kind="bytes", sort="bytes"),
        Column(key="n_queries", title="Queries, 7 days", kind="count", is_zero_blank=True),
        Column(key="n_rows_saved", title="Rows not read", kind="count", is_zero_blank=True),
        Column(key="n_bytes_saved", title="Bytes not read", kind="bytes", shown_from="desktop"),
        Column(key="last_used_at", title="Last used", kind="ago", shown_from="tablet"),
        Column(key="built_at", title="Built", kind="ago", sort="built"),
        Column(key="problem", title="Problem", is_wide=True),
    ),
    orders=CUBE_ORDERS,
    filename="cubes.csv",
    exports=(
        "table.lake", "table", "name", "cube_table", "state", "version", "built_version", "n_files",
        "n_covered", "n_rows", "n_rows_covered", "n_cube_rows", "n_bytes", "snapshot_id",
        "n_queries", "n_rows_saved", "n_bytes_saved", "last_used_at", "created_by", "created_at",
        "built_at", "problem",
    ),
)  # fmt: skip


@require_GET
def cubes(request: HttpRequest) -> HttpResponseBase:
    """List the cubes of the tables that the person may see."""
    rows = cubes_visible(current_lake(request), person(request), now=timezone.now())
    filterset = CubeFilter(request.GET, queryset=rows)
    return list_response(request, CUBE_LIST, filterset=filterset, context={})


@require_GET
def cube(request: HttpRequest, cube_id: int) -> HttpResponse:
    """Show one cube: what it covers and holds, what it cost, why rows are not covered."""
    now = timezone.now()
    row = get_cube_for_user(cube_id, person(request), now=now)
    partitions = newest_partitions(row)
    context: dict[str, Any] = {
        "cube": row,
        "iceberg": row.table,
        "version": version_of(row),
        "versions": list(versions_of(row).order_by(*VERSION_ORDERS["-version"])[:BUILDS_SHOWN]),
        "builds": list(builds_of(row).order_by("-at")[:BUILDS_SHOWN]),
        "charts": _charts(partitions) if row.is_there else [],
        "tab_url": cubes_tab_url(row.table),
        "percent": None if row.share is None else 100 * row.share,
        "row_percent": _percent(row.n_cube_rows, row.n_rows_covered),
        "readers": readers_lately(row, now=now),
        "report_url": request.build_absolute_uri(report_url(row)),
        "tasks": open_builds(row),
        "is_on": policy_of(row.table).policy.is_on,
    }
    return render(request, "optimizer/cube.html", context)


def _percent(part: int | None, whole: int | None) -> float | None:
    return 100 * part / whole if part is not None and whole else None


def _charts(partitions: Any) -> list[Chart]:
    if not partitions:
        return []
    names = [one.partition or "the whole table" for one in partitions]
    return [
        bar_chart(
            "cube-coverage",
            title="Rows by partition, newest first",
            labels=names,
            series={
                "Covered": [one.n_rows_covered for one in partitions],
                "Not covered": [one.n_rows - one.n_rows_covered for one in partitions],
            },
            axes=Axes("Partition", "Rows"),
            is_across=True,
        )
    ]


Service = Callable[..., object]


def _asked(service: Service, done: str) -> Callable[[HttpRequest, int], HttpResponse]:
    """Return the view that does what a person asks of a cube, with a reason."""

    @require_POST
    def view(request: HttpRequest, cube_id: int) -> HttpResponse:
        row: Cube = get_cube_for_user(cube_id, person(request))
        reason = request.POST.get("reason", "")
        service(row, user=person(request), reason=reason, now=timezone.now())
        messages.success(request, done)
        return HttpResponseRedirect(cube_url(row))

    return view


rebuild = _asked(cube_rebuild, "The next run rebuilds the cube from all data files.")
pause = _asked(cube_pause, "The cube is not built any further; what it covers is still used.")
resume = _asked(cube_resume, "The next run builds what the cube does not cover.")
drop = _asked(cube_drop, "A run takes the cube's table away; no data of the table is touched.")


def register_cube_pages() -> None:
    """Add the navigation."""
    # A new one and its estimate have addresses below their table's.
    of_tables = ("cube-define", "cube-estimate", "cube-accept")
    also = frozenset(f"optimizer:{name}" for name in ("cube", "cube-change", *of_tables))
    register_page(Page("services", "Cubes", "optimizer:cubes", 35, also=also))
