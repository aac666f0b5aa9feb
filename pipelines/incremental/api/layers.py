"""API of layers for admins and operators. It does all that the pages do."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from pipelines.incremental.api.serializers import (
    AskColumnsSerializer,
    BackfillSerializer,
    CreateLayerSerializer,
    EditLayerSerializer,
    LayerAdvanceSerializer,
    LayerDetailSerializer,
    LayerEdgeSerializer,
    LayerSchemaRequestSerializer,
    LayerSerializer,
    LayerVersionSerializer,
)
from pipelines.incremental.domain.definitions import read_layer
from pipelines.incremental.selectors.layers import (
    ADVANCE_ORDERS,
    EDGE_ORDERS,
    LAYER_ORDERS,
    AdvanceFilter,
    EdgeFilter,
    LayerFilter,
    advances_of,
    edges_of_lake,
    get_edge,
    get_layer_for_user,
    layers_of,
)
from pipelines.incremental.services.declaring import (
    Timing,
    layer_create,
    layer_delete,
    layer_edit,
    layer_pause,
    layer_resume,
)
from pipelines.incremental.services.requests import layer_backfill, layer_reread, layer_run
from pipelines.incremental.services.schemas import schema_ask
from portal.access.actors import Actor
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer, RunSerializer


def _timing(data: Mapping[str, Any]) -> Timing:
    return Timing(data["every_minutes"], data["on_commit"], data["pause_minutes"])


class LayerList(KeysetList):
    """Layers of a lake."""

    operation_id = "layers_list"
    page_name = "Layer"
    serializer_class = LayerSerializer
    filterset_class = LayerFilter
    orders = LAYER_ORDERS

    def get_queryset(self) -> Rows:
        """List the layers of a lake."""
        return layers_of(self.lake, self.user)

    @operation("layers_create", body=CreateLayerSerializer, answer=LayerSerializer, status=201)
    def post(self) -> object:
        """Create a layer, which begins at once; the same one twice changes nothing."""
        data = self.data
        made = layer_create(
            data["lake"],
            read_layer(data["definition"]),
            timing=_timing(data),
            by=Actor.of(self.user, lake=data["lake"]),
            now=timezone.now(),
        )
        return get_layer_for_user(made.pk, self.user)


class LayerDetail(ApiView):
    """One layer."""

    @operation("layers_get", answer=LayerDetailSerializer)
    def get(self, layer_id: int) -> object:
        """Return a layer."""
        return get_layer_for_user(layer_id, self.user)


class LayerEdit(ApiView):
    """Changing a layer."""

    @operation("layers_edit", body=EditLayerSerializer, status=204)
    def post(self, layer_id: int) -> None:
        """Change a layer as of the version that you read; all rows are read the next time."""
        data, found = self.data, get_layer_for_user(layer_id, self.user)
        layer_edit(
            found,
            read_layer(data["definition"]),
            timing=_timing(data),
            version=data["version"],
            by=Actor.of(self.user, lake=found.lake),
            now=timezone.now(),
        )


class LayerDelete(ApiView):
    """Deleting a layer."""

    @operation("layers_delete", body=LayerVersionSerializer, status=204)
    def post(self, layer_id: int) -> None:
        """Delete a layer as of the version that you read; its table stays."""
        found = get_layer_for_user(layer_id, self.user)
        version = self.data["version"]
        layer_delete(
            found, version=version, by=Actor.of(self.user, lake=found.lake), now=timezone.now()
        )


class LayerRun(ApiView):
    """Advancing a layer."""

    @operation("layers_run", answer=RunSerializer, status=202)
    def post(self, layer_id: int) -> object:
        """Advance a layer now, with those that it is made of."""
        found = get_layer_for_user(layer_id, self.user)
        return layer_run(found, by=Actor.of(self.user, lake=found.lake), now=timezone.now())


class LayerPause(ApiView):
    """Pausing a layer."""

    @operation("layers_pause", body=ReasonSerializer, status=204)
    def post(self, layer_id: int) -> None:
        """Advance a layer no more until it is resumed."""
        found = get_layer_for_user(layer_id, self.user)
        reason = self.data["reason"]
        layer_pause(
            found, reason=reason, by=Actor.of(self.user, lake=found.lake), now=timezone.now()
        )


class LayerResume(ApiView):
    """Resuming a layer."""

    @operation("layers_resume", status=204)
    def post(self, layer_id: int) -> None:
        """Advance a paused layer again."""
        found = get_layer_for_user(layer_id, self.user)
        layer_resume(found, by=Actor.of(self.user, lake=found.lake), now=timezone.now())


class LayerReread(ApiView):
    """Reading all rows of a layer's source."""

    @operation("layers_reread", body=ReasonSerializer, status=204)
    def post(self, layer_id: int) -> None:
        """Have all rows read the next time, which is soon."""
        found = get_layer_for_user(layer_id, self.user)
        reason = self.data["reason"]
        layer_reread(
            found, reason=reason, by=Actor.of(self.user, lake=found.lake), now=timezone.now()
        )


class LayerBackfill(ApiView):
    """Backfilling a layer."""

    @operation("layers_backfill", body=BackfillSerializer, answer=RunSerializer, status=202)
    def post(self, layer_id: int) -> object:
        """Read some partitions again from all rows; the position stays as it is."""
        found = get_layer_for_user(layer_id, self.user)
        low, high = self.data["low"], self.data["high"]
        return layer_backfill(
            found, low=low, high=high, by=Actor.of(self.user, lake=found.lake), now=timezone.now()
        )


class LayerSchemaAsk(ApiView):
    """Asking to go on with changed columns of a source."""

    @operation(
        "layers_schema_ask", body=AskColumnsSerializer, answer=LayerSchemaRequestSerializer,
        status=202,
    )  # fmt: skip
    def post(self, layer_id: int, edge_id: int) -> object:
        """Ask admins to go on with the columns that a source has now; the inbox has the request."""
        found = get_layer_for_user(layer_id, self.user)
        return schema_ask(
            get_edge(found, edge_id),
            seen=self.data["seen"],
            reread=self.data["reread"],
            by=Actor.of(self.user, lake=found.lake),
            now=timezone.now(),
        )


class LayerAdvances(KeysetList):
    """Advances of a layer."""

    operation_id = "layers_advances"
    page_name = "LayerAdvance"
    serializer_class = LayerAdvanceSerializer
    filterset_class = AdvanceFilter
    orders = ADVANCE_ORDERS

    def get_queryset(self) -> Rows:
        """List what advances of a layer did, the last first."""
        return advances_of(get_layer_for_user(self.kwargs["layer_id"], self.user))


class LayerEdges(KeysetList):
    """The lineage between tables."""

    operation_id = "layers_edges"
    page_name = "LayerEdge"
    serializer_class = LayerEdgeSerializer
    filterset_class = EdgeFilter
    orders = EDGE_ORDERS

    def get_queryset(self) -> Rows:
        """List the edges between the tables of a lake, with the lag of each."""
        return edges_of_lake(self.lake, self.user)
