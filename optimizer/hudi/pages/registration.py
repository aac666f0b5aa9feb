"""Registers `optimizer.hudi.pages` with the platform."""

from optimizer.hudi.inspect.selectors.instants import instants_found
from optimizer.hudi.pages.ui.badges import register_hudi_words
from optimizer.hudi.pages.ui.nav import register_pages
from optimizer.hudi.pages.ui.table_tab import FILES_TAB
from portal.search.registry import SearchSource, register_source


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_pages()
    FILES_TAB.register()
    register_hudi_words()
    register_source(SearchSource("hudi_instants", "Instants", 55, instants_found))
