"""Which address of the API of policies, requests, enrolments and the shadow record gives what?"""

from django.urls import URLPattern, path

from lifecycle import converters  # noqa: F401 - registers the converter `name`
from lifecycle.api import (
    database_days,
    enrolments,
    policy,
    policy_requests,
    still_read,
    waivers,
)

policy_urlpatterns: list[URLPattern] = [
    path("tables/<name:db>/<name:table>/policy/", policy.TablePolicy.as_view(), name="policy"),
    path("tables/<name:db>/<name:table>/why/look/", policy.WhyLook.as_view(), name="why-look"),
    path("databases/<name:db>/policy/", policy.DatabasePolicy.as_view(), name="database-policy"),
    path(
        "databases/<name:db>/policy/look/",
        policy.DatabasePolicyLook.as_view(),
        name="database-policy-look",
    ),
    path("databases/<name:db>/days/", database_days.DatabaseDays.as_view(), name="database-days"),
    path(
        "databases/<name:db>/shadow/summary/",
        policy.ShadowSummary.as_view(),
        name="shadow-summary",
    ),
    path("policy-requests/", policy_requests.PolicyRequestList.as_view(), name="policy-requests"),
    path(
        "policy-requests/<uuid:request_id>/",
        policy_requests.PolicyRequestDetail.as_view(),
        name="policy-request",
    ),
    path(
        "policy-requests/<uuid:request_id>/decide/",
        policy_requests.PolicyRequestDecide.as_view(),
        name="policy-request-decide",
    ),
    path(
        "policy-requests/<uuid:request_id>/withdraw/",
        policy_requests.PolicyRequestWithdraw.as_view(),
        name="policy-request-withdraw",
    ),
    path("still-read/", still_read.YesList.as_view(), name="still-read"),
    path("still-read/<uuid:yes_id>/end/", still_read.YesEnd.as_view(), name="still-read-end"),
    path("waivers/", waivers.WaiverList.as_view(), name="waivers"),
    path("waivers/<uuid:waiver_id>/end/", waivers.WaiverEnd.as_view(), name="waiver-end"),
    path("enrolments/", enrolments.EnrolmentList.as_view(), name="enrolments"),
    path("enrolments/preview/", enrolments.EnrolmentPreview.as_view(), name="enrolment-preview"),
    path("enrolments/<uuid:enrolment_id>/", enrolments.EnrolmentDetail.as_view(), name="enrolment"),
    path(
        "enrolments/<uuid:enrolment_id>/items/",
        enrolments.EnrolmentItems.as_view(),
        name="enrolment-items",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/decide/",
        enrolments.EnrolmentDecide.as_view(),
        name="enrolment-decide",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/withdraw/",
        enrolments.EnrolmentWithdraw.as_view(),
        name="enrolment-withdraw",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/undo/",
        enrolments.EnrolmentUndo.as_view(),
        name="enrolment-undo",
    ),
]
