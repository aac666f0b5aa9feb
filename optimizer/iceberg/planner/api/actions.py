"""API requests on an Iceberg table: a plan, optimization now, a pause, the end of a pause.

And a list of what would be removed from it.
"""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from optimizer.core.api import OptimizeTaskSerializer
from optimizer.core.services.actions import table_pause, table_resume
from optimizer.iceberg.planner.api.plans import OptimizerPlanSerializer
from optimizer.iceberg.planner.services.actions import (
    dry_run,
    kind_for_now,
    optimize_now,
    removal_ask,
)
from optimizer.iceberg.tables.api.serializers import IcebergTableSerializer
from optimizer.iceberg.tables.selectors.tables import get_table_for_user
from portal.ui.api.serializers import ReasonSerializer, said_reason
from portal.ui.frame import person


class TablePlan(APIView):
    """A dry run."""

    @extend_schema(operation_id="optimizer_tables_plan", responses=OptimizerPlanSerializer)
    def get(self, request: Request, table_id: int) -> Response:
        """Say what would be done to the table now, at which cost, and why the rest is not."""
        user = person(request)
        plan = dry_run(get_table_for_user(table_id, user), user=user, now=timezone.now())
        return Response(OptimizerPlanSerializer(plan).data)


class TableRun(APIView):
    """Optimizing now."""

    @extend_schema(
        operation_id="optimizer_tables_run",
        request=ReasonSerializer,
        responses={202: OptimizeTaskSerializer},
    )
    def post(self, request: Request, table_id: int) -> Response:
        """Queue the table for the next run, whatever its quiet hours and its budget say."""
        user, reason = person(request), said_reason(request)
        table = get_table_for_user(table_id, user)
        task = optimize_now(
            table, kind_for_now(table), user=user, reason=reason, now=timezone.now()
        )
        return Response(OptimizeTaskSerializer(task).data, status=202)


class TablePause(APIView):
    """Pausing a table."""

    @extend_schema(
        operation_id="optimizer_tables_pause",
        request=ReasonSerializer,
        responses=IcebergTableSerializer,
    )
    def post(self, request: Request, table_id: int) -> Response:
        """Have nothing begun on the table; a run that is under way goes on."""
        user, reason = person(request), said_reason(request)
        table = get_table_for_user(table_id, user)
        table_pause(table, user=user, reason=reason, now=timezone.now())
        return Response(IcebergTableSerializer(table).data)


class TableResume(APIView):
    """Resuming a table."""

    @extend_schema(
        operation_id="optimizer_tables_resume",
        request=ReasonSerializer,
        responses=IcebergTableSerializer,
    )
    def post(self, request: Request, table_id: int) -> Response:
        """Let the table be optimized again, and have it looked at."""
        user, reason = person(request), said_reason(request)
        table = get_table_for_user(table_id, user)
        table_resume(table, user=user, reason=reason, now=timezone.now())
        return Response(IcebergTableSerializer(table).data)


class RemovalAskSerializer(ReasonSerializer):
    """What shall be looked for, and why."""

    kind = serializers.CharField(max_length=12, help_text="EXPIRE or ORPHANS")


class RemovalAsk(APIView):
    """Asking for a list."""

    @extend_schema(
        operation_id="optimizer_tables_removal",
        request=RemovalAskSerializer,
        responses={202: OptimizeTaskSerializer},
    )
    def post(self, request: Request, table_id: int) -> Response:
        """Have a list drawn up of what would go; nothing goes before others approve it."""
        body = RemovalAskSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said, user = body.validated_data, person(request)
        task = removal_ask(
            get_table_for_user(table_id, user),
            said["kind"],
            user=user,
            reason=said["reason"],
            now=timezone.now(),
        )
        return Response(OptimizeTaskSerializer(task).data, status=202)
