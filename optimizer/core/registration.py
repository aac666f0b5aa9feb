"""Registers `optimizer.core` with the platform."""

from optimizer.core.ui.badges import register_state_badges
from portal.access.registry import Entry, register_entry


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_entry(Entry("services", "Table services", "heartbeat", 80))
    register_state_badges()
