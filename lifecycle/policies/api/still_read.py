"""API of owners' approvals to drop recently read data, equivalent to the page."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.core.api.names import PartitionField
from lifecycle.models import StillReadYes
from lifecycle.policies.selectors.still_read import YES_ORDERS, YesFilter, yes_visible
from lifecycle.policies.services.still_read import YesWish, still_read_take_back, still_read_yes
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import page_of
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person


class YesSerializer(serializers.ModelSerializer[StillReadYes]):
    """An owner's yes with its last day."""

    id = serializers.UUIDField(source="public_id", read_only=True)

    class Meta:
        model = StillReadYes
        fields = (
            *("id", "db", "table", "partition", "until", "reason", "said_by", "said_at"),
            *("ended_at", "ended_by"),
        )
        read_only_fields = fields


class YesWishSerializer(serializers.Serializer[Any]):
    """What may go although it is still read; without a partition all of the table."""

    db = serializers.CharField(max_length=128)
    table = serializers.CharField(max_length=256)
    partition = PartitionField(required=False, default="")
    until = serializers.DateField()
    reason = serializers.CharField(max_length=1000)


class YesList(APIView):
    """Owners' yeses to data that is still read."""

    @extend_schema(
        operation_id="still_read_list",
        responses=page_of("StillReadYes", YesSerializer),
        parameters=list_parameters("state", "db", "table"),
    )
    def get(self, request: Request) -> Response:
        """List the yeses that stand; `state=ended` gives those that are over, `all` both."""
        lake = current_lake(request)
        today = day_of(timezone.now(), get_lake(lake).zone)
        return keyset_response(
            request,
            yes_visible(lake, person(request), today=today),
            filter_class=YesFilter,
            orders=YES_ORDERS,
            show=lambda row: dict(YesSerializer(row).data),
        )

    @extend_schema(
        operation_id="still_read_create", request=YesWishSerializer, responses={201: YesSerializer}
    )
    def post(self, request: Request) -> Response:
        """Say that data of yours may go although it is still read; nobody says it for you."""
        body = YesWishSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        made = still_read_yes(
            current_lake(request),
            YesWish(**body.validated_data),
            user=person(request),
            now=timezone.now(),
        )
        return Response(YesSerializer(made).data, status=201)


class YesEnd(APIView):
    """Taking a yes back."""

    @extend_schema(operation_id="still_read_end", request=None, responses={204: None})
    def post(self, request: Request, yes_id: UUID) -> Response:
        """Take a yes back; a plan that is drawn up already is not touched."""
        still_read_take_back(
            current_lake(request), yes_id, user=person(request), now=timezone.now()
        )
        return Response(status=204)
