"""Addresses of `optimizer.iceberg.tables`: pages and API."""

from django.urls import URLPattern, path

from optimizer.iceberg.tables.api import policy as api_policy
from optimizer.iceberg.tables.api import scans as api_scans
from optimizer.iceberg.tables.api import tables as api_tables
from optimizer.iceberg.tables.ui import tables
from optimizer.iceberg.tables.ui.table_tab import FILES_TAB

ui_urlpatterns: list[URLPattern] = [
    path("tables/", tables.tables, name="tables"),
    path("tables/<int:table_id>/", FILES_TAB.moved_part(""), name="table"),
    path("tables/<int:table_id>/files/", FILES_TAB.moved_part("files"), name="table-files"),
    path("tables/<int:table_id>/layout/", FILES_TAB.moved_part("layout"), name="table-layout"),
    path("tables/<int:table_id>/commits/", FILES_TAB.moved_part("commits"), name="table-commits"),
    path("tables/<int:table_id>/tasks/", FILES_TAB.moved_part("tasks"), name="table-tasks"),
    path("tables/<int:table_id>/policy/", FILES_TAB.moved_part("policy"), name="table-policy"),
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
    path("tables/<int:table_id>/scans/", api_scans.TableScans.as_view(), name="table-scans"),
    path("tables/<int:table_id>/policy/", api_policy.TablePolicy.as_view(), name="table-policy"),
]
