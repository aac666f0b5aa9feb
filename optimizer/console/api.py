"""What a program can read of the optimizer's queue, and the cancelling of a task."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from optimizer.console.selectors.queue import QUEUE_ORDERS, QueueFilter, queue_now, waiting_visible
from optimizer.core.api import OptimizeTaskSerializer
from optimizer.core.selectors.tasks import get_task_for_user
from optimizer.core.services.actions import task_cancel
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, page_of, said_reason
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person


class OptimizerRunningSerializer(serializers.Serializer[Any]):
    """A task in a run, and how far the run is."""

    task = OptimizeTaskSerializer(read_only=True)
    phase = serializers.CharField(source="run.phase", read_only=True, default="")
    done = serializers.IntegerField(source="run.done", read_only=True, default=None)
    total = serializers.IntegerField(source="run.total", read_only=True, default=None)


class OptimizerQueueNowSerializer(serializers.Serializer[Any]):
    """The queue now, what runs, and what ended in the last day."""

    n_waiting = serializers.IntegerField(read_only=True)
    n_held = serializers.IntegerField(read_only=True)
    n_running = serializers.IntegerField(read_only=True)
    running = OptimizerRunningSerializer(many=True, read_only=True)
    n_ended = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    ended = OptimizeTaskSerializer(many=True, read_only=True)


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


class TaskCancel(APIView):
    """Cancelling a task."""

    @extend_schema(
        operation_id="optimizer_tasks_cancel",
        request=ReasonSerializer,
        responses=OptimizeTaskSerializer,
    )
    def post(self, request: Request, task_id: int) -> Response:
        """Take a waiting task out of the queue, or have its run leave it; `is_stopping` then."""
        user, reason = person(request), said_reason(request)
        task = get_task_for_user(task_id, user)
        task_cancel(task, user=user, reason=reason, now=timezone.now())
        return Response(OptimizeTaskSerializer(task).data)
