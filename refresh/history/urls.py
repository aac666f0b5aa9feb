"""Addresses of `refresh.history`: pages and API."""

from django.urls import URLPattern, path

from refresh.history import ui
from refresh.history.api import statements as api_statements

ui_urlpatterns: list[URLPattern] = [
    path("history/", ui.history, name="history"),
    path("history/<uuid:public_id>/", ui.statement, name="statement"),
]

api_urlpatterns: list[URLPattern] = [
    path("history/", api_statements.StatementList.as_view(), name="history"),
    path("history/<uuid:public_id>/", api_statements.StatementDetail.as_view(), name="statement"),
]
