"""Addresses of `optimizer.policies`: pages and API."""

from django.urls import URLPattern, path

from optimizer.policies.api import policies as api_policies
from optimizer.policies.domain.formats import TableFormat
from optimizer.policies.ui import policies

OF_HUDI = {"table_format": TableFormat.HUDI}

ui_urlpatterns: list[URLPattern] = [
    path("policies/", policies.policies, name="policies"),
    path("policies/new/", policies.policy_new, name="policy-new"),
    path("policies/of/<str:scope>/", policies.policy_scope, name="policy-scope"),
    path("hudi/policies/", policies.policies, OF_HUDI, name="hudi-policies"),
    path("hudi/policies/new/", policies.policy_new, OF_HUDI, name="hudi-policy-new"),
    path(
        "hudi/policies/of/<str:scope>/",
        policies.policy_scope,
        OF_HUDI,
        name="hudi-policy-scope",
    ),
]

api_urlpatterns: list[URLPattern] = [
    path("policies/", api_policies.PolicyList.as_view(), name="policies"),
    path("policies/preview/", api_policies.PolicyPreview.as_view(), name="policy-preview"),
    path("policies/of/<str:scope>/", api_policies.PolicyHistory.as_view(), name="policy-history"),
]
