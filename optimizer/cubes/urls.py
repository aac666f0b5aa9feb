"""Addresses of `optimizer.cubes`: pages and API."""

from django.urls import URLPattern, path

from optimizer.cubes import api
from optimizer.cubes.ui import cubes, define

ui_urlpatterns: list[URLPattern] = [
    path("cubes/", cubes.cubes, name="cubes"),
    path("cubes/<int:cube_id>/", cubes.cube, name="cube"),
    path("cubes/<int:cube_id>/change/", define.change, name="cube-change"),
    path("cubes/<int:cube_id>/rebuild/", cubes.rebuild, name="cube-rebuild"),
    path("cubes/<int:cube_id>/pause/", cubes.pause, name="cube-pause"),
    path("cubes/<int:cube_id>/resume/", cubes.resume, name="cube-resume"),
    path("cubes/<int:cube_id>/drop/", cubes.drop, name="cube-drop"),
    path("tables/<int:table_id>/cubes/new/", define.define, name="cube-define"),
    path("tables/<int:table_id>/cubes/check/", define.check, name="cube-check"),
    path(
        "tables/<int:table_id>/cubes/estimate/<uuid:run_id>/",
        define.estimate,
        name="cube-estimate",
    ),
    path(
        "tables/<int:table_id>/cubes/estimate/<uuid:run_id>/define/",
        define.accept,
        name="cube-accept",
    ),
]

api_urlpatterns: list[URLPattern] = [
    path("cubes/", api.CubeList.as_view(), name="cubes"),
    path("cubes/<int:cube_id>/", api.CubeDetail.as_view(), name="cube"),
    path("cubes/<int:cube_id>/partitions/", api.CubeCoverageList.as_view(), name="cube-coverage"),
    path("cubes/<int:cube_id>/versions/", api.CubeVersionList.as_view(), name="cube-versions"),
    path("cubes/<int:cube_id>/builds/", api.CubeBuildList.as_view(), name="cube-builds"),
    path("cubes/<int:cube_id>/uses/", api.CubeUseList.as_view(), name="cube-uses"),
    path("cubes/<int:cube_id>/change/", api.CubeChange.as_view(), name="cube-change"),
    path("cubes/<int:cube_id>/rebuild/", api.CubeRebuild.as_view(), name="cube-rebuild"),
    path("cubes/<int:cube_id>/pause/", api.CubePause.as_view(), name="cube-pause"),
    path("cubes/<int:cube_id>/resume/", api.CubeResume.as_view(), name="cube-resume"),
    path("cubes/<int:cube_id>/drop/", api.CubeDrop.as_view(), name="cube-drop"),
    path("tables/<int:table_id>/cubes/", api.TableCubes.as_view(), name="table-cubes"),
    path(
        "tables/<int:table_id>/cubes/estimate/",
        api.CubeEstimateList.as_view(),
        name="cube-estimates",
    ),
    path(
        "tables/<int:table_id>/cubes/estimate/<uuid:run_id>/",
        api.CubeEstimateDetail.as_view(),
        name="cube-estimate",
    ),
]
