"""Queries of expected partitions, and of which are late and by how much."""

from datetime import date, datetime, time, timedelta

import django_filters as filters
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from portal.access.models import User
from portal.ui.frame.states import badge_for
from portal.ui.lists.filters import DayInput, ListFilter, prefix
from quality.models import ExpectedPartition, FreshnessStatus

# The day first: each list is of one lake, and the index gives it in this order.
EXPECTED_ORDERS = {"-start": ("-start",), "start": ("start",)}
_FIRST, _LAST = date(1970, 1, 2), date(9000, 1, 1)
_LATE = [("now", "Late now"), ("was", "Came late"), ("any", "Late now, or came late")]


def _standings() -> list[tuple[str, str]]:
    return [(one.value, badge_for(f"PARTITION_{one}").word) for one in FreshnessStatus]


class ExpectedPartitionFilter(ListFilter):
    """Awaited partitions by table, how they stand, lateness and day."""

    db = prefix("rule__db", "Database")
    table = prefix("rule__table", "Table")
    standing = filters.ChoiceFilter(choices=_standings, label="Status", empty_label="Any")
    late = filters.ChoiceFilter(
        choices=_LATE, label="Late", empty_label="Any", method="filter_late"
    )
    since = filters.DateFilter(label="From", widget=DayInput(), method="filter_since")
    until = filters.DateFilter(label="Until", widget=DayInput(), method="filter_until")

    class Meta:
        model = ExpectedPartition
        fields: list[str] = []

    def filter_late(
        self, rows: QuerySet[ExpectedPartition], name: str, value: str
    ) -> QuerySet[ExpectedPartition]:
        """Keep what is late now, what came late, or both."""
        now, was = late_now(timezone.now()), Q(came_late=True)
        return rows.filter({"now": now, "was": was}.get(value, now | was))

    # By instants, which the index knows; the day of each row would be worked out for every row.
    def filter_since(
        self, rows: QuerySet[ExpectedPartition], name: str, value: date
    ) -> QuerySet[ExpectedPartition]:
        """Keep what began on a day of the lake's zone or later."""
        return rows.filter(start__gte=_begin(value))

    def filter_until(
        self, rows: QuerySet[ExpectedPartition], name: str, value: date
    ) -> QuerySet[ExpectedPartition]:
        """Keep what began on a day of the lake's zone or earlier."""
        return rows.filter(start__lt=_begin(min(value, _LAST) + timedelta(days=1)))


def _begin(day: date) -> datetime:
    # The first and last days of the calendar have no instant in every zone.
    near = min(max(day, _FIRST), _LAST)
    return datetime.combine(near, time(), tzinfo=timezone.get_current_timezone())


def late_now(now: datetime) -> Q:
    """Return the condition for what should be ready by an instant and is not."""
    return Q(due_at__lt=now, standing__in=(FreshnessStatus.MISSING, FreshnessStatus.UNREADY))


def late_unsaid(lake: str, *, now: datetime) -> QuerySet[ExpectedPartition]:
    """Return what is late and nobody was told of, as a look after its time has found."""
    rows = ExpectedPartition.objects.filter(
        late_now(now), lake=lake, notified_at=None, is_given_up=False
    )
    return rows.filter(seen_at__gte=F("due_at"))


def expected_visible(lake: str, user: User) -> QuerySet[ExpectedPartition]:
    """Return what is expected in a lake, as the person may see it."""
    return ExpectedPartition.objects.for_user(user).filter(lake=lake).select_related("rule")


def n_late(lake: str, user: User, *, now: datetime) -> int:
    """Count what is late now, of what the person may see and somebody still looks for."""
    rows = ExpectedPartition.objects.for_user(user).filter(lake=lake, is_given_up=False)
    return rows.filter(late_now(now)).count()
