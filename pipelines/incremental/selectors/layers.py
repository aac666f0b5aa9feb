"""Reads of layers, of their edges and of what was done. They are for admins and operators.

Who keeps layers sees every table, so their definitions hide nothing from who reads them.
"""

from collections.abc import Iterator

import django_filters as filters
from django.db.models import Exists, OuterRef, Q, QuerySet

from pipelines.cdc.control.selectors.pipelines import check_lake_staff, check_some_staff
from pipelines.commits.domain.holds import capped_by_lake
from pipelines.incremental.domain.lineage import Flow
from pipelines.incremental.domain.states import LayerState
from pipelines.models import Layer, LayerAdvance, LayerSource
from portal.access.gauges import Gauge, Sample, register_gauge
from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.ui.lists.filters import ListFilter, prefix

LAYER_ORDERS = {"table": ("db", "table"), "-table": ("-db", "-table")}
EDGE_ORDERS = {
    "target": ("layer__db", "layer__table", "db", "table"),
    "read": ("read_at", "pk"),
}
ADVANCE_ORDERS = {"-at": ("-at", "-pk"), "at": ("at", "pk")}
MOST_EDGES = 300
"""More than this are no picture: the data table has them."""
_TROUBLED = frozenset({LayerState.FAILED, LayerState.HELD, LayerState.LATE})


class LayerFilter(ListFilter):
    """Layers by target, and by what is the matter with them."""

    db = prefix("db", "Database")
    table = prefix("table", "Target")
    state = filters.ChoiceFilter(
        method="filter_state",
        choices=[("held", "Decision needed"), ("failed", "Error"), ("paused", "Paused")],
        label="State",
        empty_label="Any",
    )

    def filter_state(self, rows: QuerySet[Layer], name: str, value: str) -> QuerySet[Layer]:
        """Keep the layers in a state that a person has to do something about."""
        wanted = {
            "held": Q(is_held=True),
            "failed": Q(problem__gt="", is_held=False),
            "paused": Q(is_paused=True),
        }
        return rows.filter(wanted[value])


class EdgeFilter(ListFilter):
    """Edges by their tables."""

    source = prefix("table", "Source")
    target = prefix("layer__table", "Target")


class AdvanceFilter(ListFilter):
    """Advances by what they came to, and by what was read."""

    state = filters.ChoiceFilter(
        choices=[
            ("done", "Advanced"),
            ("unchanged", "Nothing new"),
            ("held", "Held"),
            ("failed", "Error"),
        ],
        label="Result",
        empty_label="Any",
    )
    mode = filters.ChoiceFilter(
        choices=[("changes", "Changes"), ("full", "All rows"), ("backfill", "Backfill")],
        label="Read",
        empty_label="Any",
    )


def layers_of(lake: str, user: User) -> QuerySet[Layer]:
    """Return the layers of a lake; NotVisible for others than admins and operators."""
    check_lake_staff(user, lake)
    return _with_held(Layer.objects.filter(lake=lake))


def get_layer_for_user(layer_id: int, user: User) -> Layer:
    """Return one layer.

    Raises:
        NotVisible: `layer.none`; for others than admins and operators.
    """
    check_some_staff(user)
    found = _with_held(Layer.objects.filter(pk=layer_id)).first()
    if found is not None and not user.is_lake_staff_of(found.lake):
        found = None
    if found is None:
        raise NotVisible("layer.none", "There is no such layer for you.", layer=layer_id)
    return found


def get_edge(layer: Layer, edge_id: int) -> LayerSource:
    """Return a source of a layer; NotVisible `layer.none` where it has no such one."""
    found = LayerSource.objects.filter(layer=layer, pk=edge_id).first()
    if found is None:
        raise NotVisible("layer.none", "The layer has no such source.", source=edge_id)
    return found


def edges_of_lake(lake: str, user: User) -> QuerySet[LayerSource]:
    """Return the edges between the tables of a lake, each with its layer."""
    check_lake_staff(user, lake)
    return LayerSource.objects.filter(layer__lake=lake).select_related("layer")


def edges_of(layer: Layer) -> list[LayerSource]:
    """Return the sources of a layer, the one that changes first."""
    return list(layer.edges.select_related("layer").order_by("is_static", "db", "table"))


def advances_of(layer: Layer) -> QuerySet[LayerAdvance]:
    """Return what advances of a layer did."""
    return LayerAdvance.objects.filter(layer=layer)


def flows_of(rows: QuerySet[LayerSource]) -> list[Flow]:
    """Return the edges of the picture; none where they are too many."""
    found = list(rows.order_by("pk")[: MOST_EDGES + 1])
    if len(found) > MOST_EDGES:
        return []
    return [Flow(str(one), str(one.layer), _lag_words(one), one.is_static) for one in found]


def troubled(lake: str) -> list[Layer]:
    """Return the layers of a lake that a person has to look at."""
    rows = _with_held(Layer.objects.filter(lake=lake)).order_by("pk")
    return [one for one in rows if one.badge in _TROUBLED]


def register_gauges() -> None:
    """Add the numbers of layers to /metrics."""
    register_gauge(
        Gauge(
            "layer_lag_seconds",
            "Greatest age of a source's state that its layer has.",
            _lags,
            labels=("lake",),
        )
    )
    register_gauge(
        Gauge(
            "layer_hold_capped",
            "Sources that keep nothing for a layer any more.",
            _capped,
            labels=("lake",),
        )
    )


def _lags() -> Iterator[Sample]:
    """Yield the greatest of each lake; a layer is a table, and tables are no labels."""
    worst: dict[str, float] = {}
    for one in LayerSource.objects.select_related("layer").exclude(read_at=None):
        lake = one.layer.lake
        worst[lake] = max(worst.get(lake, 0.0), float(one.lag_seconds or 0))
    for lake, seconds in sorted(worst.items()):
        yield {"lake": lake}, seconds


def _capped() -> Iterator[Sample]:
    rows = LayerSource.objects.select_related("layer").filter(is_static=False)
    for lake, n_capped in capped_by_lake((one.layer.lake, one.hold) for one in rows):
        yield {"lake": lake}, float(n_capped)


def _with_held(rows: QuerySet[Layer]) -> QuerySet[Layer]:
    waits = LayerSource.objects.filter(layer=OuterRef("pk")).exclude(found_schema=[])
    return rows.annotate(is_held=Exists(waits))


def _lag_words(edge: LayerSource) -> str:
    seconds = edge.lag_seconds
    if seconds is None:  # an older commit may have been written while it was read
        return "behind" if edge.position else "not read yet"
    minutes = seconds // 60
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // 1440} d"
