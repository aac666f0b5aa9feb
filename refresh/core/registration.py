"""Registers `refresh.core` with the platform."""

from portal.access.registry import Entry, register_entry
from refresh.core.ui.badges import register_state_badges


def register() -> None:
    """Add what this capability offers: events, pages, home cards, numbers."""
    register_entry(Entry("refresh", "Cache refresh", "refresh", 70))
    register_state_badges()
