"""What a program can ask of quarantines: to have the files of a list brought back."""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from optimizer.iceberg.maintenance.services.quarantines import quarantine_return
from optimizer.removals.api import RemovalPlanDetailSerializer, removal_response
from portal.ui.frame.context import person


class RemovalBringBack(APIView):
    """Bringing files back from quarantine."""

    @extend_schema(
        operation_id="optimizer_removals_bring_back",
        request=OpenApiTypes.NONE,
        responses=RemovalPlanDetailSerializer,
    )
    def post(self, request: Request, removal_id: UUID) -> Response:
        """Have all files of a list moved back to where they were; nothing is written over."""
        user = person(request)
        return removal_response(quarantine_return(removal_id, user=user, now=timezone.now()), user)
