"""What the guard in the metastore told: who changed LEVEL or TTL, and what any DROP took away."""

import uuid

from django.db import models

from lifecycle.guard.domain import Outcome


class PolicyEvent(models.Model):
    """One change of LEVEL or TTL, or one breach of the guard's rules, with who did it.

    An alarm is open until an admin closes it with a reason.
    """

    lake = models.CharField(max_length=32)
    event_id = models.BigIntegerField(help_text="the event of the metastore's log that told it")
    at = models.DateTimeField()
    operation = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256, blank=True)
    new_name = models.CharField(max_length=400, blank=True, help_text="what it was renamed to")
    owner = models.CharField(max_length=128, blank=True)
    db_owner = models.CharField(max_length=128, blank=True)
    actor = models.CharField(max_length=150, blank=True, help_text="empty where nobody knows")
    outcome = models.CharField(
        max_length=12, choices=[(outcome.value, outcome.value) for outcome in Outcome]
    )
    before = models.JSONField(null=True, help_text="null where LEVEL and TTL stayed as they were")
    after = models.JSONField(null=True)
    rules = models.JSONField(default=list, help_text="[rule, sentence] of each rule it broke")
    is_alarm = models.BooleanField(default=False)
    closed_by = models.CharField(max_length=150, blank=True)
    closed_at = models.DateTimeField(null=True)
    closed_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            # A metastore that was set back hands out its ids again, at other times.
            models.UniqueConstraint(fields=["lake", "event_id", "at"], name="policy_event_once"),
            models.CheckConstraint(
                condition=models.Q(outcome__in=[outcome.value for outcome in Outcome]),
                name="policy_event_outcome",
            ),
        ]
        indexes = [
            models.Index(fields=["lake", "at", "id"], name="policy_event_time"),
            models.Index(fields=["lake", "db", "table", "at"], name="policy_event_table"),
            models.Index(fields=["lake", "is_alarm", "closed_at", "at"], name="policy_event_open"),
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}" if self.table else self.db

    @property
    def deed(self) -> str:
        """The operation as words: "Alter table"."""
        return self.operation.replace("_", " ").capitalize()

    @property
    def is_open(self) -> bool:
        """Whether it is an alarm that nobody has closed."""
        return self.is_alarm and self.closed_at is None


class DroppedObject(models.Model):
    """A table, view or database (`table` empty) as it was when somebody dropped it.

    Metadata only: what became of the files is said by `delete_data` and the table's type.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    lake = models.CharField(max_length=32)
    event_id = models.BigIntegerField()
    dropped_at = models.DateTimeField()
    dropped_by = models.CharField(max_length=150)
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256, blank=True)
    table_type = models.CharField(max_length=32, blank=True)
    owner = models.CharField(max_length=128, blank=True)
    db_owner = models.CharField(max_length=128, blank=True)
    location = models.CharField(max_length=4000, blank=True)
    n_columns = models.IntegerField(null=True)
    n_partitions = models.BigIntegerField(null=True, help_text="null where nobody could count")
    delete_data = models.BooleanField(null=True, help_text="what the DROP asked for; null unknown")
    with_database = models.BooleanField(default=False, help_text="dropped by CASCADE")
    struct = models.TextField(blank=True, help_text="the Thrift object as JSON; empty if too large")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["lake", "event_id", "dropped_at"], name="dropped_object_once"
            )
        ]
        indexes = [
            models.Index(fields=["lake", "dropped_at", "id"], name="dropped_object_time"),
            models.Index(fields=["lake", "db", "table", "id"], name="dropped_object_name"),
            models.Index(fields=["lake", "dropped_by", "dropped_at"], name="dropped_object_by"),
            models.Index(fields=["lake", "owner", "dropped_at"], name="dropped_object_owner"),
            models.Index(fields=["lake", "db_owner"], name="dropped_object_db_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}" if self.table else self.db

    @property
    def kind(self) -> str:
        """Hive's table type as words."""
        return self.table_type.replace("_", " ").lower()
