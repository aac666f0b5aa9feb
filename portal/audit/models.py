"""Models of the audit record. Append-only, each row sealed by the one before."""

from collections.abc import Iterable
from typing import Any, NoReturn

from django.db import models

from portal.lake.errors import RuleViolation

GENESIS = "0" * 64


def _refuse() -> NoReturn:
    raise RuleViolation("audit.append_only", "The audit record is only ever added to.")


class AuditEventQuerySet(models.QuerySet["AuditEvent"]):
    """Reads and appends; refuses every other write."""

    def update(self, **kwargs: Any) -> int:
        """Refuse."""
        _refuse()

    def bulk_update(self, objs: Any, fields: Iterable[str], batch_size: int | None = None) -> int:
        """Refuse."""
        _refuse()

    def delete(self) -> tuple[int, dict[str, int]]:
        """Refuse."""
        _refuse()


class AuditEvent(models.Model):
    """One thing that happened; `hash` covers every field and the previous row's hash."""

    seq = models.BigIntegerField(unique=True)
    at = models.DateTimeField()
    action = models.CharField(max_length=64)
    actor = models.CharField(max_length=150)
    lake = models.CharField(max_length=32)
    object_type = models.CharField(max_length=64)
    object_id = models.CharField(max_length=300)
    data = models.JSONField(default=dict)
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    objects = AuditEventQuerySet.as_manager()

    class Meta:
        ordering = ["-seq"]
        indexes = [
            models.Index(fields=["lake", "object_type", "object_id"], name="audit_by_object"),
            models.Index(fields=["lake", "action", "seq"], name="audit_by_action"),
            models.Index(fields=["lake", "actor", "seq"], name="audit_by_actor"),
            models.Index(fields=["lake", "seq"], name="audit_by_lake"),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.action} {self.object_type} {self.object_id}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert once; refuse to change a row."""
        if self.pk is not None:
            _refuse()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Refuse."""
        _refuse()


class AuditHead(models.Model):
    """The one row that is locked to append: where the chain ends."""

    name = models.CharField(max_length=16, unique=True)
    seq = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64, default=GENESIS)

    def __str__(self) -> str:
        return f"{self.name} at {self.seq}"


class LastAnchor(models.Model):
    """The one row that says when the head was last anchored, on whichever host that was.

    The files of anchors are for the supervisors' account alone, and monitors ask the web process.
    """

    name = models.CharField(max_length=16, unique=True)
    signed = models.CharField(max_length=200)

    def __str__(self) -> str:
        return self.name
