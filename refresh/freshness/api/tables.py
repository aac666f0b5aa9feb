"""API of tables. It reads their status and takes the requests that a person may make."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, page_of, said_reason
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.filters import ListFilter
from refresh.freshness.api.serializers import (
    AskSerializer,
    OwedChangeSerializer,
    RepairSerializer,
    TargetDetailSerializer,
    TargetSerializer,
)
from refresh.freshness.selectors.tables import (
    CHANGES_ORDERS,
    TARGET_ORDERS,
    TargetFilter,
    changes_of,
    checks_of,
    get_target_for_user,
    on_front_ends,
    targets_visible,
)
from refresh.freshness.services.actions import refresh_ask, repair_ask, table_opt_in, table_opt_out
from refresh.models import RefreshTarget


class TableList(APIView):
    """Tables of clusters."""

    @extend_schema(
        operation_id="refresh_tables_list",
        responses=page_of("RefreshTable", TargetSerializer),
        parameters=list_parameters(
            *("danger", "freshness", "show", "cluster", "db", "table", "person")
        ),
    )
    def get(self, request: Request) -> Response:
        """List how the tables stand that you may see, what is answered wrongly now first."""
        return keyset_response(
            request,
            targets_visible(current_lake(request), person(request)),
            filter_class=TargetFilter,
            orders=TARGET_ORDERS,
            show=lambda row: dict(TargetSerializer(row).data),
        )


class TableDetail(APIView):
    """One table of a cluster."""

    @extend_schema(operation_id="refresh_tables_get", responses=TargetDetailSerializer)
    def get(self, request: Request, target_id: int) -> Response:
        """Return a table with every front end."""
        return _answer(get_target_for_user(target_id, person(request)))


class ChangeList(APIView):
    """What is owed of a table."""

    @extend_schema(
        operation_id="refresh_tables_changes",
        responses=page_of("RefreshChange", OwedChangeSerializer),
        parameters=list_parameters(),
    )
    def get(self, request: Request, target_id: int) -> Response:
        """List the partitions that changed and that some front end owes."""
        return keyset_response(
            request,
            changes_of(get_target_for_user(target_id, person(request))),
            filter_class=ListFilter,
            orders=CHANGES_ORDERS,
            show=lambda row: dict(OwedChangeSerializer(row).data),
        )


class TableAsk(APIView):
    """Asking for a refresh."""

    @extend_schema(
        operation_id="refresh_tables_ask",
        request=AskSerializer,
        responses={202: TargetDetailSerializer},
    )
    def post(self, request: Request, target_id: int) -> Response:
        """Ask for the table, or for the partitions named; every cluster that shows it does it."""
        user = person(request)
        target = get_target_for_user(target_id, user)
        body = AskSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        names = body.validated_data["partitions"]
        refresh_ask(target, user=user, partitions=names, now=timezone.now())
        return _answer(get_target_for_user(target_id, user), status=202)


class TableRepair(APIView):
    """Repairing what one front end missed."""

    @extend_schema(
        operation_id="refresh_tables_repair",
        request=RepairSerializer,
        responses={202: TargetDetailSerializer},
    )
    def post(self, request: Request, target_id: int) -> Response:
        """Ask for the whole table because of one front end (admins, operators)."""
        user = person(request)
        target = get_target_for_user(target_id, user)
        body = RepairSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        name = body.validated_data["front_end"]
        repair_ask(target, front_end=name, user=user, now=timezone.now())
        return _answer(get_target_for_user(target_id, user), status=202)


class TableOptOut(APIView):
    """Leaving a table out."""

    @extend_schema(
        operation_id="refresh_tables_opt_out",
        request=ReasonSerializer,
        responses=TargetDetailSerializer,
    )
    def post(self, request: Request, target_id: int) -> Response:
        """Have nobody refresh the table any more (admins, operators)."""
        user = person(request)
        target = get_target_for_user(target_id, user)
        table_opt_out(target, user=user, reason=said_reason(request), now=timezone.now())
        return _answer(get_target_for_user(target_id, user))


class TableOptIn(APIView):
    """Taking a table in again."""

    @extend_schema(
        operation_id="refresh_tables_opt_in",
        request=ReasonSerializer,
        responses=TargetDetailSerializer,
    )
    def post(self, request: Request, target_id: int) -> Response:
        """Have the table refreshed again (admins, operators)."""
        user = person(request)
        target = get_target_for_user(target_id, user)
        table_opt_in(target, user=user, reason=said_reason(request), now=timezone.now())
        return _answer(get_target_for_user(target_id, user))


def _answer(target: RefreshTarget, *, status: int = 200) -> Response:
    found: Any = target
    found.each_fe, found.checks = on_front_ends(target), checks_of(target)
    return Response(TargetDetailSerializer(found).data, status=status)
