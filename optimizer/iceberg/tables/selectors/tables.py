"""Reads the Iceberg tables visible to a person, and their health."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import django_filters as filters
from django.db.models import Case, IntegerField, Prefetch, Q, QuerySet, When

from optimizer.core.domain.bands import HealthBand
from optimizer.core.selectors.tables import (
    IN_BAND,
    IS_THERE,
    POINTS_DRAWN,
    TREND_SHOWN,
    band_choices,
)
from optimizer.core.selectors.tasks import TaskFilter, kind_filter
from optimizer.models import HealthPoint, IcebergTable, OptimizeTask
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.catalog.selectors import is_named
from portal.lake.errors import NotVisible
from portal.ui.lists.filters import ListFilter, prefix

# The list opens with what is worst; what was never looked at has no score and comes last.
TABLE_ORDERS = {
    "health": ("is_unseen", "health"),
    "-health": ("-health",),
    "-score": ("-score",),
    "-files": ("-n_files",),
    "-small": ("-n_small",),
    "-bytes": ("-n_bytes",),
    "-deletes": ("-n_delete_files",),
    "-commit": ("-committed_at",),
}
TREND_ORDERS = {"-at": ("-at",), "at": ("at",)}
SHOWS = [
    ("task", "With an open task"),
    ("paused", "Paused"),
    ("problem", "Could not be inspected"),
    ("gone", "Gone from the lake"),
]

# A number, because databases sort NULL lowest and compare truths each in their own way.
_IS_UNSEEN = Case(When(health=None, then=1), default=0, output_field=IntegerField())
_SHOWN = {
    "paused": Q(is_paused=True),
    "problem": ~Q(inspection_error=""),
    "gone": Q(is_deleted=True),
}


class IcebergTaskFilter(TaskFilter):
    """Tasks of an Iceberg table by state and kind."""

    kind = kind_filter(IcebergTable)


class TableFilter(ListFilter):
    """Tables by name, health, and what is under way; those that are gone only when asked for."""

    band = filters.ChoiceFilter(
        choices=band_choices, label="Health", empty_label="Any", method="filter_band"
    )
    show = filters.ChoiceFilter(
        choices=SHOWS, label="Only", empty_label="Any", method="filter_show"
    )
    db = prefix("db", "Database")
    table = prefix("table", "Table")
    owner = filters.CharFilter(label="Owner")

    class Meta:
        model = IcebergTable
        fields: list[str] = []

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Leave out what is gone, unless it is asked for."""
        rows: QuerySet[Any] = super().filter_queryset(queryset)
        return rows if self.form.cleaned_data.get("show") == "gone" else rows.filter(IS_THERE)

    def filter_band(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep one band of health."""
        return rows.filter(IN_BAND[HealthBand(value)])

    def filter_show(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep what is in this state."""
        if value == "task":
            return rows.filter(pk__in=OptimizeTask.objects.filter(is_open=True).values("table"))
        return rows.filter(_SHOWN[value])


def tables_of(lake: str, user: User) -> QuerySet[IcebergTable]:
    """Return the tables of a lake that the person may see, gone ones too."""
    return IcebergTable.objects.filter(visible_to(user, of_lake=lake))


def tables_visible(lake: str, user: User) -> QuerySet[IcebergTable]:
    """Return the same with what a list shows beside them: the last points and the open tasks."""
    points = HealthPoint.objects.order_by("-at")[:TREND_SHOWN]
    tasks = OptimizeTask.objects.filter(is_open=True).order_by("kind")
    rows = tables_of(lake, user).annotate(is_unseen=_IS_UNSEEN)
    return rows.prefetch_related(
        Prefetch("trend", points, to_attr="points"), Prefetch("tasks", tasks, to_attr="open_tasks")
    )


def get_table_for_user(table_id: int, user: User) -> IcebergTable:
    """Return one table, whatever its lake.

    Raises:
        NotVisible: there is none for this person.
    """
    found = IcebergTable.objects.filter(visible_to(user), pk=table_id).first()
    if found is None:
        raise NotVisible("optimizer.table", "There is no such table for you.", table=table_id)
    return found


def tables_named(lake: str, names: Iterable[tuple[str, str]]) -> QuerySet[IcebergTable]:
    """Return the tables that have these names now, whoever may see them."""
    named = is_named(names, column="table")
    return IcebergTable.objects.filter(named, lake=lake, is_deleted=False)


def trend_of(table: IcebergTable) -> QuerySet[HealthPoint]:
    """Return the looks at a table, unordered."""
    return table.trend.all()


def n_poor(lake: str, user: User) -> int:
    """Count the tables whose health is poor."""
    return tables_of(lake, user).filter(IN_BAND[HealthBand.POOR] & IS_THERE).count()


def last_points(table: IcebergTable) -> list[HealthPoint]:
    """Return the last looks at a table, oldest first."""
    newest = trend_of(table).order_by("-at")[:POINTS_DRAWN]
    return list(reversed(newest))


@dataclass(frozen=True)
class SinceInspection:
    """The counts of the last look at a table, and what commits changed since."""

    look: HealthPoint
    n_commits: int
    n_files: int
    n_delete_files: int

    @property
    def is_current(self) -> bool:
        """Whether nothing was committed since."""
        return not self.n_commits


def since_inspection(table: IcebergTable) -> SinceInspection | None:
    """Return the last look with the changes since it; None before the first look.

    A table's own counts follow every commit that is heard of, health and small files are the
    look's: a page shows the look's counts and says what came since.
    """
    look = trend_of(table).order_by("-at").first()
    if look is None or table.inspected_at is None:
        return None
    seen = table.commits.filter(snapshot_id=look.snapshot_id or 0).values_list("at", flat=True)
    at = seen.first() or look.at
    n_commits = 0
    if table.snapshot_id != table.looked_snapshot_id:
        n_commits = max(table.commits.filter(at__gt=at).count(), 1)
    return SinceInspection(
        look,
        n_commits,
        (table.n_files or 0) - look.n_files if n_commits else 0,
        (table.n_delete_files or 0) - look.n_delete_files if n_commits else 0,
    )
