"""The page of a lake's scans: pictures by day, the savings ledger, and what nothing serves."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from optimizer.fleet.domain.days import CAUSES
from optimizer.fleet.selectors import PERIODS, FleetScans, fleet_scans, period_of
from optimizer.fleet.ui.charts import CAUSE_WORDS, charts_of
from optimizer.models import IcebergTable
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.tables import Column
from portal.ui.tables.addresses import table_url

SCANS = "scans"
"""The key of the tab of a table's own scans."""

DAY_COLUMNS = (
    *("day", "n_scans", "n_files", "n_skipped", "n_unsized", "planned_bytes", "read_bytes"),
    *("skipped_bytes", "skipped_percent", *(f"skipped.{cause}" for cause in CAUSES)),
)
SAVING_COLUMNS = (
    *("advice.pk", "advice.table", "advice.subject", "advice.proposed", "advice.state"),
    *("advice.applied_at", "advice.measured_from", "expected_a_day", "measured_a_day"),
)


@require_GET
def scans(request: HttpRequest) -> HttpResponseBase:
    """Show what the scans of a whole lake read and left out, or one part of it as CSV."""
    lake, now = current_lake(request), timezone.now()
    n_days = period_of(request.GET.get("days"))
    found = fleet_scans(lake, person(request), n_days=n_days, now=now)
    if request.GET.get("format") == "csv":
        return _csv(found, request.GET.get("part", ""), lake)
    total = found.total
    there = [one for one in CAUSES if total.skipped.get(one)]
    context: dict[str, Any] = {
        "scans": found,
        "total": total,
        "causes": [(CAUSE_WORDS[one], total.skipped[one]) for one in there],
        "unserved": [(one, scans_tab_url(one.table)) for one in found.unserved],
        "periods": PERIODS,
        "charts": charts_of(found),
    }
    return render(request, "optimizer/scans.html", context)


def scans_tab_url(row: IcebergTable) -> str:
    """Return the tab of a table's own scans."""
    return table_url(row.lake, row.db, row.table, SCANS)


def _csv(found: FleetScans, part: str, lake: str) -> HttpResponseBase:
    name = part if part in CSV_PARTS else DAYS
    rows, keys = CSV_PARTS[name]
    columns = [Column(key=key, title=key) for key in keys]
    return stream_csv(rows(found), columns, filename=f"scans-{name}-{lake}.csv")


def _unserved_lines(found: FleetScans) -> Iterator[dict[str, Any]]:
    for one in found.unserved:
        yield {
            "table": str(one.table),
            "filters": [" ".join(pair) for pair in one.filters],
            "n_scans": one.n_scans,
            "n_bytes": one.n_bytes,
            "looked_at": one.looked_at,
        }


DAYS = "days"
CSV_PARTS: Mapping[str, tuple[Callable[[FleetScans], Iterable[Any]], Sequence[str]]] = {
    DAYS: (lambda found: found.days, DAY_COLUMNS),
    "times": (lambda found: found.times, ("day", "engine", "n_queries", "p50", "p95")),
    "savings": (lambda found: found.savings.rows, SAVING_COLUMNS),
    "unserved": (_unserved_lines, ("table", "filters", "n_scans", "n_bytes", "looked_at")),
}
