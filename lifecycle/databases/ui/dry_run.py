"""The page of what OBSERVE would have dropped: what an admin reads before trusting a database."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from lifecycle.core.ui.links import database_url, table_url
from lifecycle.databases.selectors.dry_run import (
    TABLES_SHOWN,
    dry_run_of,
    dry_run_summary,
    dry_run_tables,
)
from lifecycle.inventory.selectors.findings import (
    current_generation,
    get_database_for_user,
    mode_of,
)
from lifecycle.inventory.ui.charts import days_chart
from lifecycle.models import DryRunRecord
from portal.ui.charts.figures import Axes, Chart
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.tables import Column

CSV_KEYS = ("db", "table", "gone", "bytes_gone", "written", "read", "first", "last")


@require_GET
def shadow(request: HttpRequest, db: str) -> HttpResponseBase:
    """Show a database's shadow record: in all, by day and by table."""
    lake, user = current_lake(request), person(request)
    found = get_database_for_user(lake, db, user=user)
    if request.GET.get("format") == "csv":
        columns = [Column(key=key, title=key) for key in CSV_KEYS]
        return stream_csv(dry_run_tables(lake, db), columns, filename=f"shadow-{db}.csv")
    records = dry_run_of(lake, db)
    context = {
        "generation": current_generation(lake),
        "found": found,
        "mode": mode_of(lake, db),
        "shadow": dry_run_summary(records),
        "records": list(reversed(records)),
        "chart": _chart(records),
        "tables": [
            {**row, "url": table_url(lake, row["db"], row["table"])}
            for row in dry_run_tables(lake, db, limit=TABLES_SHOWN)
        ],
        "tables_shown": TABLES_SHOWN,
        "database_url": database_url(lake, db),
    }
    return render(request, "lifecycle/dry_run.html", context)


def _chart(records: Sequence[DryRunRecord]) -> Chart | None:
    series = {
        "would have been dropped": [(row.day, row.n_new) for row in records],
        "written again": [(row.day, row.n_written_again) for row in records],
        "read again": [(row.day, row.n_read_again) for row in records],
    }
    return days_chart(
        "shadow",
        title="What would have been dropped",
        series=series,
        axes=Axes("Day", "Partitions and tables"),
    )
