"""Registers `refresh.history` with the platform."""

from refresh.history.ui import register_pages


def register() -> None:
    """Add what this capability offers: events, pages, home cards, numbers."""
    register_pages()
