"""The tab of an Iceberg table's file indexes on the page of the table."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from optimizer.core.selectors.table_health import FILES
from optimizer.iceberg.indexing.selectors import (
    columns_covered,
    newest_covered,
    policy_of,
    that_do_not_pay,
    uses_lately,
    wanted_of,
)
from optimizer.iceberg.indexing.services.estimates import last_estimate
from optimizer.iceberg.tables.selectors.of_catalog import get_table_of, is_known
from portal.catalog.models import Table
from portal.catalog.services.registry import TableTab, register_table_tab
from portal.ui.charts.figures import Axes, Chart, heat_chart

INDEXES = "indexes"


def register_indexes_tab() -> None:
    """Add the tab, beside that of the files."""
    register_table_tab(
        TableTab(
            INDEXES,
            "Indexes",
            45,
            _page,
            is_known,
            frozenset({"iceberg"}),
            shown_with=FILES,
        )
    )


def _page(request: HttpRequest, table: Table, part: str) -> HttpResponseBase:
    row = get_table_of(table)
    found = policy_of(row)
    grid = newest_covered(row)
    charts: list[Chart] = []
    if grid.rows:
        charts.append(
            heat_chart(
                "index-map",
                title="Files with their index, per cent, newest partitions first",
                grid=grid,
                axes=Axes("Index", "Partition"),
                between=(0, 100),
            )
        )
    columns = columns_covered(row, wanted_of(row, found.policy))
    estimate = last_estimate(row)
    context = {
        "iceberg": row,
        "columns": columns,
        "unpaid": that_do_not_pay(columns, estimate.result if estimate else None),
        "wanted": found.policy.index_columns,
        "wanted_by": found.sources["index_columns"],
        "is_on": found.policy.is_on,
        "uses": uses_lately(row, now=timezone.now()),
        "charts": charts,
        "estimate": estimate,
    }
    return render(request, "optimizer/table_indexes.html", context)
