"""API of upcoming expirations and purges, and of secret calendar addresses."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.inventory.api.findings import LAKE, lake_of, person
from lifecycle.notices.selectors.calendar import calendar_events, calendar_url
from portal.notices.calendar import calendar_address_end, calendar_address_make


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


class Calendar(APIView):
    """What goes when."""

    @extend_schema(
        operation_id="calendar_list", responses=EventSerializer(many=True), parameters=LAKE
    )
    def get(self, request: Request) -> Response:
        """Return the events of the next 90 days of what you may see."""
        events = calendar_events(lake_of(request), person(request), now=timezone.now())
        return Response(EventSerializer(events, many=True).data)

    @extend_schema(
        operation_id="calendar_make",
        request=None,
        responses=CalendarAddressSerializer,
        parameters=LAKE,
    )
    def post(self, request: Request) -> Response:
        """Make a new secret address; the one before is dead at once."""
        lake = lake_of(request)
        secret = calendar_address_make(person(request), lake=lake, now=timezone.now())
        return Response({"url": calendar_url(secret, lake)})


class CalendarEnd(APIView):
    """Ending the secret address."""

    @extend_schema(
        operation_id="calendar_end",
        request=None,
        responses=CalendarEndedSerializer,
        parameters=LAKE,
    )
    def post(self, request: Request) -> Response:
        """End your secret address."""
        now = timezone.now()
        return Response(
            {"ended": calendar_address_end(person(request), lake=lake_of(request), now=now)}
        )
