"""URLs of the optimizer's API."""

from django.urls import URLPattern, URLResolver, path

from readiness.api import rules

app_name = "readiness-api"

urlpatterns: list[URLPattern | URLResolver] = [
    path("awaited/", rules.AwaitedList.as_view(), name="awaited"),
    path("rules/", rules.RuleList.as_view(), name="rules"),
    path("rules/<int:rule_id>/", rules.RuleDetail.as_view(), name="rule"),
    path("rules/<int:rule_id>/end/", rules.RuleEnd.as_view(), name="rule-end"),
]
