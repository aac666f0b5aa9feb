"""Registers `optimizer.queries` with the platform."""

from optimizer.queries.run_kinds import register_query_kinds
from optimizer.queries.ui.readers import register_readers


def register() -> None:
    """Add what this capability offers: its runs and readers; its pages are those of advice."""
    register_query_kinds()
    register_readers()
