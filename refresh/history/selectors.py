"""Queries of refreshes: reason, waiting time, duration and outcome."""

from uuid import UUID

import django_filters as filters
from django.db.models import Exists, OuterRef, QuerySet

from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.ui.frame.states import badge_for
from portal.ui.lists.filters import DayInput, ListFilter
from refresh.changes.domain.changes import Cause
from refresh.core.selectors.addresses import addresses
from refresh.core.selectors.filters import cluster_choices, named_from
from refresh.models import Refresh, RefreshOutcome, RefreshTarget

# Statements are numbered as they are sent, and the number needs no further index.
HISTORY_ORDERS = {"-began": ("-id",), "began": ("id",)}
PICTURED = 50


def _causes() -> list[tuple[str, str]]:
    return [(cause.value, badge_for(f"CAUSE_{cause}").word) for cause in Cause]


def _endings() -> list[tuple[str, str]]:
    return [(ending.value, badge_for(ending).word) for ending in RefreshOutcome]


class HistoryFilter(ListFilter):
    """Statements by cluster, table, cause, ending and day."""

    cluster = filters.ChoiceFilter(
        field_name="cluster__name", choices=cluster_choices, label="Cluster", empty_label="Any"
    )
    db = filters.CharFilter(label="Database", method="filter_db")
    table = filters.CharFilter(label="Table", method="filter_table")
    cause = filters.ChoiceFilter(
        choices=_causes,
        label="Cause",
        empty_label="Any",
        method="filter_cause",
    )
    ending = filters.ChoiceFilter(choices=_endings, label="Outcome", empty_label="Any")
    since = filters.DateFilter(
        field_name="began_at", lookup_expr="date__gte", label="From", widget=DayInput()
    )
    until = filters.DateFilter(
        field_name="began_at", lookup_expr="date__lte", label="To", widget=DayInput()
    )

    class Meta:
        model = Refresh
        fields: list[str] = []

    def filter_db(self, rows: QuerySet[Refresh], name: str, value: str) -> QuerySet[Refresh]:
        """Keep databases whose name begins so."""
        return rows.filter(named_from("db", value, prefix="target__"))

    def filter_table(self, rows: QuerySet[Refresh], name: str, value: str) -> QuerySet[Refresh]:
        """Keep tables whose name begins so."""
        return rows.filter(named_from("table", value, prefix="target__"))

    def filter_cause(self, rows: QuerySet[Refresh], name: str, value: str) -> QuerySet[Refresh]:
        """Keep statements with this cause among theirs."""
        # As text: SQLite cannot look into a list of JSON, and no cause's name lies in another's.
        return rows.filter(causes__icontains=f'"{value}"')


def history_visible(lake: str, user: User) -> QuerySet[Refresh]:
    """Return the statements of a lake that the person may see."""
    rows = Refresh.objects.for_user(user)
    if user.is_lake_staff_of(lake):
        # Walked from the newest on, each asked for its lake; a join would sort them all.
        found = RefreshTarget.objects.filter(pk=OuterRef("target_id"), watched__lake=lake)
        rows = rows.filter(Exists(found))
    else:
        rows = rows.filter(target__watched__lake=lake)
    rows = rows.select_related("cluster", "target__cluster", "target__watched")
    return rows.prefetch_related(addresses())


def get_refresh_for_user(public_id: UUID, user: User) -> Refresh:
    """Return one statement.

    Raises:
        NotVisible: there is none for this person.
    """
    rows = Refresh.objects.for_user(user).filter(public_id=public_id)
    found = rows.select_related("cluster", "target__cluster", "target__watched").first()
    if found is None:
        raise NotVisible("refresh.missing", "There is no such refresh for you.", refresh=public_id)
    return found


def recent_activity_of(target: RefreshTarget) -> list[Refresh]:
    """Return the last statements of one table, newest first."""
    rows = target.history.select_related("cluster").prefetch_related(addresses())
    return list(rows.order_by("-id")[:PICTURED])
