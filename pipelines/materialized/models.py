"""Materializations of a lake, and what each refresh of one came to."""

from typing import ClassVar, Self

from django.db import models

from pipelines.materialized.domain.advising import AdviceState
from pipelines.materialized.domain.definition import Definition, read_definition
from pipelines.materialized.domain.messages import COUNTS
from portal.access.models import User
from portal.access.visibility import of_staffed_lakes
from portal.lake.ids import LakeId
from portal.lake.names import TableName

EVERY_MINUTES = 15
PAUSE_MINUTES = 5


class MaterializationQuerySet(models.QuerySet["Materialization"]):
    """Materializations, cut to what somebody may see."""

    def for_user(self, user: User) -> Self:
        """Keep those that `user` may see: admins and operators all, others their own."""
        if not user.is_authenticated:
            return self.none()
        mine = models.Q(owner=user.username)
        return self.filter(of_staffed_lakes(user, otherwise=mine))


class Materialization(models.Model):
    """One definition and the table in which its result is kept."""

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128, help_text="of the table with the result")
    table = models.CharField(max_length=128)
    location = models.CharField(max_length=1024)
    identity = models.UUIDField(help_text="in the commits of the table: whose it is")
    owner = models.CharField(max_length=150, help_text="by whose rights the sources are read")
    sql = models.TextField()
    source = models.CharField(max_length=400, blank=True, help_text="db.table of the facts")
    max_lag_minutes = models.PositiveIntegerField(
        default=0, help_text="queries are answered from it up to so long behind its sources"
    )
    every_minutes = models.PositiveIntegerField(default=EVERY_MINUTES)
    on_commit = models.BooleanField(default=False, help_text="also after a commit of its facts")
    pause_minutes = models.PositiveIntegerField(
        default=PAUSE_MINUTES, help_text="commits refresh it at most so often"
    )
    earliest_at = models.DateTimeField(null=True, help_text="no commit refreshes it before")
    is_paused = models.BooleanField(default=False)
    version = models.PositiveIntegerField(default=0)
    set_by = models.CharField(max_length=150)
    set_at = models.DateTimeField()
    next_at = models.DateTimeField(help_text="when it is refreshed next")
    tried_at = models.DateTimeField(null=True, help_text="when the last refresh ended")
    fresh_at = models.DateTimeField(null=True, help_text="its sources up to then are in it")
    problem = models.TextField(blank=True, help_text="why it could not be refreshed last time")
    problem_code = models.CharField(max_length=64, blank=True)
    way = models.CharField(max_length=16, blank=True, help_text="of the last refresh")
    reason = models.TextField(blank=True, help_text="why it went that way")
    has_floats = models.BooleanField(default=False)
    n_groups = models.BigIntegerField(default=0)
    n_dirty_groups = models.BigIntegerField(default=0)
    seconds = models.FloatField(default=0)
    n_rows = models.BigIntegerField(default=0, help_text="rows of the sources that are in it")
    types = models.JSONField(default=dict, help_text="of its dimensions and arguments, as Spark's")
    positions = models.JSONField(default=dict, help_text="commits of the sources, by table")

    objects = MaterializationQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "db", "table"], name="materialized_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "next_at"], name="materialized_next"),
            models.Index(fields=["owner"], name="materialized_owner"),
            models.Index(fields=["lake", "source"], name="materialized_source"),
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"

    @property
    def hive(self) -> TableName:
        """The table with the result as the platform knows it."""
        return TableName(LakeId(self.lake), self.db, self.table)

    @property
    def definition(self) -> Definition:
        """The definition as it was checked."""
        return read_definition(self.sql)

    @property
    def own_tables(self) -> list[str]:
        """The tables that it makes: that of the result, and that of counts of distinct values."""
        return [str(self), f"{self}{COUNTS}"] if self.definition.distinct else [str(self)]

    @property
    def badge(self) -> str:
        """How it stands, as pages show it."""
        if self.problem:
            return "MATERIALIZED_PROBLEM"
        if self.is_paused:
            return "MATERIALIZED_PAUSED"
        return "MATERIALIZED_FRESH" if self.fresh_at else "MATERIALIZED_NEW"


