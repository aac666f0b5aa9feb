"""Registers `refresh.worker` with the platform."""

from refresh.worker.selectors.numbers import register_gauges
from refresh.worker.ui import register_pages


def register() -> None:
    """Add what this capability offers: events, pages, home cards, numbers."""
    register_pages()
    register_gauges()
