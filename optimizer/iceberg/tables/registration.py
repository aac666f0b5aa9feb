"""Registers `optimizer.iceberg.tables` with the platform."""

from optimizer.iceberg.tables.selectors.commits import snapshots_found
from optimizer.iceberg.tables.ui.nav import register_pages
from optimizer.iceberg.tables.ui.scans_tab import register_scans_tab
from optimizer.iceberg.tables.ui.table_tab import FILES_TAB
from portal.access.scopes import Scope, register_scope
from portal.search.registry import SearchSource, register_source


def register() -> None:
    """Add what this capability offers: runs, approvals, pages, home cards, numbers."""
    register_pages()
    FILES_TAB.register()
    register_scans_tab()
    register_scope(Scope("optimizer", "Report commits to Iceberg tables, and scans of them."))
    register_source(SearchSource("iceberg_snapshots", "Snapshots", 50, snapshots_found))
