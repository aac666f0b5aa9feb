"""Links a task or a list to the page of its table, of whichever format."""

from django.urls import reverse

from optimizer.models import OptimizeTask, RemovalPlan


def tasks_page(row: OptimizeTask | RemovalPlan) -> str:
    """Return the page of the tasks of the table that a row is about."""
    if row.table_id is not None:
        return reverse("optimizer:table-tasks", args=[row.table_id])
    return reverse("optimizer:hudi-tasks", args=[row.hudi_id])
