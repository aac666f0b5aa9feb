"""Registers `optimizer.queries` with the platform."""

from optimizer.queries.run_kinds import register_query_kinds
from optimizer.queries.ui.pages import register_query_pages


def register() -> None:
    """Add what this capability offers: its runs and pages."""
    register_query_kinds()
    register_query_pages()
