"""Hudi tables, what the last inspection of each found, and how that changed."""

import json
import zlib
from typing import ClassVar

from django.db import models

from optimizer.core.models import MaintainedTable
from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.maintenance.domain.tasks import LISTED, TASKS

INSTANT_CHARS = 32


class HudiTable(MaintainedTable):
    """One table as the metastore last told of it; counts and findings are those of its last look.

    A name may come to mean a table at another place: `location` tells which one this is.
    """

    table_format = "hudi"
    task_kinds = tuple(TASKS)
    listed_kinds = LISTED
    not_shown = ("findings", "deductions", "decisions", "decision")

    place = models.CharField(max_length=64, help_text="sha256 of the location")
    properties = models.JSONField(
        default=dict, help_text="of the metastore's, those that say who does what"
    )

    # What the last look at its timeline and files found; null until it was looked at.
    include_logs = models.BooleanField(
        default=False, help_text="the next inspection reads its log files"
    )
    wants_keys = models.BooleanField(
        default=False, help_text="the next inspection compares its keys"
    )
    logs_read_at = models.DateTimeField(null=True)
    keys_read_at = models.DateTimeField(null=True)
    unseen = models.JSONField(
        default=list, help_text="in words: what the last inspection cannot tell"
    )
    table_type = models.CharField(max_length=16, blank=True)
    version = models.PositiveSmallIntegerField(null=True, help_text="hoodie.table.version")
    findings = models.JSONField(default=list, help_text="what is wrong, the worst first")
    n_critical = models.PositiveIntegerField(default=0)
    n_warnings = models.PositiveIntegerField(default=0)
    n_pending = models.PositiveIntegerField(null=True, help_text="plans that are not executed")
    n_stuck = models.PositiveIntegerField(null=True)
    n_file_groups = models.BigIntegerField(null=True)
    base_bytes = models.BigIntegerField(null=True)
    log_bytes = models.BigIntegerField(null=True)
    written_at = models.DateTimeField(null=True, help_text="its newest completed write")
    stale_since = models.DateTimeField(
        null=True, help_text="the oldest write that its read-optimized view lacks"
    )

    # What was decided last.
    decisions = models.JSONField(default=list, help_text="of each step of each service, and why")
    is_continuous = models.BooleanField(
        default=False, help_text="a service shall stay with it, by its policy as last decided on"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["lake", "db", "table", "place"], name="optimizer_hudi_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "is_deleted", "health"], name="optimizer_hudi_by_health"),
            models.Index(fields=["inspect_due_at"], name="optimizer_hudi_look_due"),
            models.Index(fields=["lake", "is_continuous"], name="optimizer_hudi_resident"),
        ]

    @property
    def n_bytes(self) -> int | None:
        """The bytes of its newest files; None where nobody has looked yet."""
        return None if self.base_bytes is None else self.base_bytes + (self.log_bytes or 0)

    @property
    def identity(self) -> dict[str, str]:
        """What tells it from another table of its name, as the audit log keeps it."""
        return {"location": self.location}


class HudiAlarm(models.Model):
    """One thing that looks find wrong with a table, from the first of them until one does not."""

    table = models.ForeignKey(HudiTable, on_delete=models.CASCADE, related_name="alarms")
    code = models.CharField(max_length=32, help_text="of the finding")
    # True while it is open, null then: MariaDB knows no conditional uniqueness.
    is_open = models.BooleanField(null=True, default=True)
    severity = models.CharField(max_length=16)
    words = models.TextField()
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    notified_at = models.DateTimeField(null=True, help_text="when people were written to")
    resolved_notified_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["table", "code", "is_open"], name="optimizer_hudi_alarm_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["is_open", "code"], name="optimizer_hudi_alarm_open")
        ]

    def __str__(self) -> str:
        return f"{self.code} of {self.table_id}"


class StoredInspection(models.Model):
    """All that the last look at a table found, packed: it is read for that table's pages alone."""

    table = models.OneToOneField(
        HudiTable, on_delete=models.CASCADE, related_name="stored_look", primary_key=True
    )
    at = models.DateTimeField()
    packed = models.BinaryField(help_text="the inspection's JSON, deflated")

    def __str__(self) -> str:
        return f"{self.table_id} at {self.at:%Y-%m-%d %H:%M}"

    def look(self) -> HudiInspection:
        """Unpack it.

        Raises:
            RuleViolation: `hudi.look`, it was stored in another form.
        """
        return self.unpack(self.packed)

    @staticmethod
    def unpack(packed: bytes | memoryview) -> HudiInspection:
        """Read what `pack` gave.

        Raises:
            RuleViolation: `hudi.look`, it was stored in another form.
        """
        return HudiInspection.from_dict(json.loads(zlib.decompress(packed)))

    @staticmethod
    def pack(look: HudiInspection) -> bytes:
        """Return what `packed` holds of a look; a slice of a file group takes some 20 bytes."""
        return zlib.compress(json.dumps(look.as_dict()).encode())


class HudiInstant(models.Model):
    """An instant of a table as its last look found it; search finds it by its id."""

    table = models.ForeignKey(HudiTable, on_delete=models.CASCADE, related_name="instants")
    instant = models.CharField(max_length=INSTANT_CHARS)
    action = models.CharField(max_length=32)
    state = models.CharField(max_length=16)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["table", "instant", "action"], name="optimizer_hudi_instant_once"
            )
        ]
        indexes: ClassVar = [models.Index(fields=["instant"], name="optimizer_hudi_instant")]

    def __str__(self) -> str:
        return f"{self.instant} of {self.table_id}"


class HudiPoint(models.Model):
    """A table's health and staleness at one look, for the trend."""

    table = models.ForeignKey(HudiTable, on_delete=models.CASCADE, related_name="trend")
    at = models.DateTimeField()
    health = models.FloatField(null=True)
    stale_seconds = models.FloatField(default=0)
    n_uncompacted = models.PositiveIntegerField(default=0, help_text="delta commits only in logs")
    n_pending = models.PositiveIntegerField(default=0)
    log_bytes = models.BigIntegerField(default=0)
    base_bytes = models.BigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["table", "at"], name="optimizer_hudi_point_once")
        ]

    def __str__(self) -> str:
        return f"{self.table_id} at {self.at:%Y-%m-%d %H:%M}"
