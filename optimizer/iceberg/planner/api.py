"""API requests on an Iceberg table: a plan, optimization now, a pause, the end of a pause.

And a list of what would be removed from it.
"""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from optimizer.core.api import OptimizeTaskSerializer
from optimizer.core.services.actions import table_pause, table_resume
from optimizer.iceberg.planner.services.actions import (
    dry_run,
    kind_for_now,
    optimize_now,
    removal_ask,
)
from optimizer.iceberg.tables.api.serializers import IcebergTableSerializer
from optimizer.iceberg.tables.selectors.tables import get_table_for_user
from portal.ui.api.serializers import ReasonSerializer, said_reason
from portal.ui.frame.context import person


class OptimizerEstimateSerializer(serializers.Serializer[Any]):
    """What a piece of work would read, write and cost."""

    n_files_read = serializers.IntegerField(read_only=True)
    bytes_read = serializers.IntegerField(read_only=True)
    n_files_written = serializers.IntegerField(read_only=True)
    bytes_written = serializers.IntegerField(read_only=True)
    seconds = serializers.FloatField(read_only=True)
    gb_hours = serializers.FloatField(read_only=True)


class OptimizerPlannedSerializer(serializers.Serializer[Any]):
    """One piece of work that would be done."""

    kind = serializers.CharField(read_only=True)
    reason = serializers.CharField(read_only=True)
    partitions = serializers.ListField(
        child=serializers.CharField(), read_only=True, allow_null=True, help_text="null: all"
    )
    estimate = OptimizerEstimateSerializer(read_only=True)
    is_timed = serializers.BooleanField(
        read_only=True, help_text="false: no speed was measured yet, seconds are 0"
    )
    needs_approval = serializers.BooleanField(read_only=True)
    not_before = serializers.DateTimeField(
        read_only=True, allow_null=True, help_text="it waits for other writers to pause"
    )


class OptimizerPlanSerializer(serializers.Serializer[Any]):
    """What would be done, what holds it, what it costs in all, and what is not done and why."""

    tasks = OptimizerPlannedSerializer(many=True, read_only=True)
    total = OptimizerEstimateSerializer(read_only=True)
    held = serializers.CharField(read_only=True)
    not_before = serializers.DateTimeField(read_only=True, allow_null=True)
    not_done = serializers.DictField(
        child=serializers.IntegerField(), read_only=True, help_text="reason -> partitions"
    )


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
