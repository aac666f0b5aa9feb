"""Models of the follower: its position, its alarms, and the tables that were touched."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from portal.events.gaps import AlarmKind


class EventPosition(models.Model):
    """How far one lake's notifications have been taken in; moved only by compare-and-set."""

    lake = models.CharField(max_length=32, unique=True)
    first_id = models.BigIntegerField(help_text="where following began; nothing is known before")
    position = models.BigIntegerField()
    fence = models.PositiveIntegerField(help_text="epoch of the lease that moved it last")
    newest_id = models.BigIntegerField(help_text="the log's newest id when last read")
    moved_at = models.DateTimeField()
    checked_at = models.DateTimeField()
    clock_behind_seconds = models.PositiveIntegerField(
        default=0, help_text="how far the metastore's clock lay behind ours at least, by new events"
    )
    hole_since = models.DateTimeField(null=True, help_text="when an id was first found missing")

    def __str__(self) -> str:
        return f"{self.lake} at {self.position} of {self.newest_id}"

    @property
    def n_behind(self) -> int:
        """How many events were waiting when the follower last looked."""
        return max(0, self.newest_id - self.position)


class EventAlarm(models.Model):
    """Something was missed: what to read again (`db` empty = the whole lake), until it was."""

    lake = models.CharField(max_length=32)
    kind = models.CharField(max_length=24)
    event_id = models.BigIntegerField()
    db = models.CharField(max_length=128, blank=True, default="")
    table = models.CharField(max_length=256, blank=True, default="")
    subscriber = models.CharField(max_length=64, blank=True, default="")
    detail = models.TextField()
    raised_at = models.DateTimeField()
    rescanned_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["lake", "kind", "event_id", "subscriber"], name="events_alarm_once"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in AlarmKind]), name="events_alarm_kind"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "rescanned_at", "event_id"], name="events_alarm_open")
        ]

    def __str__(self) -> str:
        return f"{self.kind} at {self.event_id} of {self.lake}"


class TableTouch(models.Model):
    """The last event of one table, so that a plan knows what changed since the scan's picture.

    Beside it the last event that made, changed or dropped the table itself, which a later INSERT
    does not hide, and where partitions were put that lie outside their table.
    """

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256)
    event_id = models.BigIntegerField()
    event_type = models.CharField(max_length=32)
    altered_event_id = models.BigIntegerField(default=0, help_text="0: only partitions or data")
    stray_places = models.JSONField(
        default=list, help_text="[event id, location] of partitions put outside their table"
    )
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "db", "table"], name="events_touch_once")
        ]
        indexes: ClassVar = [models.Index(fields=["lake", "event_id"], name="events_touch_since")]

    def __str__(self) -> str:
        return f"{self.event_type} {self.db}.{self.table} at {self.event_id}"
