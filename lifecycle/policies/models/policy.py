"""What people set per database, what was announced to whom, and what OBSERVE would have done."""

import uuid
from datetime import date

from django.core.validators import MinValueValidator
from django.db import models

from lifecycle.core.domain.days import LEAST_BACKUP, LEAST_NOTICE
from lifecycle.core.domain.modes import DatabaseMode
from portal.notices.models import NoticeState

MIN_BACKUP_DAYS = LEAST_BACKUP
NOTICE_DAYS = LEAST_NOTICE


class DatabaseSetting(models.Model):
    """How far a database is trusted and by which path template it is judged; no row = OBSERVE."""

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    mode = models.CharField(
        max_length=8,
        choices=[(mode.value, mode.value) for mode in DatabaseMode],
        default=DatabaseMode.OBSERVE.value,
    )
    template = models.CharField(
        max_length=512,
        blank=True,
        help_text="Where its paths must be; empty = /user/<owner>/.",
    )
    notice_days = models.PositiveSmallIntegerField(
        default=NOTICE_DAYS, validators=[MinValueValidator(1)]
    )
    backup_days = models.PositiveSmallIntegerField(
        default=MIN_BACKUP_DAYS, validators=[MinValueValidator(MIN_BACKUP_DAYS)]
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["lake", "db"], name="database_setting_once"),
            models.CheckConstraint(
                condition=models.Q(backup_days__gte=MIN_BACKUP_DAYS),
                name="backup_days_at_least_15",
            ),
            models.CheckConstraint(
                condition=models.Q(notice_days__gte=1), name="notice_days_at_least_1"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.db} {self.mode}"


class PathException(models.Model):
    """An approved, expiring exception of one table or database from one path rule."""

    public_id = models.UUIDField(default=uuid.uuid4, editable=False, unique=True)
    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256, blank=True, help_text="empty = the database itself")
    rule = models.CharField(max_length=32, help_text="The rule that is waived.")
    justification = models.TextField()
    until = models.DateField(help_text="The last day on which it counts.")
    requested_by = models.CharField(max_length=150)
    approved_by = models.JSONField(default=list)
    granted_at = models.DateTimeField()
    request = models.OneToOneField(
        "lifecycle.PolicyRequest", on_delete=models.PROTECT, related_name="path_exception"
    )
    ended_at = models.DateTimeField(null=True, help_text="When somebody ended it before its day.")
    ended_by = models.CharField(max_length=150, blank=True)
    end_reason = models.TextField(blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["lake", "until"], name="path_waiver_until"),
            models.Index(fields=["lake", "db", "table"], name="path_waiver_name"),
            models.Index(fields=["lake", "granted_at", "id"], name="path_waiver_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.rule} until {self.until}"

    @property
    def name(self) -> str:
        """What it is about: `db` or `db.table`."""
        return f"{self.db}.{self.table}" if self.table else self.db


class NoticeCoverage(models.Model):
    """What one notice told one person about one table; counts once that notice has been sent.

    It covers items due up to `horizon_on` that existed when the scan read them (`read_at`) and were
    last updated no later than `as_of`, under the same level and ttl.
    """

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256)
    tbl_id = models.BigIntegerField()
    level = models.IntegerField()
    ttl = models.IntegerField()
    horizon_on = models.DateField()
    as_of = models.DateTimeField()
    read_at = models.DateTimeField()
    notice = models.ForeignKey("notices.Notice", on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["notice", "tbl_id"], name="coverage_once_a_notice")
        ]
        indexes = [models.Index(fields=["lake", "tbl_id"], name="coverage_table")]

    def __str__(self) -> str:
        return f"{self.db}.{self.table} until {self.horizon_on}"

    @property
    def sent_on(self) -> date | None:
        """The day on which the mail server took the notice; None until then."""
        return self.notice.sent_on if self.notice.state == NoticeState.SENT else None


class DryRunCounts(models.Model):
    """What would have gone on one day of OBSERVE, and what of it was used again by then."""

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    day = models.DateField()
    n_due = models.BigIntegerField(default=0)
    n_bytes_due = models.BigIntegerField(default=0)
    n_new = models.BigIntegerField(default=0, help_text="Due today and not the day before.")
    n_bytes_new = models.BigIntegerField(default=0)
    n_written_again = models.BigIntegerField(default=0)
    n_read_again = models.BigIntegerField(default=0)
    n_bytes_again = models.BigIntegerField(
        default=0, help_text="Size when it would have been dropped."
    )
    examples = models.JSONField(default=list, help_text="Some items that were used again.")

    class Meta:
        abstract = True


class DryRunRecord(DryRunCounts):
    """One day of OBSERVE: what would have gone, and what of the day before's was used again."""

    class Meta(DryRunCounts.Meta):
        abstract = False
        constraints = [
            models.UniqueConstraint(fields=["lake", "db", "day"], name="shadow_record_once")
        ]

    def __str__(self) -> str:
        return f"{self.db} {self.day}"


class DryRunTable(DryRunCounts):
    """One table's share of a day; a table of which nothing changed that day has no row."""

    table = models.CharField(max_length=256)

    class Meta(DryRunCounts.Meta):
        abstract = False
        constraints = [
            models.UniqueConstraint(fields=["lake", "db", "table", "day"], name="shadow_table_once")
        ]
        indexes = [models.Index(fields=["lake", "day"], name="shadow_table_day")]

    def __str__(self) -> str:
        return f"{self.db}.{self.table} {self.day}"
