"""Status of tables by cluster and front end, as far as a person may see it."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import django_filters as filters
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet
from django.utils import timezone

from portal.access.models import User
from portal.access.visibility import answered_by
from portal.lake.errors import NotVisible
from portal.ui.frame.states import badge_for
from portal.ui.lists.filters import ListFilter
from refresh.clusters.domain.frontends import FeState
from refresh.core.selectors.addresses import addresses
from refresh.core.selectors.filters import cluster_choices, named_from
from refresh.freshness.domain.freshness import Danger, Freshness, rank_of
from refresh.models import (
    ChangedPartition,
    ClusterFrontEnd,
    RefreshTarget,
    TableSweep,
    TargetFrontEnd,
    TargetProbe,
    WatchedTable,
)

# Ranks of one danger lie together, so the index on them finds it.
TARGET_ORDERS = {"danger": ("rank",), "-danger": ("-rank",)}
CHANGES_ORDERS = {"first": ("id",)}
SHOWS = [
    ("waiting", "Waiting"),
    ("running", "Running"),
    ("failing", "Failed, tried again"),
    ("off", "Opted out"),
    ("gone", "Gone from the metastore"),
]
_GONE_SHOWN = timedelta(hours=24)
COUNTED_AT_MOST = 10_000


def danger_choices() -> list[tuple[str, str]]:
    """Return what queries may see, in words, for lists of choices."""
    return [(one.value, badge_for(f"DANGER_{one}").word) for one in Danger]


class TargetFilter(ListFilter):
    """Tables by cluster, state, danger, name, who answers for them, and what is under way."""

    danger = filters.ChoiceFilter(choices=danger_choices, label="Query results", empty_label="Any")
    freshness = filters.ChoiceFilter(
        choices=[(one.value, one.value.capitalize()) for one in Freshness],
        label="State",
        empty_label="Any",
    )
    show = filters.ChoiceFilter(
        choices=SHOWS, label="In progress", empty_label="Any", method="filter_show"
    )
    cluster = filters.ChoiceFilter(
        field_name="cluster__name", choices=cluster_choices, label="Cluster", empty_label="Any"
    )
    db = filters.CharFilter(label="Database", method="filter_db")
    table = filters.CharFilter(label="Table", method="filter_table")
    person = filters.CharFilter(label="Responsible", method="filter_person")

    class Meta:
        model = RefreshTarget
        fields: list[str] = []

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Leave out what went a day ago and is well, unless it is asked for."""
        rows: QuerySet[Any] = super().filter_queryset(queryset)
        if self.form.cleaned_data.get("show") == "gone":
            return rows
        long_gone = timezone.now() - _GONE_SHOWN
        return rows.exclude(
            watched__is_deleted=True, watched__changed_at__lt=long_gone, danger=Danger.NONE
        )

    def filter_show(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep what is in this phase."""
        return rows.filter(_PHASES[value])

    def filter_db(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep databases whose name begins so."""
        return rows.filter(named_from("db", value))

    def filter_table(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep tables whose name begins so."""
        return rows.filter(named_from("table", value))

    def filter_person(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep what one person answers for, whoever is looking."""
        return rows.filter(answered_by(value, prefix="watched__"))


_PHASES = {
    "waiting": Q(due_at__isnull=False, running_since=None),
    "running": Q(running_since__isnull=False),
    "failing": Q(n_tries__gt=0),
    "off": Q(watched__is_opted_out=True),
    "gone": Q(watched__is_deleted=True),
}


def targets_of(lake: str, user: User) -> QuerySet[RefreshTarget]:
    """Return the tables of a lake that the person may see."""
    rows = RefreshTarget.objects.for_user(user)
    if not user.is_lake_staff_of(lake):
        return rows.filter(watched__lake=lake)
    # Of whoever sees all a join would read every table of the lake and sort them for one page;
    # so the list's own index is walked, and each row asked for its lake.
    return rows.filter(Exists(WatchedTable.objects.filter(pk=OuterRef("watched_id"), lake=lake)))


def targets_visible(lake: str, user: User) -> QuerySet[RefreshTarget]:
    """Return the same with their marks by front end."""
    marks = (
        TargetFrontEnd.objects.select_related("fe").order_by("fe__name").defer("done", "fe__config")
    )
    rows = targets_of(lake, user)
    rows = rows.select_related("cluster", "watched")
    return rows.prefetch_related(Prefetch("on_fes", marks), addresses())


def targets_of_table(lake: str, db: str, table: str) -> QuerySet[RefreshTarget]:
    """Return a Hive table as every cluster has it, for who may see the table; the worst first."""
    rows = RefreshTarget.objects.filter(watched__lake=lake, watched__db=db, watched__table=table)
    return rows.select_related("cluster", "watched").order_by("rank", "pk")


def get_target_for_user(target_id: int, user: User) -> RefreshTarget:
    """Return one table, whatever its lake.

    Raises:
        NotVisible: there is none for this person.
    """
    rows = RefreshTarget.objects.for_user(user).select_related("cluster", "watched")
    found = rows.filter(pk=target_id).first()
    if found is None:
        raise NotVisible("refresh.table", "There is no such table for you.", table=target_id)
    return found


def on_front_ends(target: RefreshTarget) -> list[TargetFrontEnd]:
    """Return how a table stands on every front end; where nothing was done yet, a row not saved."""
    records = {row.fe_id: row for row in target.on_fes.defer("done").select_related("fe")}
    fes = target.cluster.front_ends.order_by("name")
    return [records.get(fe.pk) or _nothing_done(target, fe) for fe in fes]


def _nothing_done(target: RefreshTarget, fe: ClusterFrontEnd) -> TargetFrontEnd:
    if fe.state is FeState.ALIVE:
        reason = "Nothing was refreshed there yet, so nothing is known of it."
    else:
        reason = "The front end does not answer, and nothing was refreshed there yet."
    return TargetFrontEnd(target=target, fe=fe, reason=reason)


@dataclass(frozen=True, slots=True)
class Checks:
    """The last look at a table's files and the last probe of its front ends; None: not yet."""

    sweep: TableSweep | None
    probe: TargetProbe | None


def checks_of(target: RefreshTarget) -> Checks:
    """Give what was found, or why nothing could be, when it was last looked at a table unasked."""
    return Checks(
        TableSweep.objects.filter(table=target.watched_id).first(),
        TargetProbe.objects.filter(target=target).first(),
    )


def changes_of(target: RefreshTarget) -> QuerySet[ChangedPartition]:
    """Return the partitions whose last change some front end still owes, unordered."""
    return target.watched.changed.all()


def n_changes_of(target: RefreshTarget) -> int:
    """Count them, up to COUNTED_AT_MOST and one more."""
    return changes_of(target).order_by()[: COUNTED_AT_MOST + 1].count()


def n_wrong(lake: str, user: User) -> int:
    """Count the tables that may be answered wrongly now."""
    first_milder = rank_of(Freshness.DIVERGED, Danger.UNKNOWN)
    rows = targets_of(lake, user)
    return rows.filter(danger=Danger.WRONG, rank__lt=first_milder).count()
