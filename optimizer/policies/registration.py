"""Registers `optimizer.policies` with the platform."""

from optimizer.core.ui.badges import SECTION
from portal.access.registry import Page, register_page


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_page(Page(SECTION, "Optimizer policies", "optimizer:policies", "adjustments", 64))
