"""Registers `lifecycle.schedule` with the platform."""

from lifecycle.schedule.run_kinds.clock import register_clock_kinds
from lifecycle.schedule.run_kinds.scan import register_kinds


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_kinds()
    register_clock_kinds()
