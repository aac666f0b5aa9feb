"""Registers `optimizer.hudi.pages` with the platform."""

from optimizer.hudi.pages.ui.badges import register_hudi_words
from optimizer.hudi.pages.ui.nav import register_pages
from optimizer.hudi.pages.ui.table_tab import FILES_TAB


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_pages()
    FILES_TAB.register()
    register_hudi_words()
