"""Tables of every format that is maintained, and the tasks on them: order, reason and result."""

from typing import TYPE_CHECKING, ClassVar, cast

from django.db import models
from django.db.models import Q

from optimizer.core.domain.tasks import FINAL, STOPPED, TaskState

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager

    from optimizer.models import GroupingSum, IcebergTable

TABLE_FIELDS = {"iceberg": "table", "hudi": "hudi"}
"""By a format's name, the field of tasks and lists that holds its table; a row has one of them."""

ONE_TABLE = Q(table__isnull=False, hudi__isnull=True) | Q(table__isnull=True, hudi__isnull=False)
"""Of an Iceberg table or of a Hudi table, and never of both."""


class MaintainedTable(models.Model):
    """What is known of a table of any format; each format adds what only its tables have.

    A row whose table went is kept, as gone, for its history.
    """

    table_format: ClassVar[str]
    """The format's name, as filters and the API give it."""
    task_kinds: ClassVar[tuple[str, ...]]
    """The kinds of its tasks, in the order in which lists of choices show them."""
    listed_kinds: ClassVar[tuple[str, ...]]
    """Those of them that act on a list that people approved."""
    not_shown: ClassVar[tuple[str, ...]] = ()
    """Wide columns that no list of tasks shows."""

    if TYPE_CHECKING:
        tasks: RelatedManager["OptimizeTask"]
        groupings: RelatedManager["GroupingSum"]

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256)
    location = models.TextField()
    owner = models.CharField(max_length=128, blank=True)
    is_deleted = models.BooleanField(default=False)
    deleted_at = models.DateTimeField(null=True)
    event_at = models.DateTimeField(help_text="when the portal last received a change")

    # What the last look found; null until it was looked at.
    inspected_at = models.DateTimeField(null=True)
    inspect_due_at = models.DateTimeField(null=True)
    inspection_error = models.TextField(blank=True, help_text="why the last inspection failed")
    health = models.FloatField(null=True, help_text="0 to 100; null until it was inspected")
    deductions = models.JSONField(default=list, help_text="score deductions")

    # What was decided last.
    decided_at = models.DateTimeField(null=True)
    decision = models.TextField(blank=True, help_text="in words: what is done, or why nothing is")
    is_paused = models.BooleanField(default=False)
    paused_by = models.CharField(max_length=150, blank=True)
    paused_at = models.DateTimeField(null=True)
    paused_reason = models.TextField(blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"

    @property
    def identity(self) -> dict[str, str]:
        """What tells it from another table of its name, as the audit log keeps it."""
        raise NotImplementedError


class OptimizeTask(models.Model):
    """One piece of work on one table of either format; at most one is open a table and kind."""

    table = models.ForeignKey(
        "optimizer.IcebergTable", on_delete=models.CASCADE, null=True, related_name="tasks"
    )
    hudi = models.ForeignKey(
        "optimizer.HudiTable", on_delete=models.CASCADE, null=True, related_name="tasks"
    )
    kind = models.CharField(max_length=32, help_text="one of its table's `task_kinds`")
    state = models.CharField(
        max_length=12,
        choices=[(one.value, one.value) for one in TaskState],
        default=TaskState.WAITING.value,
    )
    # True while it is open, null afterwards: MariaDB knows no conditional uniqueness.
    is_open = models.BooleanField(null=True, default=True)
    reason = models.TextField(help_text="reason")
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
    requested_by = models.CharField(max_length=150, blank=True, help_text="empty: by itself")
    created_at = models.DateTimeField()
    event_at = models.DateTimeField(null=True, help_text="when its first commit was received")
    started_at = models.DateTimeField(null=True)
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
            models.Index(fields=["table", "-created_at"], name="optimizer_task_history"),
            models.Index(fields=["hudi", "-created_at"], name="optimizer_hudi_history"),
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
    def subject(self) -> MaintainedTable:
        """The table that it is about, of whichever format."""
        return subject_of(self)

    @property
    def table_format(self) -> str:
        """The format of its table, as filters and the API name it."""
        return format_of(self)

    @property
    def iceberg(self) -> "IcebergTable":
        """The table of a task that only Iceberg tables have."""
        if self.table is None:
            raise LookupError(f"Task {self.pk} is of a Hudi table.")
        return self.table

    @property
    def is_stopping(self) -> bool:
        """Whether a person cancelled it while a run has it; its outcome says who and why."""
        return self.state == TaskState.SENT and self.outcome_code == STOPPED


def format_of(row: models.Model) -> str:
    """Return the format of the table that a task or a list is about."""
    for name, field in TABLE_FIELDS.items():
        if getattr(row, f"{field}_id") is not None:
            return name
    raise LookupError(f"A row is of a table of one of {', '.join(TABLE_FIELDS)}; {row!r} is not.")


def subject_of(row: models.Model) -> MaintainedTable:
    """Return the table that a task or a list is about."""
    return cast("MaintainedTable", getattr(row, TABLE_FIELDS[format_of(row)]))


def table_models() -> list[type[MaintainedTable]]:
    """Return the models of the tables of every format."""
    fields = (OptimizeTask._meta.get_field(name) for name in TABLE_FIELDS.values())
    return [cast("type[MaintainedTable]", field.related_model) for field in fields]
