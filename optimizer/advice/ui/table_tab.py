"""The tab of the advice on an Iceberg table."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from optimizer.advice.selectors import advice_of
from optimizer.advice.ui.addresses import ADVICE
from optimizer.core.selectors.table_health import FILES
from optimizer.iceberg.tables.selectors.of_catalog import get_table_of, is_known
from portal.catalog.models import Table
from portal.catalog.services.registry import TableTab, register_table_tab

SHOWN = 20


def register_advice_tab() -> None:
    """Add the tab, beside that of the scans."""
    register_table_tab(
        TableTab(ADVICE, "Advice", 48, _page, is_known, frozenset({"iceberg"}), shown_with=FILES)
    )


def _page(request: HttpRequest, table: Table, part: str) -> HttpResponseBase:
    row = get_table_of(table)
    context = {"iceberg": row, "advice": list(advice_of(row)[:SHOWN])}
    return render(request, "optimizer/table_advice.html", context)
