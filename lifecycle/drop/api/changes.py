"""API of what reviewers of a drop plan compare: its ranges, and the plan before it."""

from typing import Any
from uuid import UUID

from rest_framework import serializers

from lifecycle.drop.selectors.changes import due_ranges
from lifecycle.drop.selectors.plans import get_plan_for_user, plan_tables
from lifecycle.drop.services.plans import PLANS
from portal.lake.errors import NotVisible
from portal.ui.api.operations import ApiView, operation


class DueRangeSerializer(serializers.Serializer[Any]):
    """Partitions that follow each other and were due when the plan was created."""

    first = serializers.CharField()
    last = serializers.CharField()
    status = serializers.CharField(source="cls")
    n_items = serializers.IntegerField()
    n_bytes = serializers.IntegerField(allow_null=True)


class PlanShareSerializer(serializers.Serializer[Any]):
    """Some tables of a plan in numbers."""

    n_tables = serializers.IntegerField()
    n_items = serializers.IntegerField()
    n_bytes = serializers.IntegerField()


class PlanChangesSerializer(serializers.Serializer[Any]):
    """How a plan differs from the last one of its tables; nulls where there was none."""

    previous = serializers.UUIDField(source="previous.pk", allow_null=True, default=None)
    now = PlanShareSerializer(allow_null=True, default=None)
    before = PlanShareSerializer(allow_null=True, default=None)
    new = PlanShareSerializer(allow_null=True, default=None)
    gone = PlanShareSerializer(allow_null=True, default=None)
    n_unchanged = serializers.IntegerField(allow_null=True, default=None)


class PlanTableRanges(ApiView):
    """The ranges of one table of a plan."""

    @operation("plans_table_ranges", answer=DueRangeSerializer, many=True)
    def get(self, plan_id: UUID, db: str, table: str) -> object:
        """List the ranges of a table that the plan's scan saw due; holds may have left some out."""
        plan = get_plan_for_user(plan_id, user=self.user)
        row = plan_tables(plan, self.user).filter(db=db, table=table).first()
        if row is None:
            raise NotVisible("plan.table", "There is no such table in this plan for you.")
        return due_ranges(row)


class PlanChangesView(ApiView):
    """A plan beside the last one of the same tables."""

    @operation("plans_changes", answer=PlanChangesSerializer)
    def get(self, plan_id: UUID) -> object:
        """Compare a plan with the last one of its tables, as far as you see both."""
        return PLANS.changes(get_plan_for_user(plan_id, user=self.user), self.user) or {}
