"""Addresses of `lifecycle.policies`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.policies.api import deletion_consents as api_deletion_consents
from lifecycle.policies.api import exceptions as api_exceptions
from lifecycle.policies.api import holds as api_holds
from lifecycle.policies.api import policy as api_policy
from lifecycle.policies.api import requests as api_requests
from lifecycle.policies.ui import (
    deletion_consents,
    exception_ask,
    exceptions,
    holds,
    policy,
    requests,
)

ui_urlpatterns: list[URLPattern] = [
    path("holds/", holds.holds, name="holds"),
    path("holds/place/", holds.hold_place_view, name="hold-place"),
    path("holds/<uuid:hold>/release/", holds.hold_release_view, name="hold-release"),
    path("tables/<name:db>/<name:table>/policy/", policy.policy, name="policy"),
    path("databases/<name:db>/policy/", policy.database_policy_page, name="database-policy"),
    path(
        "databases/<name:db>/policy/look/",
        policy.database_policy_look,
        name="database-policy-look",
    ),
    path("policy-requests/", requests.policy_requests, name="policy-requests"),
    path("policy-requests/new/", requests.policy_request_new, name="policy-request-new"),
    path(
        "policy-requests/<uuid:request_id>/",
        requests.policy_request,
        name="policy-request",
    ),
    path(
        "policy-requests/<uuid:request_id>/decide/",
        requests.policy_request_decide_view,
        name="policy-request-decide",
    ),
    path(
        "policy-requests/<uuid:request_id>/withdraw/",
        requests.policy_request_withdraw_view,
        name="policy-request-withdraw",
    ),
    path("still-read/", deletion_consents.still_read, name="still-read"),
    path("still-read/new/", deletion_consents.deletion_consent_new, name="still-read-new"),
    path(
        "still-read/<uuid:yes_id>/end/",
        deletion_consents.deletion_consent_end,
        name="still-read-end",
    ),
    path("waivers/", exceptions.waivers, name="waivers"),
    path("waivers/ask/", exception_ask.exception_ask, name="exception-ask"),
    path("waivers/<uuid:waiver_id>/end/", exceptions.exception_end_view, name="waiver-end"),
]

api_urlpatterns: list[URLPattern] = [
    path("holds/", api_holds.HoldList.as_view(), name="holds"),
    path("holds/<uuid:hold>/release/", api_holds.HoldRelease.as_view(), name="hold-release"),
    path("tables/<name:db>/<name:table>/policy/", api_policy.TablePolicy.as_view(), name="policy"),
    path(
        "tables/<name:db>/<name:table>/why/look/", api_policy.ItemDetails.as_view(), name="why-look"
    ),
    path(
        "databases/<name:db>/policy/", api_policy.DatabasePolicy.as_view(), name="database-policy"
    ),
    path(
        "databases/<name:db>/policy/look/",
        api_policy.DatabasePolicyRead.as_view(),
        name="database-policy-look",
    ),
    path("policy-requests/", api_requests.PolicyRequestList.as_view(), name="policy-requests"),
    path(
        "policy-requests/<uuid:request_id>/",
        api_requests.PolicyRequestDetail.as_view(),
        name="policy-request",
    ),
    path(
        "policy-requests/<uuid:request_id>/decide/",
        api_requests.PolicyRequestDecide.as_view(),
        name="policy-request-decide",
    ),
    path(
        "policy-requests/<uuid:request_id>/withdraw/",
        api_requests.PolicyRequestWithdraw.as_view(),
        name="policy-request-withdraw",
    ),
    path("still-read/", api_deletion_consents.YesList.as_view(), name="still-read"),
    path(
        "still-read/<uuid:yes_id>/end/",
        api_deletion_consents.YesEnd.as_view(),
        name="still-read-end",
    ),
    path("waivers/", api_exceptions.ExceptionList.as_view(), name="waivers"),
    path("waivers/<uuid:waiver_id>/end/", api_exceptions.ExceptionEnd.as_view(), name="waiver-end"),
]
