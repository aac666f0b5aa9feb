"""What a program can read of the optimizer's queue, and the cancelling of a task."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from optimizer.console.selectors.queue import QUEUE_ORDERS, QueueFilter, queue_now, waiting_visible
from optimizer.core.api import OptimizeTaskSerializer
from optimizer.core.selectors.tasks import get_task_for_user
from optimizer.core.services.actions import task_cancel
from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer


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


class WaitingList(KeysetList):
    """What waits."""

    operation_id = "optimizer_queue_list"
    page_name = "OptimizerWaiting"
    serializer_class = OptimizeTaskSerializer
    filterset_class = QueueFilter
    orders = QUEUE_ORDERS

    def get_queryset(self) -> Rows:
        """List what waits or is held of what you may see, the highest score first."""
        return waiting_visible(self.lake, self.user)


class QueueNow(ApiView):
    """The queue in short."""

    @operation("optimizer_queue_now", answer=OptimizerQueueNowSerializer, parameters=LAKE)
    def get(self) -> object:
        """Count what waits, and give what runs and what ended in the last day."""
        return queue_now(self.lake, self.user, now=timezone.now())


class TaskCancel(ApiView):
    """Cancelling a task."""

    @operation("optimizer_tasks_cancel", body=ReasonSerializer, answer=OptimizeTaskSerializer)
    def post(self, task_id: int) -> object:
        """Take a waiting task out of the queue, or have its run leave it; `is_stopping` then."""
        reason = self.data["reason"]
        task = get_task_for_user(task_id, self.user)
        task_cancel(task, user=self.user, reason=reason, now=timezone.now())
        return task
