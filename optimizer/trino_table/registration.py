"""Registers `optimizer.trino_table` with the platform."""

from optimizer.trino_table.run_kinds import register_trino_table_kind


def register() -> None:
    """Add what this capability offers: the run that reads the table."""
    register_trino_table_kind()
