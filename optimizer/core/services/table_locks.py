"""Checks whether any run has a task of a table. Callers that give one to a run take turns."""

from optimizer.core.domain.tasks import TaskState
from optimizer.models import OptimizeTask


def lock_free_table(task: OptimizeTask) -> bool:
    """Lock a task's table until the transaction ends; False where a run has a task of it."""
    table = task.subject
    type(table).objects.select_for_update().values_list("pk").filter(pk=table.pk).first()
    return not table.tasks.filter(state=TaskState.SENT).exists()
