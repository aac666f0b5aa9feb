"""Tasks on tables: their order, reason and result."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from optimizer.core.domain.tasks import FINAL, STOPPED, TaskKind, TaskState
from optimizer.hudi.maintenance.domain.tasks import TASKS
from optimizer.hudi.tables.models import HudiTable
from optimizer.iceberg.tables.models import IcebergTable

ONE_TABLE = Q(table__isnull=False, hudi__isnull=True) | Q(table__isnull=True, hudi__isnull=False)
"""Of an Iceberg table or of a Hudi table, and never of both."""


class OptimizeTask(models.Model):
    """One piece of work on one table of either format; at most one is open a table and kind."""

    table = models.ForeignKey(
        IcebergTable, on_delete=models.CASCADE, null=True, related_name="tasks"
    )
    hudi = models.ForeignKey(HudiTable, on_delete=models.CASCADE, null=True, related_name="tasks")
    kind = models.CharField(
        max_length=32, choices=[(str(one), str(one)) for one in (*TaskKind, *TASKS)]
    )
    state = models.CharField(
        max_length=12,
        choices=[(one.value, one.value) for one in TaskState],
        default=TaskState.WAITING.value,
    )
    # True while it is open, null afterwards: MariaDB knows no conditional uniqueness.
    is_open = models.BooleanField(null=True, default=True)
    reason = models.TextField(help_text="why it is done")
    waits_for = models.TextField(blank=True, help_text="why it is not begun yet")
    not_before = models.DateTimeField(null=True, help_text="it waits for other writers to pause")
    score = models.FloatField(default=0)
    risk = models.FloatField(default=0, help_text="the chance to lose it to another writer")
    is_cold = models.BooleanField(default=False, help_text="nobody wrote there for a day")
    group_seconds = models.FloatField(null=True, help_text="the longest of one commit; null: any")
    partitions = models.JSONField(null=True, help_text="null: all")
    instants = models.JSONField(
        null=True, help_text="of a Hudi table's timeline; null: all that are pending"
    )
    target_bytes = models.BigIntegerField(null=True, help_text="null: it writes none of a size")
    layout = models.TextField(blank=True)
    policy_versions = models.JSONField(default=list, help_text="the policies that decided it")
    estimate = models.JSONField(default=dict, help_text="files, bytes, GB-hours, seconds")
    snapshot_id = models.BigIntegerField(null=True, help_text="what it was decided at")
    asked_by = models.CharField(max_length=150, blank=True, help_text="empty: by itself")
    noted_at = models.DateTimeField()
    heard_at = models.DateTimeField(null=True, help_text="when its first commit was heard")
    sent_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    run = models.UUIDField(null=True)
    outcome_code = models.CharField(max_length=64, blank=True)
    outcome = models.TextField(blank=True, help_text="in words")
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    commits = models.JSONField(default=list)
    n_conflicts = models.PositiveIntegerField(default=0)
    n_tries = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(null=True)

    class Meta:
        indexes: ClassVar = [
            # With its tables the queue is counted and put in order from the index alone.
            models.Index(fields=["state", "-score", "id", "table", "hudi"], name="optimizer_queue"),
            models.Index(fields=["table", "-noted_at"], name="optimizer_task_history"),
            models.Index(fields=["hudi", "-noted_at"], name="optimizer_hudi_history"),
            models.Index(fields=["run"], name="optimizer_task_run"),
            models.Index(fields=["ended_at"], name="optimizer_task_ended"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["table", "kind", "is_open"], name="optimizer_task_open_once"
            ),
            models.UniqueConstraint(
                fields=["hudi", "kind", "is_open"], name="optimizer_hudi_open_once"
            ),
            models.CheckConstraint(condition=ONE_TABLE, name="optimizer_task_one_table"),
            models.CheckConstraint(
                # Sorted, because a set's order differs from process to process.
                condition=Q(ended_at__isnull=False)
                | ~Q(state__in=sorted(one.value for one in FINAL)),
                name="optimizer_final_has_end",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.table_id or self.hudi_id}"

    @property
    def subject(self) -> IcebergTable | HudiTable:
        """The table that it is about, of either format."""
        return subject_of(self.table, self.hudi)

    @property
    def table_format(self) -> str:
        """The format of its table, as filters and the API name it."""
        return "iceberg" if self.hudi_id is None else "hudi"

    @property
    def iceberg(self) -> IcebergTable:
        """The table of a task that only Iceberg tables have."""
        if self.table is None:
            raise LookupError(f"Task {self.pk} is of a Hudi table.")
        return self.table

    @property
    def is_stopping(self) -> bool:
        """Whether a person cancelled it while a run has it; its outcome says who and why."""
        return self.state == TaskState.SENT and self.outcome_code == STOPPED


def subject_of(table: IcebergTable | None, hudi: HudiTable | None) -> IcebergTable | HudiTable:
    """Return the one of two that is there: the rows that may be of either have exactly one."""
    found = table or hudi
    if found is None:
        raise LookupError("A row is of an Iceberg table or of a Hudi table, and this is of none.")
    return found
