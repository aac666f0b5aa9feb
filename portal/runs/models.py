"""Models that hold the truth about runs. A message is only a hint that carries the id of a row."""

import uuid

from django.db import models

from portal.runs.domain import FINAL, RunState


class Run(models.Model):
    """One piece of work with its state, its claim, its application and its outcome."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lake = models.CharField(max_length=32)
    kind = models.CharField(max_length=64)
    queue = models.CharField(max_length=16, default="default")
    state = models.CharField(max_length=16, default=RunState.QUEUED.value)
    epoch = models.PositiveIntegerField(default=0)
    requested_by = models.CharField(max_length=150)
    reason = models.TextField(blank=True, default="")
    params = models.JSONField(default=dict)
    unique_key = models.CharField(max_length=200, null=True, unique=True)  # noqa: DJ001 - NULL = no key
    subject_type = models.CharField(max_length=64, blank=True, default="")
    subject_id = models.CharField(max_length=300, blank=True, default="")

    tag = models.CharField(max_length=64, blank=True, default="")
    host = models.CharField(max_length=255, blank=True, default="")
    pid = models.BigIntegerField(null=True)
    pid_started = models.FloatField(null=True)
    pgid = models.BigIntegerField(null=True)
    spool = models.CharField(max_length=1000, blank=True, default="")
    application_id = models.CharField(max_length=128, blank=True, default="")
    submission = models.JSONField(null=True)
    """What is needed to find its application: master, mode, addresses. NULL = as its lake says."""
    lease_owner = models.CharField(max_length=255, blank=True, default="")
    lease_until = models.DateTimeField(null=True)

    is_routine = models.BooleanField(default=False)
    """What the schedule starts all day, as long as it has not failed: lists may leave it out."""

    queued_at = models.DateTimeField()
    last_published_at = models.DateTimeField(null=True)
    n_messages = models.PositiveIntegerField(default=0)
    claimed_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField(null=True)
    settling_at = models.DateTimeField(null=True)
    n_settles = models.PositiveIntegerField(default=0)
    finished_at = models.DateTimeField(null=True)

    silent_since = models.DateTimeField(null=True)
    silence = models.JSONField(null=True)
    phase = models.CharField(max_length=64, blank=True, default="")
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(default=0)
    message = models.CharField(max_length=500, blank=True, default="")
    progress_n = models.IntegerField(default=0)
    error = models.JSONField(null=True)
    result = models.JSONField(null=True)
    results_removed_at = models.DateTimeField(null=True)
    cancel_requested_by = models.CharField(max_length=150, blank=True, default="")
    cancel_requested_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in RunState]),
                name="runs_known_state",
            )
        ]
        indexes = [
            models.Index(fields=["lake", "queued_at", "id"], name="runs_by_time"),
            models.Index(fields=["lake", "is_routine", "queued_at", "id"], name="runs_by_routine"),
            models.Index(fields=["lake", "state", "queued_at"], name="runs_by_state"),
            models.Index(fields=["lake", "kind", "queued_at", "id"], name="runs_by_kind"),
            models.Index(fields=["lake", "queue", "queued_at"], name="runs_by_queue"),
            models.Index(fields=["lake", "requested_by", "queued_at", "id"], name="runs_by_person"),
            models.Index(fields=["state", "lease_until"], name="runs_by_lease"),
            models.Index(
                fields=["lake", "kind", "results_removed_at", "finished_at"], name="runs_by_results"
            ),
            models.Index(fields=["lake", "subject_type", "subject_id"], name="runs_by_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id} {self.state}"

    @property
    def is_final(self) -> bool:
        """Say whether nothing more will happen to the run."""
        return self.state in FINAL


class RunEvent(models.Model):
    """One line of a run's log, as people read it."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    at = models.DateTimeField()
    level = models.CharField(max_length=8)
    text = models.TextField()

    class Meta:
        ordering = ["run", "seq"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="runs_event_order")]

    def __str__(self) -> str:
        return f"{self.seq} {self.level} {self.text}"


class Outbox(models.Model):
    """A message that must reach the broker, written in the transaction that made it true."""

    topic = models.CharField(max_length=16)
    row_id = models.CharField(max_length=64)
    queue = models.CharField(max_length=16)
    created_at = models.DateTimeField()
    not_before = models.DateTimeField()
    published_at = models.DateTimeField(null=True)
    n_attempts = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        verbose_name_plural = "outbox"
        indexes = [models.Index(fields=["published_at", "not_before"], name="runs_outbox_due")]

    def __str__(self) -> str:
        return f"{self.topic} {self.row_id}"


class Lease(models.Model):
    """Who leads: one row a role, taken by a conditional UPDATE, lost when it is not renewed."""

    name = models.CharField(max_length=100, unique=True)
    holder = models.CharField(max_length=255)
    epoch = models.PositiveIntegerField(default=1)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} held by {self.holder}"
