"""Registers `refresh.changes` with the platform."""

from portal.access.scopes import Scope, register_scope
from refresh.changes.services.event_handlers import register_subscriber


def register() -> None:
    """Add what this capability offers: events, pages, home cards, numbers."""
    register_subscriber()
    register_scope(Scope("refresh", "Tell what a job has written, and wait until it is seen."))
