"""Registers `optimizer.iceberg.tables` with the platform."""

from optimizer.iceberg.tables.selectors.commits import snapshots_found
from optimizer.iceberg.tables.ui.nav import register_pages
from optimizer.iceberg.tables.ui.table_tab import FILES_TAB
from portal.access.scopes import Scope, register_scope
from portal.search.registry import SearchSource, register_source


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_pages()
    FILES_TAB.register()
    register_scope(Scope("optimizer", "Report what was committed to Iceberg tables."))
    register_source(SearchSource("iceberg_snapshots", "Snapshots", 50, snapshots_found))
