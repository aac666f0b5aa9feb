"""Registers `pipelines.cdc.schema_requests` with the platform."""

from datetime import timedelta

from pipelines.cdc.schema_requests.services import REQUESTS, requests_open
from pipelines.cdc.schema_requests.ui import register_pages
from portal.runs.kinds.ticks import Tick, register_tick
from portal.search.selectors.proposals import register_proposals


def register() -> None:
    """Add what this capability offers: approvals, a tick, a home card."""
    REQUESTS.register()
    register_pages()
    register_tick(Tick("cdc.schema_requests", timedelta(seconds=5), requests_open))
    register_proposals(
        REQUESTS,
        title="Changes of schema",
        order=36,
        page="pipelines:schema-request",
        about=str,
    )
