"""What can a program read of the optimizer's queue?"""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from optimizer.api.serializers import OptimizerQueueNowSerializer, OptimizeTaskSerializer
from optimizer.selectors.queue import QUEUE_ORDERS, QueueFilter, queue_now, waiting_visible
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import page_of
from portal.ui.api.views import list_parameters
from portal.ui.frame import current_lake, person


class WaitingList(APIView):
    """What waits."""

    @extend_schema(
        operation_id="optimizer_queue_list",
        responses=page_of("OptimizerWaiting", OptimizeTaskSerializer),
        parameters=list_parameters("state", "kind", "table_format", "db", "table"),
    )
    def get(self, request: Request) -> Response:
        """List what waits or is held of what you may see, the highest score first."""
        return keyset_response(
            request,
            waiting_visible(current_lake(request), person(request)),
            filter_class=QueueFilter,
            orders=QUEUE_ORDERS,
            show=lambda row: dict(OptimizeTaskSerializer(row).data),
        )


class QueueNow(APIView):
    """The queue in short."""

    @extend_schema(
        operation_id="optimizer_queue_now",
        responses=OptimizerQueueNowSerializer,
        parameters=[OpenApiParameter("lake", str)],
    )
    def get(self, request: Request) -> Response:
        """Count what waits, and give what runs and what ended in the last day."""
        found = queue_now(current_lake(request), person(request), now=timezone.now())
        return Response(OptimizerQueueNowSerializer(found).data)
