"""API requests on an Iceberg table: a plan, optimization now, a pause, the end of a pause.

And a list of what would be removed from it.
"""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from optimizer.core.api import OptimizeTaskSerializer
from optimizer.core.domain.tasks import TaskKind
from optimizer.core.services.actions import table_pause, table_resume
from optimizer.iceberg.planner.services.actions import (
    dry_run,
    kind_for_now,
    optimize_now,
    removal_ask,
)
from optimizer.iceberg.tables.api.serializers import IcebergTableSerializer
from optimizer.iceberg.tables.selectors.tables import get_table_for_user
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.serializers import ReasonSerializer


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


class TablePlan(ApiView):
    """A dry run."""

    @operation("optimizer_tables_plan", answer=OptimizerPlanSerializer)
    def get(self, table_id: int) -> object:
        """Say what would be done to the table now, at which cost, and why the rest is not."""
        return dry_run(get_table_for_user(table_id, self.user), user=self.user, now=timezone.now())


class TableRun(ApiView):
    """Optimizing now."""

    @operation(
        "optimizer_tables_run", body=ReasonSerializer, answer=OptimizeTaskSerializer, status=202
    )
    def post(self, table_id: int) -> object:
        """Queue the table for the next run, whatever its blackout window and its budget say."""
        reason = self.data["reason"]
        table = get_table_for_user(table_id, self.user)
        return optimize_now(
            table, kind_for_now(table), user=self.user, reason=reason, now=timezone.now()
        )


class TableIndex(ApiView):
    """The indexes of a table."""

    @operation(
        "optimizer_tables_index", body=ReasonSerializer, answer=OptimizeTaskSerializer, status=202
    )
    def post(self, table_id: int) -> object:
        """Have missing indexes built now, or those that the policy names no more dropped."""
        reason = self.data["reason"]
        table = get_table_for_user(table_id, self.user)
        return optimize_now(
            table, TaskKind.INDEX, user=self.user, reason=reason, now=timezone.now()
        )


class TablePause(ApiView):
    """Pausing a table."""

    @operation("optimizer_tables_pause", body=ReasonSerializer, answer=IcebergTableSerializer)
    def post(self, table_id: int) -> object:
        """Have nothing begun on the table; a run that is under way goes on."""
        reason = self.data["reason"]
        table = get_table_for_user(table_id, self.user)
        table_pause(table, user=self.user, reason=reason, now=timezone.now())
        return table


class TableResume(ApiView):
    """Resuming a table."""

    @operation("optimizer_tables_resume", body=ReasonSerializer, answer=IcebergTableSerializer)
    def post(self, table_id: int) -> object:
        """Let the table be optimized again, and have it inspected."""
        reason = self.data["reason"]
        table = get_table_for_user(table_id, self.user)
        table_resume(table, user=self.user, reason=reason, now=timezone.now())
        return table


class RemovalAskSerializer(ReasonSerializer):
    """What shall be looked for, and why."""

    kind = serializers.CharField(max_length=12, help_text="EXPIRE or ORPHANS")


class RemovalAsk(ApiView):
    """Asking for a list."""

    @operation(
        "optimizer_tables_removal",
        body=RemovalAskSerializer,
        answer=OptimizeTaskSerializer,
        status=202,
    )
    def post(self, table_id: int) -> object:
        """Have a list created of what would go; nothing is dropped before others approve it."""
        data = self.data
        return removal_ask(
            get_table_for_user(table_id, self.user),
            data["kind"],
            user=self.user,
            reason=data["reason"],
            now=timezone.now(),
        )
