"""Addresses of `lifecycle.relocation`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.relocation.api import plans as api_plans
from lifecycle.relocation.ui import pages

ui_urlpatterns: list[URLPattern] = [
    path("path-fixes/", pages.path_fixes, name="path-fixes"),
    path("path-fixes/new/", pages.path_fix_new, name="path-fix-new"),
    path("path-fixes/<uuid:fix_id>/", pages.path_fix, name="path-fix"),
    path(
        "path-fixes/<uuid:fix_id>/progress/",
        pages.path_fix_progress,
        name="path-fix-progress",
    ),
    path("path-fixes/<uuid:fix_id>/decide/", pages.path_fix_decide, name="path-fix-decide"),
    path(
        "path-fixes/<uuid:fix_id>/withdraw/",
        pages.path_fix_withdraw,
        name="path-fix-withdraw",
    ),
    path("path-fixes/<uuid:fix_id>/undo/", pages.path_fix_undo, name="path-fix-undo"),
]

api_urlpatterns: list[URLPattern] = [
    path("path-fixes/", api_plans.PathFixList.as_view(), name="path-fixes"),
    path(
        "path-fixes/candidates/",
        api_plans.PathFixCandidates.as_view(),
        name="path-fix-candidates",
    ),
    path("path-fixes/<uuid:fix_id>/", api_plans.PathFixDetail.as_view(), name="path-fix"),
    path(
        "path-fixes/<uuid:fix_id>/items/",
        api_plans.PathFixItems.as_view(),
        name="path-fix-items",
    ),
    path(
        "path-fixes/<uuid:fix_id>/decide/",
        api_plans.PathFixDecide.as_view(),
        name="path-fix-decide",
    ),
    path(
        "path-fixes/<uuid:fix_id>/withdraw/",
        api_plans.PathFixWithdraw.as_view(),
        name="path-fix-withdraw",
    ),
    path("path-fixes/<uuid:fix_id>/undo/", api_plans.PathFixUndo.as_view(), name="path-fix-undo"),
]
