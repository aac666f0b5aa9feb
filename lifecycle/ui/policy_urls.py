"""Which address of policies, requests, enrolments and the shadow record shows what?"""

from django.urls import URLPattern, path

from lifecycle import converters  # noqa: F401 - registers the converter `name`
from lifecycle.ui import (
    database_days,
    enrolments,
    policy,
    policy_requests,
    shadow,
    still_read,
    waivers,
    why,
)

policy_urlpatterns: list[URLPattern] = [
    path("tables/<name:db>/<name:table>/why/", why.why, name="why"),
    path("tables/<name:db>/<name:table>/why/look/", why.why_look, name="why-look"),
    path("tables/<name:db>/<name:table>/policy/", policy.policy, name="policy"),
    path("databases/<name:db>/policy/", policy.database_policy_page, name="database-policy"),
    path(
        "databases/<name:db>/policy/look/",
        policy.database_policy_look,
        name="database-policy-look",
    ),
    path("databases/<name:db>/days/", database_days.database_days, name="database-days"),
    path("databases/<name:db>/shadow/", shadow.shadow, name="shadow"),
    path("policy-requests/", policy_requests.policy_requests, name="policy-requests"),
    path("policy-requests/new/", policy_requests.policy_request_new, name="policy-request-new"),
    path(
        "policy-requests/<uuid:request_id>/",
        policy_requests.policy_request,
        name="policy-request",
    ),
    path(
        "policy-requests/<uuid:request_id>/decide/",
        policy_requests.policy_request_decide_view,
        name="policy-request-decide",
    ),
    path(
        "policy-requests/<uuid:request_id>/withdraw/",
        policy_requests.policy_request_withdraw_view,
        name="policy-request-withdraw",
    ),
    path("still-read/", still_read.still_read, name="still-read"),
    path("still-read/new/", still_read.still_read_new, name="still-read-new"),
    path("still-read/<uuid:yes_id>/end/", still_read.still_read_end, name="still-read-end"),
    path("waivers/", waivers.waivers, name="waivers"),
    path("waivers/<uuid:waiver_id>/end/", waivers.waiver_end_view, name="waiver-end"),
    path("enrolments/", enrolments.enrolments, name="enrolments"),
    path("enrolments/new/", enrolments.enrolment_new, name="enrolment-new"),
    path("enrolments/<uuid:enrolment_id>/", enrolments.enrolment, name="enrolment"),
    path(
        "enrolments/<uuid:enrolment_id>/decide/",
        enrolments.enrolment_decide_view,
        name="enrolment-decide",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/withdraw/",
        enrolments.enrolment_withdraw_view,
        name="enrolment-withdraw",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/undo/",
        enrolments.enrolment_undo_view,
        name="enrolment-undo",
    ),
]
