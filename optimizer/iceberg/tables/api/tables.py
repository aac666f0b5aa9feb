"""API reads of Iceberg tables."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

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
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import page_of
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.filters import ListFilter


class TableList(APIView):
    """Iceberg tables."""

    @extend_schema(
        operation_id="optimizer_tables_list",
        responses=page_of("IcebergTable", IcebergTableListSerializer),
        parameters=list_parameters("band", "show", "db", "table", "owner"),
    )
    def get(self, request: Request) -> Response:
        """List the tables that you may see, the worst first."""
        return keyset_response(
            request,
            tables_visible(current_lake(request), person(request)),
            filter_class=TableFilter,
            orders=TABLE_ORDERS,
            show=lambda row: dict(IcebergTableListSerializer(row).data),
        )


class TableDetail(APIView):
    """One Iceberg table."""

    @extend_schema(operation_id="optimizer_tables_get", responses=IcebergTableDetailSerializer)
    def get(self, request: Request, table_id: int) -> Response:
        """Return a table with the reasons of its score and what is under way."""
        table: Any = get_table_for_user(table_id, person(request))
        table.coverage = coverage_of(table)
        table.open_tasks = open_tasks_of(table)
        return Response(IcebergTableDetailSerializer(table).data)


class PartitionList(APIView):
    """Partitions of a table."""

    @extend_schema(
        operation_id="optimizer_tables_partitions",
        responses=page_of("IcebergPartition", IcebergPartitionSerializer),
        parameters=list_parameters("partition", "band"),
    )
    def get(self, request: Request, table_id: int) -> Response:
        """List the partitions of the table's last look, the worst first."""
        return keyset_response(
            request,
            partitions_of(get_table_for_user(table_id, person(request))),
            filter_class=PartitionFilter,
            orders={**HEALTH_ORDERS, **LAYOUT_ORDERS},
            show=lambda row: dict(IcebergPartitionSerializer(row).data),
        )


class TrendList(APIView):
    """Looks at a table."""

    @extend_schema(
        operation_id="optimizer_tables_trend",
        responses=page_of("HealthPoint", HealthPointSerializer),
        parameters=list_parameters(),
    )
    def get(self, request: Request, table_id: int) -> Response:
        """List how the table stood at each look, newest first."""
        return keyset_response(
            request,
            trend_of(get_table_for_user(table_id, person(request))),
            filter_class=ListFilter,
            orders=TREND_ORDERS,
            show=lambda row: dict(HealthPointSerializer(row).data),
        )


class CommitList(APIView):
    """Commits to a table."""

    @extend_schema(
        operation_id="optimizer_tables_commits",
        responses=page_of("IcebergCommit", IcebergCommitSerializer),
        parameters=list_parameters("who", "operation", "since", "until"),
    )
    def get(self, request: Request, table_id: int) -> Response:
        """List the commits to the table, newest first."""
        return keyset_response(
            request,
            commits_of(get_table_for_user(table_id, person(request))),
            filter_class=CommitFilter,
            orders=COMMIT_ORDERS,
            show=lambda row: dict(IcebergCommitSerializer(row).data),
        )


class TaskList(APIView):
    """Work on a table."""

    @extend_schema(
        operation_id="optimizer_tables_tasks",
        responses=page_of("OptimizeTask", OptimizeTaskSerializer),
        parameters=list_parameters("state", "kind"),
    )
    def get(self, request: Request, table_id: int) -> Response:
        """List what was done to the table and what is to be done, newest first."""
        rows = tasks_of(get_table_for_user(table_id, person(request)))
        return keyset_response(
            request,
            rows.select_related("table"),
            filter_class=IcebergTaskFilter,
            orders=TASK_ORDERS,
            show=lambda row: dict(OptimizeTaskSerializer(row).data),
        )
