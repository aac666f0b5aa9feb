"""Addresses of `quality.freshness`: pages and API."""

from django.urls import URLPattern, path

from quality.freshness.api import rules as api_rules
from quality.freshness.ui import expected, rules

ui_urlpatterns: list[URLPattern] = [
    path("", expected.expected, name="awaited"),
    path("rules/", rules.rules, name="rules"),
    path("rules/new/", rules.rule_new, name="rule-new"),
    path("rules/<int:rule_id>/", rules.rule, name="rule"),
    path("rules/<int:rule_id>/end/", rules.rule_end_view, name="rule-end"),
]

api_urlpatterns: list[URLPattern] = [
    path("awaited/", api_rules.ExpectedList.as_view(), name="awaited"),
    path("rules/", api_rules.RuleList.as_view(), name="rules"),
    path("rules/<int:rule_id>/", api_rules.RuleDetail.as_view(), name="rule"),
    path("rules/<int:rule_id>/end/", api_rules.RuleEnd.as_view(), name="rule-end"),
]
