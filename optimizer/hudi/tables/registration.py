"""Registers `optimizer.hudi.tables` with the platform."""

from optimizer.hudi.tables.selectors.numbers import register_hudi_gauges


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_hudi_gauges()
