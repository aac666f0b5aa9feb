"""Registers `optimizer.removals` with the platform."""

from optimizer.removals.services.claims import register_removal_approval
from optimizer.removals.services.removals import REMOVALS
from optimizer.removals.ui.badges import register_state_badges
from optimizer.removals.ui.nav import register_pages
from portal.search.selectors.proposals import register_proposals


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_removal_approval()
    register_pages()
    register_state_badges()
    register_proposals(
        REMOVALS,
        title="Removals",
        order=35,
        page="optimizer:removal",
        about=lambda one: f"Removal from {one.subject}",
    )
