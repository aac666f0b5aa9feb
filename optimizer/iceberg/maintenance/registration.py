"""Registers `optimizer.iceberg.maintenance` with the platform."""

from optimizer.iceberg.maintenance.run_kinds import register_quarantine_kinds
from optimizer.iceberg.maintenance.ui.badges import register_state_badges


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_quarantine_kinds()
    register_state_badges()
