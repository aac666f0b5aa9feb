"""Registers `pipelines.incremental` with the platform."""

from datetime import timedelta

from pipelines.incremental.run_kinds import register_layer_kind
from pipelines.incremental.selectors import upstreams
from pipelines.incremental.selectors.layers import register_gauges
from pipelines.incremental.services.events import FOLLOWER
from pipelines.incremental.services.requests import layers_due
from pipelines.incremental.services.results import advances_trim
from pipelines.incremental.services.schemas import REQUESTS, schema_requests_open
from pipelines.incremental.ui.nav import register_pages
from portal.runs.kinds.ticks import Tick, register_tick
from portal.search.selectors.proposals import register_proposals


def register() -> None:
    """Add what this capability offers: runs, ticks, watermarks, readers, pages, numbers."""
    register_layer_kind()
    register_tick(Tick("layers.due", timedelta(minutes=1), layers_due))
    register_tick(Tick("layers.trim", timedelta(hours=1), advances_trim))
    REQUESTS.register()
    register_tick(Tick("layers.schema_requests", timedelta(seconds=5), schema_requests_open))
    register_proposals(
        REQUESTS,
        title="Changed columns of layers",
        order=38,
        page="pipelines:layer-schema-request",
        about=str,
    )
    FOLLOWER.register()
    upstreams.register()
    register_gauges()
    register_pages()
