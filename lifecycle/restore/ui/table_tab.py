"""The tab of a table's backups on the page of the table; a dropped table has it too."""

import django_filters as filters
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse

from lifecycle.backup.models import BackupTotals
from lifecycle.restore.selectors.backups import totals_of_table
from portal.access.models import User
from portal.catalog.models import Table
from portal.catalog.services.registry import TableTab, register_table_tab
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.filters import DayInput, ListFilter
from portal.ui.lists.tables import Column


class DayFilter(ListFilter):
    """The days of a table's backups."""

    since = filters.DateFilter(field_name="day", lookup_expr="gte", label="From", widget=DayInput())
    until = filters.DateFilter(field_name="day", lookup_expr="lte", label="To", widget=DayInput())

    class Meta:
        model = BackupTotals
        fields: list[str] = []


def _day_url(row: BackupTotals) -> str:
    path = reverse("lifecycle:backup-table", args=[row.day, row.db, row.table])
    return f"{path}?lake={row.lake}"


BACKUPS = ListSpec(
    template="lifecycle/table_backups.html",
    caption="Backups of the table by day",
    columns=(
        Column(key="day", title="Dropped on", kind="day", sort="day", url=_day_url),
        Column(
            key="", title="State", kind="template", template="lifecycle/_backup_state.html"
        ),
        Column(key="table_owner", title="Owner then"),
        Column(key="n_items", title="Items", kind="count"),
        Column(key="n_restored", title="Restored", kind="count"),
        Column(key="n_bytes", title="Size", kind="bytes"),
        Column(
            key="",
            title="Can be restored",
            kind="template",
            template="lifecycle/_cell_days_left.html",
        ),
    ),
    orders={"-day": ("-day",), "day": ("day",)},
    filename="table-backups.csv",
    exports=(
        "day", "db", "table", "table_owner", "n_batches", "n_items", "n_restored", "n_bytes",
        "n_files", "n_restorable", "n_purging", "n_purged",
    ),
)  # fmt: skip


def register_backups_tab() -> None:
    """Add the tab."""
    register_table_tab(TableTab("backups", "Backups", 60, _page, _has_backups, outlives=True))


def _page(request: HttpRequest, table: Table, part: str) -> HttpResponseBase:
    filterset = DayFilter(request.GET, queryset=totals_of_table(table.lake, table.db, table.name))
    return list_response(request, BACKUPS, filterset=filterset, context={})


def _has_backups(table: Table, user: User) -> bool:
    return totals_of_table(table.lake, table.db, table.name).exists()
