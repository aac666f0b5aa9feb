"""API of comparisons for admins and operators. It does all that their pages do."""

from django.utils import timezone

from pipelines.cdc.control.selectors.pipelines import get_captured_table, get_pipeline_for_user
from pipelines.cdc.reconciling.api.serializers import (
    ComparisonScheduleSerializer,
    ComparisonSerializer,
    DifferingKeySerializer,
    TableRepairSerializer,
)
from pipelines.cdc.reconciling.selectors.comparisons import (
    HISTORY_ORDERS,
    KEY_ORDERS,
    LAST_ORDERS,
    ComparisonFilter,
    HistoryFilter,
    KeyFilter,
    differing_keys,
    history_of,
    last_comparisons,
)
from pipelines.cdc.reconciling.services.repairs import repair_request
from pipelines.cdc.reconciling.services.schedules import (
    comparison_request,
    schedule_of,
    schedule_set,
)
from pipelines.models import CapturedTable, Pipeline
from portal.access.actors import Actor
from portal.access.fresh import is_fresh
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer, RunSerializer


class Comparisons(KeysetList):
    """Last comparisons of a pipeline's tables."""

    operation_id = "comparisons_list"
    page_name = "LastComparison"
    serializer_class = ComparisonSerializer
    filterset_class = ComparisonFilter
    orders = LAST_ORDERS

    def get_queryset(self) -> Rows:
        """List the last comparison of each table of a pipeline."""
        return last_comparisons(get_pipeline_for_user(self.kwargs["name"], user=self.user))


class TableComparisons(KeysetList):
    """Comparisons of a table."""

    operation_id = "comparisons_of_table"
    page_name = "Comparison"
    serializer_class = ComparisonSerializer
    filterset_class = HistoryFilter
    orders = HISTORY_ORDERS

    def get_queryset(self) -> Rows:
        """List the comparisons of a table, the last first."""
        return history_of(_table(self, self.kwargs["name"], self.kwargs["pk"]))


class ComparisonKeys(KeysetList):
    """Keys of rows that differ."""

    operation_id = "comparison_keys"
    page_name = "DifferingKey"
    serializer_class = DifferingKeySerializer
    filterset_class = KeyFilter
    orders = KEY_ORDERS

    def get_queryset(self) -> Rows:
        """List the keys of rows that differ, ten thousand at most (admins)."""
        table = _table(self, self.kwargs["name"], self.kwargs["pk"])
        return differing_keys(table, self.kwargs["comparison_id"], user=self.user)


class Compare(ApiView):
    """Comparing a pipeline's tables."""

    @operation("comparisons_start", answer=RunSerializer, status=202)
    def post(self, name: str) -> object:
        """Compare every table of a pipeline with its source now."""
        found = get_pipeline_for_user(name, user=self.user)
        return comparison_request(found, None, by=_actor(self, found), now=timezone.now())


class TableCompare(ApiView):
    """Comparing a table."""

    @operation("comparisons_start_table", answer=RunSerializer, status=202)
    def post(self, name: str, pk: int) -> object:
        """Compare one table with its source now."""
        table = _table(self, name, pk)
        return comparison_request(
            table.pipeline, table, by=_actor(self, table.pipeline), now=timezone.now()
        )


class Schedule(ApiView):
    """When a pipeline's tables are compared."""

    @operation("comparisons_schedule", answer=ComparisonScheduleSerializer)
    def get(self, name: str) -> object:
        """Return when tables are compared, and how fast the source is read for it."""
        return schedule_of(get_pipeline_for_user(name, user=self.user))

    @operation(
        "comparisons_schedule_set",
        body=ComparisonScheduleSerializer,
        answer=ComparisonScheduleSerializer,
    )
    def post(self, name: str) -> object:
        """Set it."""
        found, said = get_pipeline_for_user(name, user=self.user), self.data
        return schedule_set(
            found,
            hour=said["hour"],
            rows_per_second=said["rows_per_second"],
            by=_actor(self, found),
            now=timezone.now(),
        )


class ComparisonRepair(ApiView):
    """Repairing rows that differ."""

    @operation("comparison_repair", body=ReasonSerializer, answer=TableRepairSerializer, status=202)
    def post(self, name: str, pk: int, comparison_id: int) -> object:
        """Have the rows that a comparison found written again, by the capture and the apply."""
        table, reason = _table(self, name, pk), self.data["reason"]
        by, now = _actor(self, table.pipeline), timezone.now()
        return repair_request(table, comparison_id, reason=reason, by=by, now=now)


def _table(view: ApiView, name: str, pk: int) -> CapturedTable:
    return get_captured_table(get_pipeline_for_user(name, user=view.user), pk)


def _actor(view: ApiView, pipeline: Pipeline) -> Actor:
    is_proven = is_fresh(view.request._request, timezone.now())
    return Actor.of(view.user, lake=pipeline.lake, is_fresh=is_proven)
