"""Models of acting: backups, probes, fences and holds.

One row stands for a (run, table, batch); what happened to each item stands in the files beside the
data (records.py), and the rows can be rebuilt from them. Rules are in `lifecycle.backup.services`.
"""

import uuid
from datetime import date
from typing import ClassVar

from django.db import models

from lifecycle.backup.domain.states import BackupState, FenceKind, HoldKind, ProbeState

LAKE_CHARS = 32
NAME_CHARS = 128
PARTITION_CHARS = 767
USER_CHARS = 150
URI_CHARS = 1000


def _choices(
    states: type[BackupState | FenceKind | HoldKind | ProbeState],
) -> list[tuple[str, str]]:
    return [(state.value, state.value.lower().replace("_", " ")) for state in states]


BACKUP_STATES = _choices(BackupState)


class BackupBatch(models.Model):
    """At most 100 items of one table that one run moved into the backup together.

    `run_id` is no foreign key: the catalogue can be rebuilt from the files when the runs are lost.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    lake = models.CharField(max_length=LAKE_CHARS)
    run_id = models.UUIDField()
    epoch = models.PositiveIntegerField()
    db = models.CharField(max_length=NAME_CHARS)
    table = models.CharField(max_length=NAME_CHARS)
    batch = models.PositiveIntegerField()
    day = models.DateField(help_text="approval day in the lake's time zone")
    root = models.CharField(max_length=URI_CHARS)
    path = models.CharField(max_length=URI_CHARS, help_text="the sealed directory that holds it")
    state = models.CharField(max_length=16, choices=BACKUP_STATES)
    is_table = models.BooleanField(help_text="a whole unpartitioned table, not partitions")
    table_owner = models.CharField(max_length=USER_CHARS, blank=True)
    plan_id = models.CharField(max_length=36, blank=True)
    digest = models.CharField(max_length=64, blank=True)
    n_items = models.PositiveIntegerField(default=0)
    n_bytes = models.BigIntegerField(default=0)
    n_files = models.PositiveBigIntegerField(default=0)
    n_restored = models.PositiveIntegerField(default=0)
    restored_bytes = models.BigIntegerField(default=0)
    n_skipped = models.PositiveIntegerField(default=0)
    first_partition = models.CharField(max_length=PARTITION_CHARS, blank=True)
    last_partition = models.CharField(max_length=PARTITION_CHARS, blank=True)
    manifest_sha256 = models.CharField(max_length=64)
    seconds = models.FloatField(null=True, help_text="first rename to metadata drop")
    dropped_at = models.DateTimeField()
    purge_after = models.DateTimeField(
        null=True, help_text="its days, and every hour that the emergency stop was on since"
    )
    purge_tried_at = models.DateTimeField(null=True, help_text="when a purge last came by")
    purge_skipped_reason = models.TextField(blank=True, help_text="why that purge skipped it")
    purged_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run_id", "db", "table", "batch"], name="act_one_row_a_batch"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "-day", "db", "table", "id"], name="act_by_day"),
            models.Index(fields=["lake", "db", "table", "-day"], name="act_by_table"),
            models.Index(fields=["lake", "state", "purge_after"], name="act_by_purge"),
            models.Index(fields=["lake", "dropped_at"], name="act_by_drop"),
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table} #{self.batch} of {self.run_id}"


class BackupTotals(models.Model):
    """What the backups of one day add up to: of one table, or (names empty) of the whole day.

    Brought up to date whenever the day's batches change, so that no page adds batches up.
    """

    lake = models.CharField(max_length=LAKE_CHARS)
    day = models.DateField()
    db = models.CharField(max_length=NAME_CHARS, blank=True)
    table = models.CharField(max_length=NAME_CHARS, blank=True)
    table_owner = models.CharField(max_length=USER_CHARS, blank=True)
    n_tables = models.PositiveIntegerField(default=0)
    n_batches = models.PositiveIntegerField(default=0)
    n_items = models.PositiveBigIntegerField(default=0)
    n_restored = models.PositiveBigIntegerField(default=0)
    n_bytes = models.BigIntegerField(default=0)
    restored_bytes = models.BigIntegerField(default=0)
    purged_bytes = models.BigIntegerField(default=0, help_text="deleted permanently")
    n_files = models.PositiveBigIntegerField(default=0)
    n_restorable = models.PositiveIntegerField(default=0, help_text="batches that can come back")
    restorable_items = models.PositiveBigIntegerField(default=0)
    restorable_bytes = models.BigIntegerField(default=0)
    n_left = models.PositiveIntegerField(default=0, help_text="batches a purge skipped")
    n_purging = models.PositiveIntegerField(default=0)
    n_purged = models.PositiveIntegerField(default=0)
    purge_after = models.DateTimeField(null=True, help_text="the first of what can come back")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["lake", "day", "db", "table", "table_owner"], name="act_totals_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "db", "day"], name="act_totals_by_db"),
            models.Index(fields=["lake", "table_owner", "day"], name="act_totals_by_owner"),
            models.Index(fields=["lake", "purge_after"], name="act_totals_by_purge"),
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table} of {self.day}" if self.db else f"backups of {self.day}"


class BackupProbe(models.Model):
    """One look at a batch after its drop: a late commit at the live path, damage in the backup."""

    batch = models.ForeignKey(BackupBatch, on_delete=models.CASCADE, related_name="probes")
    delay_seconds = models.IntegerField(help_text="after the drop; -1 = right before purge")
    due_at = models.DateTimeField()
    state = models.CharField(
        max_length=16, choices=_choices(ProbeState), default=ProbeState.DUE.value
    )
    run_id = models.UUIDField(null=True)
    done_at = models.DateTimeField(null=True)
    n_late = models.PositiveIntegerField(default=0)
    n_damaged = models.PositiveIntegerField(default=0)
    details = models.JSONField(default=list)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["batch", "delay_seconds"], name="act_one_probe_a_delay")
        ]
        indexes: ClassVar = [models.Index(fields=["state", "due_at"], name="act_probe_due")]

    def __str__(self) -> str:
        return f"{self.batch} after {self.delay_seconds} s"


class ActFence(models.Model):
    """A directory behind which one run acts; closed when the run has been sealed and settled."""

    run_id = models.UUIDField()
    epoch = models.PositiveIntegerField()
    lake = models.CharField(max_length=LAKE_CHARS)
    kind = models.CharField(max_length=8, choices=_choices(FenceKind))
    root = models.CharField(max_length=URI_CHARS)
    day = models.DateField()
    claims = models.JSONField(
        default=list, help_text="backups asked for: [{run, epoch}], `purged` once that is proven"
    )
    opened_at = models.DateTimeField()
    lease_until = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run_id", "epoch", "root", "day"], name="act_one_fence_a_day"
            )
        ]
        indexes: ClassVar = [models.Index(fields=["run_id", "closed_at"], name="act_fence_open")]

    def __str__(self) -> str:
        return f"{self.kind} {self.run_id}/{self.epoch}"


class Savings(models.Model):
    """What drops took out of a lake: of one owner in one database, in a month or in all (`EVER`).

    A row without a database is that of the whole lake. Kept up to date with `BackupTotals`; a month
    is that of the approval, so what comes back or is purged later counts where it was dropped.
    """

    # A date, since databases take any number of empty ones for unique.
    EVER: ClassVar = date(1970, 1, 1)

    lake = models.CharField(max_length=LAKE_CHARS)
    month = models.DateField(help_text="its first day, or EVER")
    db = models.CharField(max_length=NAME_CHARS, blank=True)
    table_owner = models.CharField(max_length=USER_CHARS, blank=True)
    n_dropped = models.PositiveBigIntegerField(default=0)
    n_restored = models.PositiveBigIntegerField(default=0)
    dropped_bytes = models.BigIntegerField(default=0)
    restored_bytes = models.BigIntegerField(default=0)
    purged_bytes = models.BigIntegerField(default=0, help_text="freed for good")
    waiting_bytes = models.BigIntegerField(default=0, help_text="in a backup: freed by its purge")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["lake", "month", "db", "table_owner"], name="act_savings_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "month", "-purged_bytes", "id"], name="act_savings_freed"),
            models.Index(fields=["lake", "month", "table_owner"], name="act_savings_by_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.table_owner} in {self.db or self.lake} {self.month}".strip()


class Hold(models.Model):
    """Nothing under this name may be planned, dropped or purged while it stands."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    lake = models.CharField(max_length=LAKE_CHARS)
    db = models.CharField(max_length=NAME_CHARS)
    table = models.CharField(max_length=NAME_CHARS, blank=True, help_text="empty = the database")
    partition = models.CharField(max_length=PARTITION_CHARS, blank=True, help_text="empty = all")
    kind = models.CharField(max_length=16, choices=_choices(HoldKind))
    until = models.DateTimeField(null=True, help_text="empty = until released")
    reason = models.TextField()
    placed_by = models.CharField(max_length=USER_CHARS)
    placed_at = models.DateTimeField()
    released_by = models.CharField(max_length=USER_CHARS, blank=True)
    released_at = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["lake", "released_at", "db", "table"], name="act_holds_active"),
            models.Index(fields=["lake", "released_at", "placed_at"], name="act_holds_by_time"),
            models.Index(fields=["lake", "placed_by"], name="act_holds_by_person"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} hold on {self.db}.{self.table or '*'} {self.partition}".strip()
