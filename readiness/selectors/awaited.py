"""Which partitions are awaited, which are late, and by how much?"""

from datetime import datetime

import django_filters as filters
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from portal.access.models import User
from portal.ui.filters import DayInput, ListFilter, prefix
from portal.ui.states import look_of
from readiness.models import Awaited, Standing

# The day first: each list is of one lake, and the index gives it in this order.
AWAITED_ORDERS = {"-start": ("-start",), "start": ("start",)}
_LATE = [("now", "Late now"), ("was", "Came late"), ("any", "Late now, or came late")]


def _standings() -> list[tuple[str, str]]:
    return [(one.value, look_of(f"PARTITION_{one}").word) for one in Standing]


class AwaitedFilter(ListFilter):
    """Awaited partitions by table, how they stand, lateness and day."""

    db = prefix("rule__db", "Database")
    table = prefix("rule__table", "Table")
    standing = filters.ChoiceFilter(choices=_standings, label="Stands", empty_label="Any")
    late = filters.ChoiceFilter(
        choices=_LATE, label="Late", empty_label="Any", method="filter_late"
    )
    since = filters.DateFilter(
        field_name="start", lookup_expr="date__gte", label="From", widget=DayInput()
    )
    until = filters.DateFilter(
        field_name="start", lookup_expr="date__lte", label="Until", widget=DayInput()
    )

    class Meta:
        model = Awaited
        fields: list[str] = []

    def filter_late(self, rows: QuerySet[Awaited], name: str, value: str) -> QuerySet[Awaited]:
        """Keep what is late now, what came late, or both."""
        now, was = late_now(timezone.now()), Q(ready_at__gt=F("due_at"))
        return rows.filter({"now": now, "was": was}.get(value, now | was))


def late_now(now: datetime) -> Q:
    """Give the condition for what should be ready by an instant and is not."""
    return Q(due_at__lt=now, standing__in=(Standing.MISSING, Standing.UNREADY))


def awaited_visible(lake: str, user: User) -> QuerySet[Awaited]:
    """Give what is awaited in a lake, as the person may see it."""
    return Awaited.objects.for_user(user).filter(lake=lake).select_related("rule")


def n_late(lake: str, user: User, *, now: datetime) -> int:
    """Count what is late now, of what the person may see and somebody still looks for."""
    rows = Awaited.objects.for_user(user).filter(lake=lake, is_given_up=False)
    return rows.filter(late_now(now)).count()
