"""API of holds. Programs read the holds that they may see; they place and end them as a person."""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.backup.services.holds import hold_release
from lifecycle.inventory.api.findings import LAKE, lake_of, person
from lifecycle.inventory.api.serializers import HoldPlaceSerializer, HoldSerializer
from lifecycle.policies.selectors.holds import (
    HOLD_ORDERS,
    HoldFilterSet,
    get_hold_for_user,
    holds_visible,
)
from lifecycle.policies.services.holding import HoldWish, legal_hold_place
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, page_of, said_reason
from portal.ui.api.views import list_parameters


class HoldList(APIView):
    """Holds that stand."""

    @extend_schema(
        operation_id="holds_list",
        responses=page_of("Hold", HoldSerializer),
        parameters=list_parameters("db", "table", "kind"),
    )
    def get(self, request: Request) -> Response:
        """List the holds on what you may see, newest first."""
        return keyset_response(
            request,
            holds_visible(lake_of(request), person(request), now=timezone.now()),
            filter_class=HoldFilterSet,
            orders=HOLD_ORDERS,
            show=lambda row: dict(HoldSerializer(row).data),
        )

    @extend_schema(
        operation_id="hold_place",
        request=HoldPlaceSerializer,
        responses={201: HoldSerializer},
        parameters=LAKE,
    )
    def post(self, request: Request) -> Response:
        """Place a legal hold (admins)."""
        body = HoldPlaceSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        wish = HoldWish(lake=lake_of(request), **body.validated_data)
        hold = legal_hold_place(wish, user=person(request), now=timezone.now())
        return Response(HoldSerializer(hold).data, status=201)


class HoldRelease(APIView):
    """Ending a hold."""

    @extend_schema(
        operation_id="hold_release",
        request=ReasonSerializer,
        responses=HoldSerializer,
        parameters=LAKE,
    )
    def post(self, request: Request, hold: UUID) -> Response:
        """End a hold (an admin, or who placed it)."""
        reason = said_reason(request)
        user, now = person(request), timezone.now()
        found = get_hold_for_user(lake_of(request), hold, user=user, now=now)
        hold_release(hold, user=user, reason=reason, now=now)
        return Response(HoldSerializer(found).data)