class MaterializationRefresh(models.Model):
    """What one refresh came to."""

    materialization = models.ForeignKey(
        Materialization, on_delete=models.CASCADE, related_name="refreshes"
    )
    run = models.CharField(max_length=64)
    requested_by = models.CharField(max_length=150)
    ended_at = models.DateTimeField()
    state = models.CharField(max_length=16, help_text="done or failed")
    way = models.CharField(max_length=16, blank=True, help_text="incremental, full or nothing")
    reason = models.TextField(blank=True)
    n_groups = models.BigIntegerField(default=0)
    n_changed_groups = models.BigIntegerField(default=0)
    n_dirty_groups = models.BigIntegerField(default=0)
    n_commits = models.PositiveIntegerField(default=0)
    changed_bytes = models.BigIntegerField(default=0)
    all_bytes = models.BigIntegerField(default=0)
    seconds = models.FloatField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["materialization", "run"], name="materialized_refresh_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["materialization", "ended_at"], name="materialized_refresh_last")
        ]

    def __str__(self) -> str:
        return f"{self.materialization} at {self.ended_at}"

    @property
    def badge(self) -> str:
        """What it came to, as pages show it."""
        return "REFRESH_FAILED" if self.state == "failed" else f"REFRESH_{self.way.upper()}"


class MaterializationDay(models.Model):
    """What a materialization answered on one day, and what its refreshes cost."""

    materialization = models.ForeignKey(
        Materialization, on_delete=models.CASCADE, related_name="days"
    )
    day = models.DateField(help_text="in UTC")
    n_answers = models.BigIntegerField(default=0, help_text="queries that were answered from it")
    bytes_spared = models.BigIntegerField(
        default=0, help_text="of its sources, which these queries would have read at most"
    )
    answered_at = models.DateTimeField(null=True, help_text="the last query of the day")
    n_reads = models.BigIntegerField(
        default=0, help_text="queries that read its table by name, as engines told"
    )
    n_refreshes = models.BigIntegerField(default=0)
    seconds = models.FloatField(default=0, help_text="of its refreshes")
    bytes_read = models.BigIntegerField(default=0, help_text="of the sources, by its refreshes")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["materialization", "day"], name="materialized_day_once")
        ]

    def __str__(self) -> str:
        return f"{self.materialization} on {self.day}"


class MaterializationAdvice(models.Model):
    """A materialization that repeated queries speak for, or one that nobody reads any more."""

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128, help_text="of the table of facts")
    table = models.CharField(max_length=128)
    state = models.CharField(
        max_length=16,
        choices=[(one.value, one.value) for one in AdviceState],
        default=AdviceState.NEW.value,
    )
    # True while it is new or applied, null afterwards: MariaDB knows no conditional uniqueness.
    is_open = models.BooleanField(null=True, default=True)
    gives_up = models.BooleanField(default=False, help_text="it pauses what nobody reads")
    materialization = models.ForeignKey(
        Materialization,
        on_delete=models.SET_NULL,
        null=True,
        related_name="advice",
        help_text="that came of it, or that it gives up",
    )
    name = models.CharField(max_length=257, help_text="for the table with the result")
    sql = models.TextField()
    digest = models.CharField(max_length=64, help_text="sha256 of the SQL")
    reason = models.TextField(help_text="what speaks for it")
    n_queries = models.BigIntegerField(help_text="that it stands on, in four weeks")
    n_days = models.PositiveIntegerField(help_text="on which they came")
    n_bytes = models.BigIntegerField(help_text="that they read of the table")
    seconds = models.FloatField(default=0, help_text="that they took")
    groupings = models.JSONField(default=list, help_text="of these queries, without constants")
    made_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(help_text="when the log last said the same")
    decided_by = models.CharField(max_length=150, blank=True)
    decided_at = models.DateTimeField(null=True)
    why = models.TextField(blank=True, help_text="of the decision")
    measured_from = models.DateField(null=True, help_text="the day after its first refresh")
    n_asked = models.BigIntegerField(null=True, help_text="such queries since, not answered by it")
    n_answered = models.BigIntegerField(null=True, help_text="queries since that it answered")

    class Meta:
        verbose_name_plural = "materialization advice"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["lake", "db", "table", "digest", "is_open"],
                name="materialized_advice_once",
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "state", "made_at"], name="materialized_advice_list")
        ]

    def __str__(self) -> str:
        return f"{'pause ' if self.gives_up else ''}{self.name}"

    @property
    def facts(self) -> str:
        """The table of facts."""
        return f"{self.db}.{self.table}"

    @property
    def badge(self) -> str:
        """Where it stands, as pages show it."""
        return f"MATERIALIZATION_ADVICE_{self.state}"

    @property
    def said(self) -> str:
        """What speaks for it or, once it is decided with a reason, that one."""
        return self.why or self.reason

    @property
    def answered_share(self) -> float | None:
        """Of a hundred such queries since its first refresh, how many it answered."""
        n = (self.n_asked or 0) + (self.n_answered or 0)
        return 100 * (self.n_answered or 0) / n if n else None
