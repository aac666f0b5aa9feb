"""Read-only API of the queue."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import page_of
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person
from refresh.freshness.api.serializers import WaitingSerializer
from refresh.worker.api.serializers import QueueNowSerializer
from refresh.worker.selectors.queue import QUEUE_ORDERS, QueueFilter, queue_now, waiting_visible


class WaitingList(APIView):
    """What waits."""

    @extend_schema(
        operation_id="refresh_queue_list",
        responses=page_of("RefreshWaiting", WaitingSerializer),
        parameters=list_parameters("cluster", "lane", "show"),
    )
    def get(self, request: Request) -> Response:
        """List what waits of what you may see, urgent first."""
        return keyset_response(
            request,
            waiting_visible(current_lake(request), person(request)),
            filter_class=QueueFilter,
            orders=QUEUE_ORDERS,
            show=lambda row: dict(WaitingSerializer(row).data),
        )


class QueueNow(APIView):
    """The queue in short."""

    @extend_schema(
        operation_id="refresh_queue_now",
        responses=QueueNowSerializer,
        parameters=[OpenApiParameter("lake", str)],
    )
    def get(self, request: Request) -> Response:
        """Count what waits by lane, name what hinders it and what runs."""
        found = queue_now(current_lake(request), person(request))
        return Response(QueueNowSerializer(found).data)
