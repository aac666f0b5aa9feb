"""API of the statements that were sent."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import page_of
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person
from refresh.history.api.serializers import StatementSerializer
from refresh.history.selectors import (
    HISTORY_ORDERS,
    HistoryFilter,
    get_refresh_for_user,
    history_visible,
)


class StatementList(APIView):
    """Statements, newest first."""

    @extend_schema(
        operation_id="refresh_history_list",
        responses=page_of("RefreshStatement", StatementSerializer),
        parameters=list_parameters(
            *("cluster", "db", "table", "cause", "ending", "since", "until")
        ),
    )
    def get(self, request: Request) -> Response:
        """List the statements on tables that you may see."""
        return keyset_response(
            request,
            history_visible(current_lake(request), person(request)),
            filter_class=HistoryFilter,
            orders=HISTORY_ORDERS,
            show=lambda row: dict(StatementSerializer(row).data),
        )


class StatementDetail(APIView):
    """One statement."""

    @extend_schema(operation_id="refresh_history_get", responses=StatementSerializer)
    def get(self, request: Request, public_id: UUID) -> Response:
        """Return a statement with what came of it on each front end."""
        return Response(StatementSerializer(get_refresh_for_user(public_id, person(request))).data)
