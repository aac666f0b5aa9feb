"""Addresses of `pipelines.incremental`: pages and API."""

from django.urls import URLPattern, path

from pipelines.incremental.api import layers as api
from pipelines.incremental.ui import actions, pages, schema_requests

_LAYER = "layers/<int:layer_id>/"
_EDGE = f"{_LAYER}sources/<int:edge_id>/"

ui_urlpatterns: list[URLPattern] = [
    path("layers/", pages.layers, name="layers"),
    path("layers/new/", pages.layer_new, name="layer-new"),
    path("layers/lineage/", pages.layer_lineage, name="layer-lineage"),
    path(_LAYER, pages.layer, name="layer"),
    path(f"{_LAYER}edit/", pages.layer_edit_view, name="layer-edit"),
    path(f"{_LAYER}run/", actions.layer_run_view, name="layer-run"),
    path(f"{_LAYER}pause/", actions.layer_pause_view, name="layer-pause"),
    path(f"{_LAYER}resume/", actions.layer_resume_view, name="layer-resume"),
    path(f"{_LAYER}reread/", actions.layer_reread_view, name="layer-reread"),
    path(f"{_LAYER}backfill/", actions.layer_backfill_view, name="layer-backfill"),
    path(f"{_LAYER}delete/", actions.layer_delete_view, name="layer-delete"),
    path(f"{_EDGE}ask/", actions.schema_ask_view, name="layer-schema-ask"),
    path(
        "layer-schema-requests/<uuid:request_id>/",
        schema_requests.layer_schema_request,
        name="layer-schema-request",
    ),
    path(
        "layer-schema-requests/<uuid:request_id>/decide/",
        schema_requests.layer_schema_request_decide_view,
        name="layer-schema-request-decide",
    ),
]

api_urlpatterns: list[URLPattern] = [
    path("layers/", api.LayerList.as_view(), name="layers"),
    path("layers/edges/", api.LayerEdges.as_view(), name="layer-edges"),
    path(_LAYER, api.LayerDetail.as_view(), name="layer"),
    path(f"{_LAYER}edit/", api.LayerEdit.as_view(), name="layer-edit"),
    path(f"{_LAYER}run/", api.LayerRun.as_view(), name="layer-run"),
    path(f"{_LAYER}pause/", api.LayerPause.as_view(), name="layer-pause"),
    path(f"{_LAYER}resume/", api.LayerResume.as_view(), name="layer-resume"),
    path(f"{_LAYER}reread/", api.LayerReread.as_view(), name="layer-reread"),
    path(f"{_LAYER}backfill/", api.LayerBackfill.as_view(), name="layer-backfill"),
    path(f"{_LAYER}delete/", api.LayerDelete.as_view(), name="layer-delete"),
    path(f"{_LAYER}advances/", api.LayerAdvances.as_view(), name="layer-advances"),
    path(f"{_EDGE}ask/", api.LayerSchemaAsk.as_view(), name="layer-schema-ask"),
]
