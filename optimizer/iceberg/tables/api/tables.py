"""API reads of Iceberg tables."""

from typing import Any

from optimizer.core.api import OptimizeTaskSerializer
from optimizer.core.selectors.tasks import TASK_ORDERS, open_tasks_of, tasks_of
from optimizer.iceberg.tables.api.serializers import (
    HealthPointSerializer,
    IcebergCommitSerializer,
    IcebergPartitionSerializer,
    IcebergTableDetailSerializer,
    IcebergTableListSerializer,
)
from optimizer.iceberg.tables.selectors.commits import COMMIT_ORDERS, CommitFilter, commits_of
from optimizer.iceberg.tables.selectors.partitions import (
    HEALTH_ORDERS,
    LAYOUT_ORDERS,
    PartitionFilter,
    coverage_of,
    partitions_of,
)
from optimizer.iceberg.tables.selectors.tables import (
    TABLE_ORDERS,
    TREND_ORDERS,
    IcebergTaskFilter,
    TableFilter,
    get_table_for_user,
    tables_visible,
    trend_of,
)
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows


class TableList(KeysetList):
    """Iceberg tables."""

    operation_id = "optimizer_tables_list"
    page_name = "IcebergTable"
    serializer_class = IcebergTableListSerializer
    filterset_class = TableFilter
    orders = TABLE_ORDERS

    def get_queryset(self) -> Rows:
        """List the tables that you may see, the worst first."""
        return tables_visible(self.lake, self.user)


class TableDetail(ApiView):
    """One Iceberg table."""

    @operation("optimizer_tables_get", answer=IcebergTableDetailSerializer)
    def get(self, table_id: int) -> object:
        """Return a table with the reasons of its score and what is under way."""
        table: Any = get_table_for_user(table_id, self.user)
        table.coverage = coverage_of(table)
        table.open_tasks = open_tasks_of(table)
        return table


class PartitionList(KeysetList):
    """Partitions of a table."""

    operation_id = "optimizer_tables_partitions"
    serializer_class = IcebergPartitionSerializer
    filterset_class = PartitionFilter
    orders = {**HEALTH_ORDERS, **LAYOUT_ORDERS}

    def get_queryset(self) -> Rows:
        """List the partitions of the table's last inspection, the worst first."""
        return partitions_of(get_table_for_user(self.kwargs["table_id"], self.user))


class TrendList(KeysetList):
    """Looks at a table."""

    operation_id = "optimizer_tables_trend"
    serializer_class = HealthPointSerializer
    orders = TREND_ORDERS

    def get_queryset(self) -> Rows:
        """List how the table stood at each look, newest first."""
        return trend_of(get_table_for_user(self.kwargs["table_id"], self.user))


class CommitList(KeysetList):
    """Commits to a table."""

    operation_id = "optimizer_tables_commits"
    serializer_class = IcebergCommitSerializer
    filterset_class = CommitFilter
    orders = COMMIT_ORDERS

    def get_queryset(self) -> Rows:
        """List the commits to the table, newest first."""
        return commits_of(get_table_for_user(self.kwargs["table_id"], self.user))


class TaskList(KeysetList):
    """Work on a table."""

    operation_id = "optimizer_tables_tasks"
    serializer_class = OptimizeTaskSerializer
    filterset_class = IcebergTaskFilter
    orders = TASK_ORDERS

    def get_queryset(self) -> Rows:
        """List what was done to the table and what is to be done, newest first."""
        rows = tasks_of(get_table_for_user(self.kwargs["table_id"], self.user))
        return rows.select_related("table")
