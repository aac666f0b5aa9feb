"""Registers `optimizer.queries` with the platform."""

from optimizer.queries.run_kinds import register_query_kinds


def register() -> None:
    """Add what this capability offers: its runs; its pages belong to those of advice."""
    register_query_kinds()
