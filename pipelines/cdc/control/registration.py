"""Registers `pipelines.cdc.control` with the platform."""

from pipelines.cdc.control.run_kinds import register_apply_kind
from pipelines.cdc.control.selectors import watermarks
from pipelines.cdc.control.selectors.numbers import register_gauges
from pipelines.cdc.control.ui.nav import register_pages


def register() -> None:
    """Add what this capability offers: pages, runs, numbers."""
    register_apply_kind()
    register_gauges()
    watermarks.register()
    register_pages()
