"""The tab of a table's scans: what queries filter and group by, and what planning left out."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from optimizer.core.selectors.table_health import FILES
from optimizer.iceberg.tables.selectors.groupings import groupings_lately
from optimizer.iceberg.tables.selectors.of_catalog import get_table_of, is_known
from optimizer.iceberg.tables.selectors.scans import SHOWN_DAYS, scans_lately
from portal.catalog.models import Table
from portal.catalog.services.registry import TableTab, register_table_tab
from portal.ui.frame.context import person

SCANS = "scans"
GROUPINGS_SHOWN = 30


def register_scans_tab() -> None:
    """Add the tab; where no engine has reported a scan it says how."""
    register_table_tab(
        TableTab(SCANS, "Scans", 47, _page, is_known, frozenset({"iceberg"}), shown_with=FILES)
    )


def _page(request: HttpRequest, table: Table, part: str) -> HttpResponseBase:
    row, now = get_table_of(table), timezone.now()
    found = scans_lately(row, now=now)
    groupings = groupings_lately(row, person(request), now=now)
    context = {
        "iceberg": row,
        "days": SHOWN_DAYS,
        "all": next((one for one in found if not one.column), None),
        "filters": [one for one in found if one.column],
        "groupings": groupings[:GROUPINGS_SHOWN],
        "n_more_groupings": max(0, len(groupings) - GROUPINGS_SHOWN),
    }
    return render(request, "optimizer/table_scans.html", context)
