"""Addresses of `refresh.freshness`: pages and API."""

from django.urls import URLPattern, path

from refresh.freshness.api import tables as api_tables
from refresh.freshness.api import wait
from refresh.freshness.ui import actions, tables

hook_urlpatterns: list[URLPattern] = [path("wait", wait.Wait.as_view(), name="wait")]

ui_urlpatterns: list[URLPattern] = [
    path("tables/", tables.tables, name="tables"),
    path("tables/<int:target_id>/", tables.table, name="table"),
    path("tables/<int:target_id>/ask/", actions.ask, name="table-ask"),
    path("tables/<int:target_id>/repair/", actions.repair, name="table-repair"),
    path("tables/<int:target_id>/opt-out/", actions.opt_out, name="table-opt-out"),
    path("tables/<int:target_id>/opt-in/", actions.opt_in, name="table-opt-in"),
]

api_urlpatterns: list[URLPattern] = [
    path("tables/", api_tables.TableList.as_view(), name="tables"),
    path("tables/<int:target_id>/", api_tables.TableDetail.as_view(), name="table"),
    path("tables/<int:target_id>/changes/", api_tables.ChangeList.as_view(), name="table-changes"),
    path("tables/<int:target_id>/ask/", api_tables.TableAsk.as_view(), name="table-ask"),
    path("tables/<int:target_id>/repair/", api_tables.TableRepair.as_view(), name="table-repair"),
    path("tables/<int:target_id>/opt-out/", api_tables.TableOptOut.as_view(), name="table-opt-out"),
    path("tables/<int:target_id>/opt-in/", api_tables.TableOptIn.as_view(), name="table-opt-in"),
]
