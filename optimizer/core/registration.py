"""Registers `optimizer.core` with the platform."""

from optimizer.core.ui.badges import register_state_badges


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_state_badges()
