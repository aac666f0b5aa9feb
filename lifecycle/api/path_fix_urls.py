"""Which address of the API of fix plans gives what?"""

from django.urls import URLPattern, path

from lifecycle.api import path_fixes

path_fix_urlpatterns: list[URLPattern] = [
    path("path-fixes/", path_fixes.PathFixList.as_view(), name="path-fixes"),
    path(
        "path-fixes/candidates/",
        path_fixes.PathFixCandidates.as_view(),
        name="path-fix-candidates",
    ),
    path("path-fixes/<uuid:fix_id>/", path_fixes.PathFixDetail.as_view(), name="path-fix"),
    path(
        "path-fixes/<uuid:fix_id>/items/",
        path_fixes.PathFixItems.as_view(),
        name="path-fix-items",
    ),
    path(
        "path-fixes/<uuid:fix_id>/decide/",
        path_fixes.PathFixDecide.as_view(),
        name="path-fix-decide",
    ),
    path(
        "path-fixes/<uuid:fix_id>/withdraw/",
        path_fixes.PathFixWithdraw.as_view(),
        name="path-fix-withdraw",
    ),
    path("path-fixes/<uuid:fix_id>/undo/", path_fixes.PathFixUndo.as_view(), name="path-fix-undo"),
]
