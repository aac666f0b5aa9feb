"""Registers `optimizer.removals` with the platform."""

from optimizer.removals.services.claims import register_removal_approval
from optimizer.removals.ui.badges import register_state_badges
from optimizer.removals.ui.nav import register_pages


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_removal_approval()
    register_pages()
    register_state_badges()
