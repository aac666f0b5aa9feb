"""Has any run a task of this table? Asked by whoever gives one to a run, one after the other."""

from optimizer.domain.tasks import TaskState
from optimizer.models import HudiTable, IcebergTable, OptimizeTask


def lock_free_table(task: OptimizeTask) -> bool:
    """Lock a task's table until the transaction ends; False where a run has a task of it."""
    table = task.subject
    model = HudiTable if isinstance(table, HudiTable) else IcebergTable
    model.objects.select_for_update().values_list("pk").filter(pk=table.pk).first()
    of = {"hudi": table.pk} if isinstance(table, HudiTable) else {"table": table.pk}
    return not OptimizeTask.objects.filter(**of, state=TaskState.SENT).exists()
