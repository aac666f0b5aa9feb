"""Addresses of `pipelines.cdc.reconciling`: pages and API."""

from django.urls import URLPattern, path

from pipelines.cdc.reconciling.api import comparisons as api
from pipelines.cdc.reconciling.ui import actions, pages

_PIPELINE = "cdc/<slug:name>/comparisons/"
_TABLE = "cdc/<slug:name>/tables/<int:pk>/comparisons/"
_ONE = f"{_TABLE}<int:comparison_id>/"

ui_urlpatterns: list[URLPattern] = [
    path(_PIPELINE, pages.comparisons, name="comparisons"),
    path(f"{_PIPELINE}compare/", actions.compare_view, name="compare"),
    path(f"{_PIPELINE}schedule/", actions.schedule_view, name="comparison-schedule"),
    path(_TABLE, pages.table_comparisons, name="table-comparisons"),
    path(f"{_TABLE}compare/", actions.table_compare_view, name="table-compare"),
    path(f"{_ONE}keys/", pages.comparison_keys, name="comparison-keys"),
    path(f"{_ONE}repair/", actions.repair_view, name="comparison-repair"),
]

api_urlpatterns: list[URLPattern] = [
    path(_PIPELINE, api.Comparisons.as_view(), name="comparisons"),
    path(f"{_PIPELINE}compare/", api.Compare.as_view(), name="compare"),
    path(f"{_PIPELINE}schedule/", api.Schedule.as_view(), name="comparison-schedule"),
    path(_TABLE, api.TableComparisons.as_view(), name="table-comparisons"),
    path(f"{_TABLE}compare/", api.TableCompare.as_view(), name="table-compare"),
    path(f"{_ONE}keys/", api.ComparisonKeys.as_view(), name="comparison-keys"),
    path(f"{_ONE}repair/", api.ComparisonRepair.as_view(), name="comparison-repair"),
]
