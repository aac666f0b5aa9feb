"""Records of restore tests, what each compared, and when a database was last proven."""

import uuid
from typing import ClassVar

from django.db import models

from lifecycle.restore_tests.domain import Compared, RestoreTestState


def _choices(states: type[RestoreTestState | Compared]) -> list[tuple[str, str]]:
    return [(state.value, state.value.lower()) for state in states]


class RestoreTest(models.Model):
    """One restore test: a sample of the backups, restored into a scratch database and compared.

    Its scratch is named by its run; while it is not `is_clean` something of it may be left over.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    lake = models.CharField(max_length=32)
    run_id = models.UUIDField(unique=True)
    open_key = models.UUIDField(
        null=True, unique=True, help_text="its lake's while it is under way: there is one at a time"
    )
    state = models.CharField(
        max_length=16, choices=_choices(RestoreTestState), default=RestoreTestState.RUNNING.value
    )
    requested_by = models.CharField(max_length=150)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    sample = models.JSONField(default=list, help_text="the batches drawn")
    n_items = models.PositiveIntegerField(default=0)
    n_verified = models.PositiveIntegerField(default=0)
    n_differing = models.PositiveIntegerField(default=0)
    n_skipped = models.PositiveIntegerField(default=0)
    n_bytes = models.BigIntegerField(default=0)
    n_rows = models.BigIntegerField(default=0)
    reason = models.TextField(blank=True, help_text="why it proves nothing")
    is_clean = models.BooleanField(default=False, help_text="its scratch is gone")

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["lake", "-started_at", "-id"], name="drill_by_time"),
            models.Index(fields=["lake", "is_clean"], name="drill_left_over"),
        ]

    def __str__(self) -> str:
        return f"restore test of {self.started_at:%Y-%m-%d %H:%M}"


class RestoreTestItem(models.Model):
    """One item of a restore test.

    What was compared, what differs, and what is only worth a word.
    """

    restore_test = models.ForeignKey(RestoreTest, on_delete=models.CASCADE, related_name="items")
    lake = models.CharField(max_length=32)
    batch_id = models.UUIDField(help_text="public id of the backup batch")
    day = models.DateField(help_text="the backup's day")
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=128)
    table_owner = models.CharField(max_length=150, blank=True)
    partition = models.CharField(max_length=767, blank=True)
    item = models.CharField(max_length=64, blank=True)
    format = models.CharField(max_length=32, blank=True)
    outcome = models.CharField(max_length=16, choices=_choices(Compared))
    n_files = models.PositiveBigIntegerField(default=0)
    n_bytes = models.BigIntegerField(default=0)
    n_rows = models.BigIntegerField(null=True, help_text="empty = its format is not read here")
    content = models.CharField(max_length=64, blank=True, help_text="sha256 of all its files")
    differences = models.JSONField(default=list)
    remarks = models.JSONField(default=list)
    checked_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["restore_test", "batch_id", "item"], name="drill_item_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "db", "table", "outcome"], name="drill_by_table"),
            models.Index(fields=["lake", "batch_id", "outcome"], name="drill_by_batch"),
            models.Index(fields=["lake", "day", "outcome"], name="drill_by_day"),
            models.Index(fields=["restore_test", "db", "table", "id"], name="drill_in_order"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """What was restored: `db.table` or `db.table/k=v`."""
        name = f"{self.db}.{self.table}"
        return f"{name}/{self.partition}" if self.partition else name

    @property
    def reported(self) -> str:
        """Differences and remarks in one cell."""
        return "; ".join([*self.differences, *self.remarks])


class RestoreVerification(models.Model):
    """When restoring a database's backups was last proven, and when last found wanting.

    What lies in its backups is counted every day and at each restore test, so that no page adds it
    up.
    """

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    verified_at = models.DateTimeField(null=True)
    proven_by = models.ForeignKey(
        RestoreTest, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    failed_at = models.DateTimeField(null=True)
    failed_by = models.ForeignKey(
        RestoreTest, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    backed_up_since = models.DateField(null=True)
    n_restorable = models.PositiveIntegerField(default=0, help_text="batches that can come back")
    n_bytes = models.BigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "db"], name="drill_one_proof_a_database")
        ]

    def __str__(self) -> str:
        return f"proof of {self.db}"
