"""Registers `optimizer.hudi.continuous` with the platform."""

from optimizer.hudi.continuous.run_kinds import register_continuous_kind


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_continuous_kind()
