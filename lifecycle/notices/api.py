"""API of upcoming expirations and purges, and of secret calendar addresses."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from lifecycle.notices.selectors.calendar import calendar_events, calendar_url
from lifecycle.notices.selectors.months import calendar_month
from lifecycle.restore.selectors.backups import backup_totals_for_user
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.notices.calendar import calendar_address_end, calendar_address_make
from portal.ui.api.operations import LAKE, ApiView, operation

MONTH = [*LAKE, OpenApiParameter("month", str, description="2026-12; this month where absent")]


class EventSerializer(serializers.Serializer[Any]):
    """Something that may happen from one day to another, both included."""

    uid = serializers.CharField(read_only=True)
    first = serializers.DateField(read_only=True)
    last = serializers.DateField(read_only=True)
    summary = serializers.CharField(read_only=True)
    description = serializers.CharField(read_only=True)
    url = serializers.CharField(read_only=True)


class MonthSerializer(serializers.Serializer[Any]):
    """Which month is asked for."""

    month = serializers.DateField(input_formats=["%Y-%m"], required=False)


class DaySerializer(serializers.Serializer[Any]):
    """One day of a month; what is overdue counts today."""

    day = serializers.DateField(read_only=True)
    n_due = serializers.IntegerField(
        read_only=True, help_text="partitions and tables that are due on this day"
    )
    n_bytes = serializers.IntegerField(read_only=True, help_text="of those that were measured")
    n_purged = serializers.IntegerField(read_only=True, help_text="backups that are purged")


class CalendarAddressSerializer(serializers.Serializer[Any]):
    """The secret address; it is given only here, once."""

    url = serializers.CharField(read_only=True)


class CalendarEndedSerializer(serializers.Serializer[Any]):
    """Whether there was an address."""

    ended = serializers.BooleanField(read_only=True)


class Calendar(ApiView):
    """What goes when."""

    @operation("calendar_list", answer=EventSerializer, many=True, parameters=LAKE)
    def get(self) -> object:
        """Return the events of the next 90 days of what you may see."""
        return calendar_events(self.lake, self.user, now=timezone.now())

    @operation("calendar_make", answer=CalendarAddressSerializer, parameters=LAKE)
    def post(self) -> object:
        """Make a new secret address; the one before is dead at once."""
        secret = calendar_address_make(self.user, lake=self.lake, now=timezone.now())
        return {"url": calendar_url(secret, self.lake)}


class CalendarMonth(ApiView):
    """A month at a glance."""

    @operation("calendar_month", answer=DaySerializer, many=True, parameters=MONTH)
    def get(self) -> object:
        """Count what is due and the backups purged by day of a month (this one)."""
        asked = MonthSerializer(data=self.request.query_params)
        asked.is_valid(raise_exception=True)
        today = day_of(timezone.now(), get_lake(self.lake).zone)
        first = (asked.validated_data.get("month") or today).replace(day=1)
        backups = backup_totals_for_user(self.lake, self.user)
        month = calendar_month(self.lake, self.user, first, today=today, backups=backups)
        return [cell for week in month.weeks for cell in week if cell]


class CalendarEnd(ApiView):
    """Ending the secret address."""

    @operation("calendar_end", answer=CalendarEndedSerializer, parameters=LAKE)
    def post(self) -> object:
        """End your secret address."""
        now = timezone.now()
        return {"ended": calendar_address_end(self.user, lake=self.lake, now=now)}
