"""Addresses of `lifecycle.relocation`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.relocation.api import plans as api_plans
from lifecycle.relocation.ui import pages

ui_urlpatterns: list[URLPattern] = [
    path("path-fixes/", pages.path_fixes, name="path-fixes"),
    path("path-fixes/new/", pages.relocation_new, name="path-fix-new"),
    path("path-fixes/<uuid:fix_id>/", pages.path_fix, name="path-fix"),
    path(
        "path-fixes/<uuid:fix_id>/progress/",
        pages.relocation_progress,
        name="path-fix-progress",
    ),
    path("path-fixes/<uuid:fix_id>/decide/", pages.relocation_decide, name="path-fix-decide"),
    path(
        "path-fixes/<uuid:fix_id>/withdraw/",
        pages.relocation_withdraw,
        name="path-fix-withdraw",
    ),
    path("path-fixes/<uuid:fix_id>/undo/", pages.relocation_undo, name="path-fix-undo"),
]

api_urlpatterns: list[URLPattern] = [
    path("path-fixes/", api_plans.RelocationList.as_view(), name="path-fixes"),
    path(
        "path-fixes/candidates/",
        api_plans.RelocationCandidates.as_view(),
        name="path-fix-candidates",
    ),
    path("path-fixes/<uuid:fix_id>/", api_plans.RelocationDetail.as_view(), name="path-fix"),
    path(
        "path-fixes/<uuid:fix_id>/items/",
        api_plans.RelocationMoves.as_view(),
        name="path-fix-items",
    ),
    path(
        "path-fixes/<uuid:fix_id>/decide/",
        api_plans.RelocationDecide.as_view(),
        name="path-fix-decide",
    ),
    path(
        "path-fixes/<uuid:fix_id>/withdraw/",
        api_plans.RelocationWithdraw.as_view(),
        name="path-fix-withdraw",
    ),
    path(
        "path-fixes/<uuid:fix_id>/undo/", api_plans.RelocationUndo.as_view(), name="path-fix-undo"
    ),
]
