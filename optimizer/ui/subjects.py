"""Which page tells of the table that a task or a list is about, of whichever format?"""

from urllib.parse import urlencode

from django.urls import reverse

from optimizer.models import OptimizeTask, RemovalPlan


def tasks_page(row: OptimizeTask | RemovalPlan) -> str:
    """Give the page of the tasks of the table that a row is about."""
    if row.table_id is not None:
        return reverse("optimizer:table-tasks", args=[row.table_id])
    table = row.subject
    query = {"lake": table.lake, "table_format": row.table_format, "db": table.db}
    query["table"] = table.table
    return f"{reverse('optimizer:queue')}?{urlencode(query)}"
