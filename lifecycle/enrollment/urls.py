"""Addresses of `lifecycle.enrollment`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.enrollment import api
from lifecycle.enrollment.ui import pages

ui_urlpatterns: list[URLPattern] = [
    path("enrolments/", pages.enrolments, name="enrolments"),
    path("enrolments/new/", pages.enrolment_new, name="enrolment-new"),
    path("enrolments/<uuid:enrolment_id>/", pages.enrolment, name="enrolment"),
    path(
        "enrolments/<uuid:enrolment_id>/decide/",
        pages.enrolment_decide_view,
        name="enrolment-decide",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/withdraw/",
        pages.enrolment_withdraw_view,
        name="enrolment-withdraw",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/undo/",
        pages.enrolment_undo_view,
        name="enrolment-undo",
    ),
]

api_urlpatterns: list[URLPattern] = [
    path("enrolments/", api.EnrolmentList.as_view(), name="enrolments"),
    path("enrolments/preview/", api.EnrolmentPreview.as_view(), name="enrolment-preview"),
    path("enrolments/<uuid:enrolment_id>/", api.EnrolmentDetail.as_view(), name="enrolment"),
    path(
        "enrolments/<uuid:enrolment_id>/items/",
        api.EnrolmentItems.as_view(),
        name="enrolment-items",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/decide/",
        api.EnrolmentDecide.as_view(),
        name="enrolment-decide",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/withdraw/",
        api.EnrolmentWithdraw.as_view(),
        name="enrolment-withdraw",
    ),
    path(
        "enrolments/<uuid:enrolment_id>/undo/",
        api.EnrolmentUndo.as_view(),
        name="enrolment-undo",
    ),
]
