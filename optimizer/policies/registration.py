"""Registers `optimizer.policies` with the platform."""

from portal.access.registry import Page, register_page
from portal.access.roles.domain import STAFF


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    of_hudi = frozenset(
        {
            *("optimizer:hudi-policies", "optimizer:hudi-policy-new"),
            *("optimizer:hudi-policy-scope", "optimizer:optimizer-hudi-policy"),
        }
    )
    register_page(Page("services", "Policies", "optimizer:policies", 40, STAFF, also=of_hudi))
