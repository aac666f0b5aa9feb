"""API of the statements that were sent."""

from uuid import UUID

from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from refresh.history.api.serializers import StatementSerializer
from refresh.history.selectors import (
    HISTORY_ORDERS,
    HistoryFilter,
    get_refresh_for_user,
    history_visible,
)


class StatementList(KeysetList):
    """Statements, newest first."""

    operation_id = "refresh_history_list"
    page_name = "RefreshStatement"
    serializer_class = StatementSerializer
    filterset_class = HistoryFilter
    orders = HISTORY_ORDERS

    def get_queryset(self) -> Rows:
        """List the statements on tables that you may see."""
        return history_visible(self.lake, self.user)


class StatementDetail(ApiView):
    """One statement."""

    @operation("refresh_history_get", answer=StatementSerializer)
    def get(self, public_id: UUID) -> object:
        """Return a statement with what came of it on each front end."""
        return get_refresh_for_user(public_id, self.user)
