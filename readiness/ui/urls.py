"""URLs of the optimizer's pages."""

from django.urls import URLPattern, URLResolver, path

from readiness.ui import awaited, rules

app_name = "readiness"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", awaited.awaited, name="awaited"),
    path("readers/", awaited.readers, name="readers"),
    path("rules/", rules.rules, name="rules"),
    path("rules/new/", rules.rule_new, name="rule-new"),
    path("rules/<int:rule_id>/", rules.rule, name="rule"),
    path("rules/<int:rule_id>/end/", rules.rule_end_view, name="rule-end"),
]
