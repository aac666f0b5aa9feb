"""Registers `lifecycle.core` with the platform."""

from lifecycle.core.ui.run_subjects import register_run_subjects


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_run_subjects()
