"""Registers `refresh.freshness` with the platform."""

from refresh.freshness.ui.nav import register_pages
from refresh.freshness.ui.pictures import register_pictures
from refresh.freshness.ui.table_tab import register_cache_tab
from refresh.freshness.ui.tour import register_tour


def register() -> None:
    """Add what this capability offers: events, pages, home cards, numbers."""
    register_pages()
    register_tour()
    register_pictures()
    register_cache_tab()
