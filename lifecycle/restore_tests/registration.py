"""Registers `lifecycle.restore_tests` with the platform."""

from lifecycle.restore_tests.run_kinds import register_drill_kinds
from lifecycle.restore_tests.services.alarms import register_drill_alarms
from lifecycle.restore_tests.ui.nav import register_pages


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    register_drill_kinds()
    register_drill_alarms()
    register_pages()
