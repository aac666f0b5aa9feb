"""Addresses of `lifecycle.enrollment`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.enrollment import api
from lifecycle.enrollment.ui import pages

ui_urlpatterns: list[URLPattern] = [
    path("enrolments/", pages.enrollments, name="enrolments"),
    path("enrolments/new/", pages.enrollment_new, name="enrolment-new"),
    path("enrolments/<uuid:enrolment_id>/", pages.enrollment, name="enrolment"),
    path(
        "enrolments/<uuid:enrolment_id>/decide/",
        pages.enrollment_decide_view,
        name="enrolment-decide",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/withdraw/",
        pages.enrollment_withdraw_view,
        name="enrolment-withdraw",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/undo/",
        pages.enrollment_undo_view,
        name="enrolment-undo",
    ),
]

api_urlpatterns: list[URLPattern] = [
    path("enrolments/", api.EnrollmentList.as_view(), name="enrolments"),
    path("enrolments/preview/", api.EnrollmentPreview.as_view(), name="enrolment-preview"),
    path("enrolments/<uuid:enrolment_id>/", api.EnrollmentDetail.as_view(), name="enrolment"),
    path(
        "enrolments/<uuid:enrolment_id>/items/",
        api.EnrollmentItems.as_view(),
        name="enrolment-items",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/decide/",
        api.EnrollmentDecide.as_view(),
        name="enrolment-decide",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/withdraw/",
        api.EnrollmentWithdraw.as_view(),
        name="enrolment-withdraw",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/undo/",
        api.EnrollmentUndo.as_view(),
        name="enrolment-undo",
    ),
]
