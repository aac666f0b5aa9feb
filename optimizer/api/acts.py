"""What can a program ask of an Iceberg table: a plan, to be optimized now, a pause, its end?

And of a task: that it is not done.
"""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from optimizer.api.plans import OptimizerPlanSerializer
from optimizer.api.serializers import IcebergTableSerializer, OptimizeTaskSerializer
from optimizer.selectors.tables import get_table_for_user
from optimizer.selectors.tasks import get_task_for_user
from optimizer.services.asking import (
    dry_run,
    kind_for_now,
    optimize_now,
    table_pause,
    table_resume,
    task_cancel,
)
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
