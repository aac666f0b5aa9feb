"""Registers `pipelines.incremental` with the platform."""

from datetime import timedelta

from pipelines.incremental.run_kinds import register_layer_kind
from pipelines.incremental.selectors import upstreams
from pipelines.incremental.services.events import register_subscriber
from pipelines.incremental.services.requests import layers_due
from pipelines.incremental.services.results import advances_trim
from portal.runs.kinds.ticks import Tick, register_tick


def register() -> None:
    """Add what this capability offers: runs, ticks, watermarks, readers."""
    register_layer_kind()
    register_tick(Tick("layers.due", timedelta(minutes=1), layers_due))
    register_tick(Tick("layers.trim", timedelta(hours=1), advances_trim))
    register_subscriber()
    upstreams.register()
