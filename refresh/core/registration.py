"""Registers `refresh.core` with the platform."""

from refresh.core.ui.badges import register_state_badges


def register() -> None:
    """Add what this capability offers: events, pages, home cards, numbers."""
    register_state_badges()
