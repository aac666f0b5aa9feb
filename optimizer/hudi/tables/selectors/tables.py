"""Reads the Hudi tables visible to a person, their health, and its history."""

from collections.abc import Iterable
from typing import Any

import django_filters as filters
from django.db.models import Case, IntegerField, Prefetch, Q, QuerySet, When

from optimizer.core.domain.bands import HealthBand
from optimizer.core.selectors.table_health import files_of
from optimizer.core.selectors.tables import (
    IN_BAND,
    IS_THERE,
    POINTS_DRAWN,
    TREND_SHOWN,
    band_choices,
)
from optimizer.hudi.inspect.domain.facts import TableType
from optimizer.models import HudiPoint, HudiTable
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.catalog.domain.health import Finding, HealthLevel
from portal.catalog.selectors import is_named
from portal.lake.counts import count_words
from portal.lake.errors import NotVisible
from portal.ui.frame.states import badge_for
from portal.ui.lists.filters import ListFilter, prefix

# The list opens with what is worst; what has no score comes last, and so does a view that lacks
# nothing.
HUDI_ORDERS = {
    "health": ("is_unseen", "health"),
    "-health": ("-health",),
    "-critical": ("-n_critical", "-n_warnings"),
    "-pending": ("-n_pending",),
    "stale": ("is_fresh", "stale_since"),
    "-logs": ("-log_bytes",),
    "-written": ("-written_at",),
    "-looked": ("-inspected_at",),
    "name": ("db", "table"),
    "-name": ("-db", "-table"),
}
HUDI_SHOWS = {
    "findings": ("With findings", Q(n_critical__gt=0) | Q(n_warnings__gt=0)),
    "critical": ("With critical findings", Q(n_critical__gt=0)),
    "pending": ("With pending plans", Q(n_pending__gt=0)),
    "stale": ("Read-optimized view is stale", Q(stale_since__isnull=False)),
    "stuck": ("With stuck instants", Q(n_stuck__gt=0)),
    "paused": ("Paused", Q(is_paused=True)),
    "problem": ("Could not be inspected", ~Q(inspection_error="")),
    "gone": ("Gone from the lake", Q(is_deleted=True)),
}
# Numbers, because databases sort NULL lowest and compare truths each in their own way.
_IS_UNSEEN = Case(When(health=None, then=1), default=0, output_field=IntegerField())
_IS_FRESH = Case(When(stale_since=None, then=1), default=0, output_field=IntegerField())


def type_choices() -> list[tuple[str, str]]:
    """Return the types of tables in words, for lists of choices."""
    return [(one.value, badge_for(f"HUDI_{one}").word) for one in TableType]


class HudiFilter(ListFilter):
    """Tables by name, health, type and what is wrong; those that are gone only when asked for."""

    band = filters.ChoiceFilter(
        choices=band_choices, label="Health", empty_label="Any", method="filter_band"
    )
    show = filters.ChoiceFilter(
        choices=[(name, words) for name, (words, _) in HUDI_SHOWS.items()],
        label="Only",
        empty_label="Any",
        method="filter_show",
    )
    table_type = filters.ChoiceFilter(choices=type_choices, label="Type", empty_label="Any")
    db = prefix("db", "Database")
    table = prefix("table", "Table")
    owner = filters.CharFilter(label="Owner")

    class Meta:
        model = HudiTable
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
        return rows.filter(HUDI_SHOWS[value][1])


def hudi_of(lake: str, user: User) -> QuerySet[HudiTable]:
    """Return the Hudi tables of a lake that the person may see, gone ones too."""
    return HudiTable.objects.filter(visible_to(user, of_lake=lake))


def hudi_visible(lake: str, user: User) -> QuerySet[HudiTable]:
    """Return the same with what a list shows beside them: the last points."""
    points = HudiPoint.objects.filter(health__isnull=False).order_by("-at")[:TREND_SHOWN]
    rows = hudi_of(lake, user).annotate(is_unseen=_IS_UNSEEN, is_fresh=_IS_FRESH)
    return rows.prefetch_related(Prefetch("trend", points, to_attr="points"))


def hudi_named(lake: str, names: Iterable[tuple[str, str]]) -> QuerySet[HudiTable]:
    """Return the tables that have these names now, whoever may see them."""
    named = is_named(names, column="table")
    return HudiTable.objects.filter(named, lake=lake, is_deleted=False)


def hudi_files_of(row: HudiTable) -> Finding:
    """Judge a table by its findings, else by its score."""
    if row.n_critical:
        return Finding(HealthLevel.BAD, count_words(row.n_critical, "critical finding"))
    files = files_of(row)
    if row.n_warnings and files.level < HealthLevel.WARN:
        words = f"{count_words(row.n_warnings, 'warning')}, {files.sentence.lower()}"
        return Finding(HealthLevel.WARN, words)
    return files


def get_hudi_for_user(table_id: int, user: User) -> HudiTable:
    """Return one table, whatever its lake.

    Raises:
        NotVisible: there is none for this person.
    """
    found = HudiTable.objects.filter(visible_to(user), pk=table_id).first()
    if found is None:
        raise NotVisible("hudi.table", "There is no such table for you.", table=table_id)
    return found


def n_critical_tables(lake: str, user: User) -> int:
    """Count the tables in which rows are wrong, lost or late now."""
    return hudi_of(lake, user).filter(HUDI_SHOWS["critical"][1] & IS_THERE).count()


def last_hudi_points(table: HudiTable) -> list[HudiPoint]:
    """Return the last looks at a table, oldest first."""
    newest = table.trend.order_by("-at")[:POINTS_DRAWN]
    return list(reversed(newest))
