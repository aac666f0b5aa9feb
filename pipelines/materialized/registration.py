"""Registers `pipelines.materialized` with the platform."""

from datetime import timedelta

from pipelines.materialized.run_kinds import register_materialize_kind
from pipelines.materialized.services.requests import refreshes_due
from pipelines.materialized.ui.nav import register_pages
from portal.runs.kinds.ticks import Tick, register_tick


def register() -> None:
    """Add what this capability offers: runs, a tick, pages."""
    register_materialize_kind()
    register_tick(Tick("materialized.due", timedelta(minutes=1), refreshes_due))
    register_pages()
