"""Read-only API of the queue."""

from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from refresh.freshness.api.serializers import WaitingSerializer
from refresh.worker.api.serializers import QueueNowSerializer
from refresh.worker.selectors.queue import QUEUE_ORDERS, QueueFilter, queue_now, waiting_visible


class WaitingList(KeysetList):
    """What waits."""

    operation_id = "refresh_queue_list"
    page_name = "RefreshWaiting"
    serializer_class = WaitingSerializer
    filterset_class = QueueFilter
    orders = QUEUE_ORDERS

    def get_queryset(self) -> Rows:
        """List what waits of what you may see, urgent first."""
        return waiting_visible(self.lake, self.user)


class QueueNow(ApiView):
    """The queue in short."""

    @operation("refresh_queue_now", answer=QueueNowSerializer, parameters=LAKE)
    def get(self) -> object:
        """Count what waits by lane, name what hinders it and what runs."""
        return queue_now(self.lake, self.user)
