"""Registers `optimizer.iceberg.indexing` with the platform."""

from optimizer.iceberg.indexing.run_kinds import register_estimate_kind
from optimizer.iceberg.indexing.ui.table_tab import register_indexes_tab


def register() -> None:
    """Add the tab of a table's indexes, and the run that estimates some."""
    register_indexes_tab()
    register_estimate_kind()
