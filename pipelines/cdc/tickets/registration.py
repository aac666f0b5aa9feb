"""Registers `pipelines.cdc.tickets` with the platform."""

from datetime import timedelta

from pipelines.cdc.control.services.announced import register_matcher
from pipelines.cdc.tickets.run_kinds import register_dry_run_kind
from pipelines.cdc.tickets.services.callbacks import callbacks_send
from pipelines.cdc.tickets.services.following import ticket_match, tickets_follow
from pipelines.cdc.tickets.services.tickets import TICKETS
from pipelines.cdc.tickets.ui.nav import register_pages
from portal.runs.kinds.ticks import Tick, register_tick
from portal.search.selectors.proposals import register_proposals


def register() -> None:
    """Add what this capability offers: approvals, a run, ticks, pages."""
    TICKETS.register()
    register_matcher(ticket_match)
    register_dry_run_kind()
    register_pages()
    register_tick(Tick("cdc.tickets", timedelta(seconds=5), tickets_follow))
    register_tick(Tick("cdc.ticket_callbacks", timedelta(seconds=10), callbacks_send))
    register_proposals(
        TICKETS,
        title="Tickets for changes of schema",
        order=37,
        page="pipelines:schema-ticket",
        about=str,
    )
