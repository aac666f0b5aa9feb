"""Links a task or a list to the page of its table, of whichever format."""

from django.urls import reverse

from optimizer.core.models import TABLE_FIELDS, OptimizeTask
from optimizer.removals.models import RemovalPlan

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
_TASKS_PAGES = {"iceberg": "optimizer:table-tasks", "hudi": "optimizer:hudi-tasks"}


def tasks_page(row: OptimizeTask | RemovalPlan) -> str:
    """Return the page of the tasks of the table that a row is about."""
    key = getattr(row, f"{TABLE_FIELDS[row.table_format]}_id")
    return reverse(_TASKS_PAGES[row.table_format], args=[key])
