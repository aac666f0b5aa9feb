"""Registers `lifecycle.core` with the platform."""

from lifecycle.core.ui.links import database_url, table_url
from lifecycle.core.ui.run_subjects import register_run_subjects
from portal.access.registry import Entry, register_entry
from portal.search.registry import ObjectPage, register_addresses, register_object_page

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
    register_addresses(table=table_url, database=database_url)
    register_object_page(
        ObjectPage("lifecycle:table", lambda key: "{db}.{table}".format(**key), is_table=True)
    )
    register_object_page(ObjectPage("lifecycle:database", lambda key: f"Database {key['db']}"))
