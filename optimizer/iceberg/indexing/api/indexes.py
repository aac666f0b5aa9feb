"""API reads of a table's file indexes."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers

from optimizer.iceberg.indexing.selectors import (
    COVERAGE_ORDERS,
    columns_covered,
    coverage_rows,
    policy_of,
    uses_lately,
    wanted_of,
)
from optimizer.iceberg.indexing.services.estimates import (
    QUERIES_A_DAY,
    estimate_request,
    get_estimate,
)
from optimizer.iceberg.tables.selectors.tables import get_table_for_user
from optimizer.models import IndexCoverage
from portal.runs.models import Run
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows


class IndexedColumnSerializer(serializers.Serializer[Any]):
    """One index that is asked for or there, over all partitions."""

    column = serializers.CharField(read_only=True)
    wanted = serializers.CharField(read_only=True, help_text="the kind that is asked for, or auto")
    kinds = serializers.CharField(read_only=True, help_text="the kinds that are there")
    n_files = serializers.IntegerField(read_only=True)
    n_covered = serializers.IntegerField(read_only=True, help_text="files that have the index")
    n_refused = serializers.IntegerField(
        read_only=True, help_text="files in which it is not worth its bytes"
    )
    n_bytes = serializers.IntegerField(read_only=True, help_text="bytes of the indexes")
    bits_a_row = serializers.FloatField(read_only=True, allow_null=True)
    false_positives = serializers.FloatField(
        read_only=True,
        allow_null=True,
        help_text="the share of absent keys that pass, measured when the indexes were built",
    )
    refused = serializers.CharField(read_only=True, help_text="why it is not worth its bytes")
    at = serializers.DateTimeField(
        read_only=True, allow_null=True, help_text="null: no job has come to it yet"
    )


class IndexUseSerializer(serializers.Serializer[Any]):
    """What one index saved in the last seven days, as readers reported it."""

    column = serializers.CharField(read_only=True)
    kind = serializers.CharField(read_only=True)
    n_plans = serializers.IntegerField(read_only=True, help_text="plans of which it dropped files")
    n_files = serializers.IntegerField(read_only=True, help_text="data files dropped")
    n_bytes = serializers.IntegerField(read_only=True, help_text="bytes not read")
    last_used_at = serializers.DateTimeField(read_only=True)


class TableIndexesSerializer(serializers.Serializer[Any]):
    """The file indexes of a table."""

    wanted = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text="as the policy has them"
    )
    wanted_by = serializers.CharField(read_only=True, help_text="the scope that says so")
    columns = IndexedColumnSerializer(many=True, read_only=True)
    uses = IndexUseSerializer(many=True, read_only=True)


class IndexCoverageSerializer(serializers.ModelSerializer[IndexCoverage]):
    """One wanted index in one partition."""

    class Meta:
        model = IndexCoverage
        fields = (
            *("column", "wanted", "kinds", "partition", "n_files", "n_covered", "n_refused"),
            *("n_bytes", "false_positives", "refused", "at"),
        )
        read_only_fields = fields


class TableIndexes(ApiView):
    """Indexes of a table."""

    @operation("optimizer_tables_indexes", answer=TableIndexesSerializer)
    def get(self, table_id: int) -> object:
        """Return each index that is asked for or there, and of how many files."""
        row = get_table_for_user(table_id, self.user)
        found = policy_of(row)
        wanted = found.policy.index_columns
        return {
            "wanted": list(map(str, wanted)),
            "wanted_by": found.sources["index_columns"],
            "columns": columns_covered(row, wanted_of(row, found.policy)),
            "uses": uses_lately(row, now=timezone.now()),
        }


class IndexCoverageList(KeysetList):
    """Indexes of a table's partitions."""

    operation_id = "optimizer_tables_index_coverage"
    serializer_class = IndexCoverageSerializer
    orders = COVERAGE_ORDERS

    def get_queryset(self) -> Rows:
        """List each index in each partition, the newest partitions first."""
        return coverage_rows(get_table_for_user(self.kwargs["table_id"], self.user))


class EstimateRequestSerializer(serializers.Serializer[Any]):
    """Which columns to sample."""

    columns = serializers.ListField(child=serializers.CharField(max_length=767))
    queries_a_day = serializers.IntegerField(
        default=QUERIES_A_DAY, help_text="which ask for one of them; builds are weighed by it"
    )


class EstimateSerializer(serializers.ModelSerializer[Run]):
    """What indexes would cost and save, once the run is done."""

    estimate = serializers.JSONField(
        source="result",
        read_only=True,
        help_text="per column the kind that fits with its reason, and the figures of every kind: "
        "files with and without, bytes, milliseconds at planning and saved, seconds to build",
    )

    class Meta:
        model = Run
        fields = ("id", "state", "params", "estimate", "error")
        read_only_fields = fields


class EstimateList(ApiView):
    """Asking what an index would do."""

    @operation(
        "optimizer_tables_index_estimate",
        body=EstimateRequestSerializer,
        answer=EstimateSerializer,
        status=202,
    )
    def post(self, table_id: int) -> object:
        """Have columns sampled by a short run; nothing is built."""
        table = get_table_for_user(table_id, self.user)
        said = self.data
        return estimate_request(
            table,
            said["columns"],
            queries_a_day=said["queries_a_day"],
            user=self.user,
            now=timezone.now(),
        )


class EstimateDetail(ApiView):
    """One estimate."""

    @operation("optimizer_tables_index_estimate_get", answer=EstimateSerializer)
    def get(self, table_id: int, run_id: UUID) -> object:
        """Return what the run found; `estimate` is null while it is under way."""
        return get_estimate(get_table_for_user(table_id, self.user), run_id)
