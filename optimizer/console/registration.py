"""Registers `optimizer.console` with the platform."""

from optimizer.console.selectors.numbers import register_gauges
from optimizer.console.ui.nav import register_pages
from optimizer.console.ui.pictures import register_pictures
from optimizer.console.ui.tour import register_tour


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_gauges()
    register_pages()
    register_tour()
    register_pictures()
