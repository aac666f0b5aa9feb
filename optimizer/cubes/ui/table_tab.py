"""The tab of an Iceberg table's cubes on the page of the table."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from optimizer.core.selectors.table_health import FILES
from optimizer.cubes.selectors import cubes_of
from optimizer.cubes.services.estimates import last_estimate
from optimizer.cubes.ui.addresses import CUBES
from optimizer.iceberg.tables.selectors.of_catalog import get_table_of, is_known
from portal.catalog.models import Table
from portal.catalog.services.registry import TableTab, register_table_tab


def register_cubes_tab() -> None:
    """Add the tab, beside that of the indexes."""
    register_table_tab(
        TableTab(CUBES, "Cubes", 46, _page, is_known, frozenset({"iceberg"}), shown_with=FILES)
    )


def _page(request: HttpRequest, table: Table, part: str) -> HttpResponseBase:
    row = get_table_of(table)
    cubes = cubes_of(row, now=timezone.now())
    context = {"iceberg": row, "cubes": cubes, "estimate": last_estimate(row)}
    return render(request, "optimizer/table_cubes.html", context)
