"""Links a task or a list to the page of its table, of whichever format."""

from django.urls import reverse

from optimizer.core.models import TABLE_FIELDS, MaintainedTable, OptimizeTask
from optimizer.core.selectors.table_health import FILES
from optimizer.removals.models import RemovalPlan
from portal.access.models import User
from portal.ui.tables.addresses import tab_or, table_url

PART_NAMES = {
    "table": "",
    "table-files": "files",
    "table-layout": "layout",
    "table-commits": "commits",
    "table-tasks": "tasks",
    "table-policy": "policy",
    "hudi-table": "",
    "hudi-timeline": "timeline",
    "hudi-files": "groups",
    "hudi-services": "services",
    "hudi-tasks": "tasks",
    "hudi-settings": "settings",
}
"""By the former address of a page, which part of the tab of its table's files it is."""
_PAGES = {"iceberg": "table", "hudi": "hudi-table"}
_TASKS_PAGES = {"iceberg": "table-tasks", "hudi": "hudi-tasks"}


def files_url(row: MaintainedTable, name: str = "", **query: str) -> str:
    """Return the tab of a table's files, or one of its parts by the name of its former address.

    Of a table that is gone it is that address: the table's page has no files any more.
    """
    name = name or _PAGES[row.table_format]
    if row.is_deleted:
        return reverse(f"optimizer:{name}", args=[row.pk], query=query or None)
    return table_url(row.lake, row.db, row.table, FILES, PART_NAMES[name], **query)


def page_after(row: MaintainedTable, user: User, name: str = "") -> str:
    """Return where a person goes after something was done: the tab, where the catalog has it."""
    name = name or _PAGES[row.table_format]
    own = reverse(f"optimizer:{name}", args=[row.pk])
    if row.is_deleted:
        return own
    of_table, part = (row.lake, row.db, row.table), PART_NAMES[name]
    return tab_or(of_table, FILES, part, user=user, otherwise=own)


def tasks_page_after(row: OptimizeTask | RemovalPlan, user: User) -> str:
    """Return the same for the tasks of the table that a row is about."""
    table = getattr(row, TABLE_FIELDS[row.table_format])
    return page_after(table, user, _TASKS_PAGES[row.table_format])


def tasks_page(row: OptimizeTask | RemovalPlan) -> str:
    """Return the page of the tasks of the table that a row is about."""
    table = getattr(row, TABLE_FIELDS[row.table_format])
    return files_url(table, _TASKS_PAGES[row.table_format])
