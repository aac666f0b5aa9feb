"""API to accept a scan that stopped because the lake had shrunk, equivalent to its page.

Accepting needs a session whose password was given in the last 15 minutes.
"""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.inventory.services.scan_acceptance import scan_accept_smaller
from portal.access.fresh import authenticated_at
from portal.ui.api.serializers import ReasonSerializer, RunSerializer, said_reason
from portal.ui.frame.context import person


class ScanAcceptSmaller(APIView):
    """A scan that stopped because half of the lake or more was gone."""

    @extend_schema(
        operation_id="scan_accept_smaller", request=ReasonSerializer, responses={201: RunSerializer}
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Take the smaller lake for true in one new scan (admins, with a reason)."""
        reason = said_reason(request)
        run = scan_accept_smaller(
            run_id,
            user=person(request),
            reason=reason,
            authenticated_at=authenticated_at(request._request),
            now=timezone.now(),
        )
        return Response(RunSerializer(run).data, status=201)
