"""The columns of the lists of layers, edges and advances."""

from django.urls import reverse

from pipelines.incremental.selectors.layers import ADVANCE_ORDERS, EDGE_ORDERS, LAYER_ORDERS
from pipelines.models import Layer, LayerSource
from portal.ui.lists.answers import ListSpec
from portal.ui.lists.tables import Column


def layer_url(row: Layer) -> str:
    """Return the page of a layer."""
    return reverse("pipelines:layer", args=[row.pk])


def _edge_url(row: LayerSource) -> str:
    return layer_url(row.layer)


LAYERS = ListSpec(
    template="pipelines/layers.html",
    caption="Layers",
    columns=(
        Column(key="__str__", title="Target", sort="table", url=layer_url),
        Column(key="badge", title="State", kind="state"),
        Column(key="layer.changing", title="Source", kind="code"),
        Column(key="watermark", title="Complete until", kind="ago"),
        Column(key="advanced_at", title="Advanced", kind="ago"),
        Column(key="problem", title="Problem", is_wide=True),
    ),
    orders=LAYER_ORDERS,
    filename="layers.csv",
    exports=(
        "lake", "db", "table", "badge", "layer.changing", "watermark", "advanced_at", "next_at",
        "every_minutes", "on_commit", "pause_minutes", "is_paused", "problem",
        "version", "set_by", "set_at",
    ),
)  # fmt: skip
EDGES = ListSpec(
    template="pipelines/lineage.html",
    caption="Edges between tables",
    columns=(
        Column(key="__str__", title="Source", kind="code"),
        Column(key="layer.__str__", title="Target", kind="code", sort="target", url=_edge_url),
        Column(key="lag_seconds", title="Lag (s)", kind="count"),
        Column(key="read_at", title="Read", kind="ago", sort="read"),
        Column(key="watermark", title="Complete until", kind="ago"),
        Column(key="read_as", title="Read as"),
        Column(key="hold_state", title="Old versions"),
    ),
    orders=EDGE_ORDERS,
    filename="layer-edges.csv",
    exports=(
        "db", "table", "layer.db", "layer.table", "is_static", "lag_seconds", "read_at",
        "position", "position_at", "watermark", "watermark_reason", "hold_state",
    ),
)  # fmt: skip
ADVANCES = ListSpec(
    template="pipelines/layer.html",
    caption="Advances",
    columns=(
        Column(key="at", title="At", kind="ago", sort="at"),
        Column(key="badge", title="Result", kind="state"),
        Column(key="mode", title="Read"),
        Column(key="n_commits", title="Commits", kind="count", is_zero_blank=True),
        Column(key="n_upserts", title="Rows written", kind="count", is_zero_blank=True),
        Column(key="n_deletes", title="Rows deleted", kind="count", is_zero_blank=True),
        Column(key="seconds", title="Seconds", is_number=True),
        Column(key="reason", title="Why", is_wide=True),
    ),
    orders=ADVANCE_ORDERS,
    filename="layer-advances.csv",
    exports=(
        "at", "run", "state", "mode", "n_commits", "n_upserts", "n_deletes", "seconds", "reason",
    ),
)  # fmt: skip
