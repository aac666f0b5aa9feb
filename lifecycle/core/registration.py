"""Registers `lifecycle.core` with the platform."""

from lifecycle.core.ui.run_subjects import register_run_subjects
from portal.access.registry import Entry, register_entry

ENTRIES = (
    Entry("backups", "Backups", "archive", 40),
    Entry("lifecycle", "Lifecycle", "calendar-due", 50),
    Entry("paths", "Path rules", "route-off", 60),
)


def register() -> None:
    """Add what this capability offers: runs, questions, pages, home cards."""
    for entry in ENTRIES:
        register_entry(entry)
    register_run_subjects()
