"""API of upcoming expirations and purges, and of secret calendar addresses."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from lifecycle.notices.selectors.calendar import calendar_events, calendar_url
from portal.notices.calendar import calendar_address_end, calendar_address_make
from portal.ui.api.operations import LAKE, ApiView, operation


class EventSerializer(serializers.Serializer[Any]):
    """Something that may happen from one day to another, both included."""

    uid = serializers.CharField(read_only=True)
    first = serializers.DateField(read_only=True)
    last = serializers.DateField(read_only=True)
    summary = serializers.CharField(read_only=True)
    description = serializers.CharField(read_only=True)
    url = serializers.CharField(read_only=True)


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


class CalendarEnd(ApiView):
    """Ending the secret address."""

    @operation("calendar_end", answer=CalendarEndedSerializer, parameters=LAKE)
    def post(self) -> object:
        """End your secret address."""
        now = timezone.now()
        return {"ended": calendar_address_end(self.user, lake=self.lake, now=now)}
