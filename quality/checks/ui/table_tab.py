"""The tab of a table's checks on the page of the table."""

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from portal.catalog.models import Table
from portal.catalog.services.registry import TableTab, register_table_tab
from portal.ui.frame.context import person
from portal.ui.lists import tables
from quality.checks.selectors.check_sets import check_set_of_table, results_of
from quality.checks.services.requests import open_run_of
from quality.checks.ui.pages import charts_of, rules_of
from quality.checks.ui.tables import RESULTS

CHECKS = "checks"
SHOWN = 20


def register_checks_tab() -> None:
    """Add the tab; a table without checks has it too, to begin there."""
    register_table_tab(TableTab(CHECKS, "Checks", 60, _page, lambda _table, _user: True))


def _page(request: HttpRequest, table: Table, part: str) -> HttpResponseBase:
    user = person(request)
    found = check_set_of_table(table.lake, table.db, table.name, user=user)
    context: dict[str, Any] = {"table": table, "found": found}
    if found is not None:
        rules = rules_of(found)
        charts = charts_of(found, rules, most=1)
        results = results_of(found).order_by("-judged_at", "-window", "pk")[:SHOWN]
        context |= {
            "rules": rules,
            "n_columns": len({name for one in rules for name in one.rule.measured.columns}),
            "chart": charts[0][1] if charts else None,
            "results": tables.Table(RESULTS.columns, list(results), "Last results"),
            "run": open_run_of(found),
        }
    return render(request, "readiness/table_checks.html", context)
