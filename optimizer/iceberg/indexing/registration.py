"""Registers `optimizer.iceberg.indexing` with the platform."""

from optimizer.iceberg.indexing.ui.table_tab import register_indexes_tab


def register() -> None:
    """Add the tab of a table's indexes."""
    register_indexes_tab()
