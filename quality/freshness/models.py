"""Models of readiness rules and deadlines of tables, and of the status of their partitions."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, Self
from zoneinfo import ZoneInfo

from django.db import models
from django.utils import timezone

from portal.access.models import User
from portal.access.visibility import visible_to
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from quality.freshness.domain.cadence import Cadence, TimeFormat
from quality.freshness.domain.ready_rule import Rule

OWNER_LENGTH = 128
KEY_LENGTH = 128


class FreshnessStatus(StrEnum):
    """How an expected partition stands."""

    MISSING = "MISSING"
    UNREADY = "UNREADY"
    READY = "READY"


class RuleQuerySet(models.QuerySet["FreshnessRule"]):
    """Rules, cut to what somebody may see."""

    def for_user(self, user: User) -> Self:
        """Keep the rows that `user` may see."""
        return self.filter(visible_to(user))


class FreshnessRule(models.Model):
    """What is declared of one table: when its partitions come, by when, and who says ready."""

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256)
    owner = models.CharField(max_length=OWNER_LENGTH, blank=True)
    time_key = models.CharField(max_length=KEY_LENGTH)
    time_format = models.CharField(
        max_length=16, choices=[(one.value, one.value) for one in TimeFormat]
    )
    hour_key = models.CharField(max_length=KEY_LENGTH, blank=True)
    sla_minutes = models.PositiveIntegerField(
        null=True, help_text="ready so long after the period's end at the latest"
    )
    delay_minutes = models.PositiveIntegerField(
        null=True, help_text="ready by rule so long after the period's end"
    )
    min_rows = models.PositiveBigIntegerField(null=True)
    min_files = models.PositiveIntegerField(null=True)
    source_tables = models.JSONField(
        default=list, help_text="db.table, which pipelines must have applied up to then"
    )
    version = models.PositiveIntegerField(default=0)
    set_by = models.CharField(max_length=150)
    set_at = models.DateTimeField()
    noted_until = models.DateTimeField(help_text="periods that ended by then have their row")
    look_at = models.DateTimeField(help_text="when its partitions are checked next")
    inspected_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True, help_text="why the last check failed")

    objects = RuleQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "db", "table"], name="readiness_rule_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "look_at"], name="readiness_rule_look"),
            models.Index(fields=["owner"], name="readiness_rule_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"

    @property
    def hive(self) -> TableName:
        """The table as the platform knows it."""
        return TableName(LakeId(self.lake), self.db, self.table)

    @property
    def rule(self) -> Rule:
        """What sets the flag."""
        delay = None if self.delay_minutes is None else timedelta(minutes=self.delay_minutes)
        return Rule(delay, self.min_rows, self.min_files)

    def cadence(self, zone: ZoneInfo) -> Cadence:
        """When its partitions come, by the wall clock of its lake."""
        return Cadence(self.time_key, TimeFormat(self.time_format), self.hour_key, zone)

    def due_at(self, period_end: datetime) -> datetime | None:
        """Return when a period must be ready; None: no time was declared."""
        if self.sla_minutes is None:
            return None
        return period_end + timedelta(minutes=self.sla_minutes)


class ExpectedPartitionQuerySet(models.QuerySet["ExpectedPartition"]):
    """Awaited partitions, cut to what somebody may see."""

    def for_user(self, user: User) -> Self:
        """Keep the rows that `user` may see."""
        return self.filter(visible_to(user, prefix="rule__"))


class ExpectedPartition(models.Model):
    """One period of a table: the partitions that mean it, and since when they are ready."""

    rule = models.ForeignKey(FreshnessRule, on_delete=models.CASCADE, related_name="expected")
    lake = models.CharField(max_length=32)
    spec = models.CharField(max_length=320, help_text="the part of the name that means it")
    start = models.DateTimeField()
    end = models.DateTimeField(help_text="from then on it is expected")
    due_at = models.DateTimeField(null=True)
    standing = models.CharField(
        max_length=8,
        default=FreshnessStatus.MISSING.value,
        choices=[(one.value, one.value) for one in FreshnessStatus],
    )
    ready_at = models.DateTimeField(null=True)
    ready_by = models.CharField(max_length=150, blank=True, help_text="who said so; rule: the rule")
    reason = models.TextField(blank=True, help_text="why it was set, or what it waits for")
    seen_at = models.DateTimeField(null=True)
    came_late = models.BooleanField(default=False, help_text="it was ready, after its time")
    is_held = models.BooleanField(
        default=False, help_text="said to be not ready after it was: no rule says otherwise"
    )
    is_given_up = models.BooleanField(default=False, help_text="not checked any more")
    notified_at = models.DateTimeField(null=True, help_text="when people were written to")

    objects = ExpectedPartitionQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["rule", "start"], name="readiness_awaited_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "start"], name="readiness_awaited_start"),
            models.Index(fields=["lake", "standing", "due_at"], name="readiness_awaited_late"),
            models.Index(fields=["lake", "came_late", "start"], name="readiness_awaited_came"),
            models.Index(fields=["rule", "standing"], name="readiness_awaited_rule"),
        ]

    def __str__(self) -> str:
        return self.spec

    def late_by(self, now: datetime) -> timedelta | None:
        """Return how late it is, or came; None: it is in time, or no time was declared."""
        at = self.ready_at if self.standing == FreshnessStatus.READY else now
        if self.due_at is None or at is None or at <= self.due_at:
            return None
        return at - self.due_at

    @property
    def late_seconds(self) -> float | None:
        """How late it is now, or came, in seconds."""
        late = self.late_by(timezone.now())
        return None if late is None else late.total_seconds()

    @property
    def waiting_since(self) -> datetime | None:
        """Since when it is expected; None: it is ready."""
        return None if self.standing == FreshnessStatus.READY else self.end
