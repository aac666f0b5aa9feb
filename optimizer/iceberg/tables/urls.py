"""Addresses of `optimizer.iceberg.tables`: pages and API."""

from django.urls import URLPattern, path

from optimizer.iceberg.tables.api import policy as api_policy
from optimizer.iceberg.tables.api import tables as api_tables
from optimizer.iceberg.tables.ui import policy, table, tables

ui_urlpatterns: list[URLPattern] = [
    path("tables/", tables.tables, name="tables"),
    path("tables/<int:table_id>/", table.health, name="table"),
    path("tables/<int:table_id>/files/", table.files, name="table-files"),
    path("tables/<int:table_id>/layout/", table.layout, name="table-layout"),
    path("tables/<int:table_id>/commits/", table.commits, name="table-commits"),
    path("tables/<int:table_id>/tasks/", table.tasks, name="table-tasks"),
    path("tables/<int:table_id>/policy/", policy.policy, name="table-policy"),
]

api_urlpatterns: list[URLPattern] = [
    path("tables/", api_tables.TableList.as_view(), name="tables"),
    path("tables/<int:table_id>/", api_tables.TableDetail.as_view(), name="table"),
    path(
        "tables/<int:table_id>/partitions/", api_tables.PartitionList.as_view(), name="partitions"
    ),
    path("tables/<int:table_id>/trend/", api_tables.TrendList.as_view(), name="trend"),
    path("tables/<int:table_id>/commits/", api_tables.CommitList.as_view(), name="commits"),
    path("tables/<int:table_id>/tasks/", api_tables.TaskList.as_view(), name="tasks"),
    path("tables/<int:table_id>/policy/", api_policy.TablePolicy.as_view(), name="table-policy"),
]
