"""Addresses of `optimizer.hudi.pages`: pages and API."""

from django.urls import URLPattern, path

from optimizer.hudi.pages import api
from optimizer.hudi.pages.ui import actions, policy, tables, tasks
from optimizer.hudi.pages.ui.table_tab import FILES_TAB

ui_urlpatterns: list[URLPattern] = [
    path("hudi/", tables.hudi_tables, name="hudi-tables"),
    path("hudi/<int:table_id>/", FILES_TAB.moved_part(""), name="hudi-table"),
    path("hudi/<int:table_id>/timeline/", FILES_TAB.moved_part("timeline"), name="hudi-timeline"),
    path("hudi/<int:table_id>/files/", FILES_TAB.moved_part("groups"), name="hudi-files"),
    path("hudi/<int:table_id>/services/", FILES_TAB.moved_part("services"), name="hudi-services"),
    path("hudi/<int:table_id>/tasks/", FILES_TAB.moved_part("tasks"), name="hudi-tasks"),
    path("hudi/<int:table_id>/now/", tasks.tasks_now, name="hudi-now"),
    path("hudi/<int:table_id>/settings/", FILES_TAB.moved_part("settings"), name="hudi-settings"),
    path("hudi/<int:table_id>/plan/", actions.plan, name="hudi-plan"),
    path("hudi/<int:table_id>/look/", actions.look, name="hudi-look"),
    path("hudi/<int:table_id>/service/", actions.service, name="hudi-service"),
    path("hudi/<int:table_id>/pause/", actions.pause, name="hudi-pause"),
    path("hudi/<int:table_id>/resume/", actions.resume, name="hudi-resume"),
    path("hudi/<int:table_id>/policy/", policy.policy_form, name="optimizer-hudi-policy"),
]

api_urlpatterns: list[URLPattern] = [
    path("hudi/<int:table_id>/plan/", api.HudiPlan.as_view(), name="hudi-plan"),
    path("hudi/<int:table_id>/service/", api.HudiService.as_view(), name="hudi-service"),
    path("hudi/<int:table_id>/pause/", api.HudiPause.as_view(), name="hudi-pause"),
    path("hudi/<int:table_id>/resume/", api.HudiResume.as_view(), name="hudi-resume"),
    path("hudi/<int:table_id>/policy/", api.HudiTablePolicy.as_view(), name="hudi-policy"),
]
