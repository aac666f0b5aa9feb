"""Reads the commits to a table, by the portal and by others."""

from typing import Any
from urllib.parse import urlencode

import django_filters as filters
from django.db.models import QuerySet
from django.urls import reverse

from optimizer.iceberg.tables.selectors.tables import tables_of
from optimizer.models import Commit, IcebergTable
from portal.access.models import User
from portal.search.registry import Hit
from portal.ui.lists.filters import DayInput, ListFilter

COMMIT_ORDERS = {"-at": ("-at",), "at": ("at",)}
WHO = [("writers", "Writers"), ("ours", "Lakewarden")]
OPERATIONS = ("append", "overwrite", "delete", "replace")
DRAWN = 60


class CommitFilter(ListFilter):
    """Commits by who made them, what they did and when."""

    who = filters.ChoiceFilter(choices=WHO, label="By", empty_label="Any", method="filter_who")
    operation = filters.ChoiceFilter(
        choices=[(one, one.capitalize()) for one in OPERATIONS], label="What", empty_label="Any"
    )
    since = filters.DateFilter(
        field_name="at", lookup_expr="date__gte", label="From", widget=DayInput()
    )
    until = filters.DateFilter(
        field_name="at", lookup_expr="date__lte", label="To", widget=DayInput()
    )

    class Meta:
        model = Commit
        fields: list[str] = []

    def filter_who(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep our own commits, or those of writers."""
        return rows.filter(is_ours=value == "ours")


ID_MAX = 2**63 - 1


def commits_of(table: IcebergTable) -> QuerySet[Commit]:
    """Return the commits of a table, unordered."""
    return table.commits.all()


def last_commits(table: IcebergTable) -> list[Commit]:
    """Return the last commits of a table, oldest first."""
    newest = commits_of(table).order_by("-at", "-pk")[:DRAWN]
    return list(reversed(newest))


def snapshots_found(user: User, lake: str, text: str, limit: int) -> list[Hit]:
    """Find snapshots by their ids, of tables that the person may see; a source of the search."""
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= ID_MAX):
        return []
    tables = tables_of(lake, user)
    rows = Commit.objects.filter(snapshot_id=int(text), table__in=tables).select_related("table")
    query = urlencode({"lake": lake})
    return [
        Hit(
            f"Snapshot {row.snapshot_id}",
            f"{_commits_path(row)}?{query}",
            f"{row.table}, {row.operation or 'commit'}",
        )
        for row in rows.order_by("-at")[:limit]
    ]


def _commits_path(row: Commit) -> str:
    if row.table.is_deleted:
        return reverse("optimizer:table-commits", args=[row.table_id])
    return reverse("ui:table-part", args=[row.table.db, row.table.table, "files", "commits"])
