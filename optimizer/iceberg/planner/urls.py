"""Addresses of `optimizer.iceberg.planner`: pages and API."""

from django.urls import URLPattern, path

from optimizer.iceberg.planner import api, ui

ui_urlpatterns: list[URLPattern] = [
    path("tables/<int:table_id>/plan/", ui.plan, name="table-plan"),
    path("tables/<int:table_id>/run/", ui.run_now, name="table-run"),
    path("tables/<int:table_id>/pause/", ui.pause, name="table-pause"),
    path("tables/<int:table_id>/resume/", ui.resume, name="table-resume"),
    path("tables/<int:table_id>/index/", ui.index_now, name="table-index"),
    path("tables/<int:table_id>/removal/", ui.ask, name="table-removal"),
]

api_urlpatterns: list[URLPattern] = [
    path("tables/<int:table_id>/plan/", api.TablePlan.as_view(), name="plan"),
    path("tables/<int:table_id>/run/", api.TableRun.as_view(), name="run"),
    path("tables/<int:table_id>/pause/", api.TablePause.as_view(), name="pause"),
    path("tables/<int:table_id>/resume/", api.TableResume.as_view(), name="resume"),
    path("tables/<int:table_id>/index/", api.TableIndex.as_view(), name="index"),
    path("tables/<int:table_id>/removal/", api.RemovalAsk.as_view(), name="table-removal"),
]
