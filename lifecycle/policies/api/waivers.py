"""API of path rule waivers. A waiver is requested by a policy request."""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.policies.api.serializers import WaiverSerializer
from lifecycle.policies.selectors.waiver_lists import WAIVER_ORDERS, WaiverFilter, waivers_visible
from lifecycle.policies.services.waivers import waiver_end
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, page_of, said_reason
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person


class WaiverList(APIView):
    """Waivers of path rules."""

    @extend_schema(
        operation_id="waivers_list",
        responses=page_of("Waiver", WaiverSerializer),
        parameters=list_parameters("state", "reason", "db", "table"),
    )
    def get(self, request: Request) -> Response:
        """List the waivers that stand; `state=ended` gives those that are over, `all` both."""
        lake = current_lake(request)
        today = day_of(timezone.now(), get_lake(lake).zone)
        return keyset_response(
            request,
            waivers_visible(lake, person(request), today=today),
            filter_class=WaiverFilter,
            orders=WAIVER_ORDERS,
            show=lambda row: dict(WaiverSerializer(row).data),
        )


class WaiverEnd(APIView):
    """Ending a waiver."""

    @extend_schema(operation_id="waivers_end", request=ReasonSerializer, responses={204: None})
    def post(self, request: Request, waiver_id: UUID) -> Response:
        """End a waiver before its day."""
        reason = said_reason(request)
        waiver_end(
            current_lake(request),
            waiver_id,
            user=person(request),
            reason=reason,
            now=timezone.now(),
        )
        return Response(status=204)
