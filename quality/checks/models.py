"""Check sets of tables, what was measured of their windows, verdicts, and overrides of verdicts."""

from typing import ClassVar, Self

from django.db import models

from portal.access.models import User
from portal.access.visibility import visible_to
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from quality.checks.domain.documents import read_parsed
from quality.checks.domain.judge import Outcome, holds_back
from quality.checks.domain.rules import CheckSet as Document
from quality.checks.domain.rules import Severity
from quality.freshness.models import OWNER_LENGTH

EVERY_MINUTES = 60
WINDOW_LENGTH, COMMIT_LENGTH = 256, 64


class CheckSetQuerySet(models.QuerySet["CheckSet"]):
    """Check sets, cut to what somebody may see."""

    def for_user(self, user: User) -> Self:
        """Keep the rows that `user` may see."""
        return self.filter(visible_to(user))


class CheckSet(models.Model):
    """The rules of one table, and when they are measured."""

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256)
    owner = models.CharField(max_length=OWNER_LENGTH, blank=True)
    document = models.JSONField(help_text="as it was read from YAML")
    version = models.PositiveIntegerField(default=0)
    set_by = models.CharField(max_length=150)
    set_at = models.DateTimeField()
    every_minutes = models.PositiveIntegerField(default=EVERY_MINUTES)
    on_commit = models.BooleanField(default=False, help_text="also soon after a commit")
    next_at = models.DateTimeField(help_text="when it is measured next")
    measured_at = models.DateTimeField(null=True)
    is_paused = models.BooleanField(default=False)
    problem = models.TextField(blank=True, help_text="why it could not be measured last time")
    commit = models.CharField(
        max_length=COMMIT_LENGTH, blank=True, help_text="that it was measured at last"
    )
    how_read = models.TextField(blank=True, help_text="whether newer rows were enough, or why not")

    objects = CheckSetQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "db", "table"], name="checks_set_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "next_at"], name="checks_set_next"),
            models.Index(fields=["owner"], name="checks_set_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"

    @property
    def hive(self) -> TableName:
        """The table as the platform knows it."""
        return TableName(LakeId(self.lake), self.db, self.table)

    @property
    def checks(self) -> Document:
        """The rules."""
        return read_parsed(self.document)


class Measurement(models.Model):
    """One metric of one window, as it was measured last."""

    check_set = models.ForeignKey(CheckSet, on_delete=models.CASCADE, related_name="measurements")
    window = models.CharField(max_length=WINDOW_LENGTH, blank=True)
    metric = models.CharField(max_length=200)
    value = models.FloatField(null=True)
    reason = models.CharField(max_length=32, blank=True, help_text="why it has no value")
    detail = models.TextField(blank=True)
    state = models.JSONField(null=True, help_text="what later commits can be merged into")
    commit = models.CharField(
        max_length=COMMIT_LENGTH, blank=True, help_text="snapshot or instant that it is of"
    )
    day = models.CharField(
        max_length=10, blank=True, help_text="of a table without windows: one value for each day"
    )
    measured_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["check_set", "metric", "window", "day"], name="checks_measurement_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["check_set", "measured_at"], name="checks_measurement_time"),
            models.Index(
                fields=["check_set", "metric", "measured_at"], name="checks_measurement_metric"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.metric} of {self.window or self.check_set}"


class RuleResult(models.Model):
    """What a rule says of a window, by its last measurement."""

    check_set = models.ForeignKey(CheckSet, on_delete=models.CASCADE, related_name="results")
    window = models.CharField(max_length=WINDOW_LENGTH, blank=True)
    rule = models.CharField(max_length=100)
    severity = models.CharField(max_length=8, choices=[(one.value, one.value) for one in Severity])
    outcome = models.CharField(max_length=8, choices=[(one.value, one.value) for one in Outcome])
    text = models.TextField(help_text="the value, and what it was compared with")
    value = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    judged_at = models.DateTimeField()
    known_at = models.DateTimeField(
        null=True, help_text="when the value was so; null: when it was judged"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["check_set", "window", "rule"], name="checks_result_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["check_set", "rule", "window"], name="checks_result_rule"),
            models.Index(fields=["check_set", "judged_at"], name="checks_result_time"),
            models.Index(fields=["check_set", "outcome"], name="checks_result_outcome"),
        ]

    def __str__(self) -> str:
        return f"{self.rule} of {self.window or self.check_set}"

    @property
    def badge(self) -> str:
        """What it came to, as pages show it."""
        return f"CHECK_{self.outcome.upper()}"

    @property
    def holds_back(self) -> bool:
        """Whether the window may not become ready by rule unless it is overridden."""
        return holds_back(self.severity, self.outcome)


class Override(models.Model):
    """Lets a window become ready although a blocking rule did not pass; two people say so."""

    result = models.OneToOneField(RuleResult, on_delete=models.CASCADE, related_name="override")
    reason = models.TextField()
    asked_by = models.CharField(max_length=150)
    asked_at = models.DateTimeField()
    confirmed_by = models.CharField(max_length=150, blank=True, help_text="somebody else")
    confirmed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"Override of {self.result}"

    @property
    def holds(self) -> bool:
        """Whether two people said so."""
        return self.confirmed_at is not None


class TakenBack(models.Model):
    """A window of which a partition was last said not to be ready, as its data is written again."""

    check_set = models.ForeignKey(CheckSet, on_delete=models.CASCADE, related_name="taken_back")
    window = models.CharField(max_length=WINDOW_LENGTH, blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["check_set", "window"], name="checks_taken_back_once")
        ]
        indexes: ClassVar = [models.Index(fields=["at"], name="checks_taken_back_time")]

    def __str__(self) -> str:
        return f"{self.window or self.check_set} at {self.at}"


class RuleSample(models.Model):
    """Rows of one window that spoke against a metric when it was measured last."""

    check_set = models.ForeignKey(CheckSet, on_delete=models.CASCADE, related_name="samples")
    window = models.CharField(max_length=WINDOW_LENGTH, blank=True)
    metric = models.CharField(max_length=200)
    columns = models.JSONField()
    rows = models.JSONField(help_text="values as texts, cut; null is NULL")
    measured_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["check_set", "window", "metric"], name="checks_sample_once"
            )
        ]
        indexes: ClassVar = [models.Index(fields=["measured_at"], name="checks_sample_time")]

    def __str__(self) -> str:
        return f"Rows against {self.metric} of {self.window or self.check_set}"


class CheckTrialQuerySet(models.QuerySet["CheckTrial"]):
    """Trials, cut to what somebody may see."""

    def for_user(self, user: User) -> Self:
        """Keep the rows that `user` may see."""
        return self.filter(visible_to(user))


class CheckTrial(models.Model):
    """A draft of a check set whose metrics are measured on past windows, and nothing else."""

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256)
    owner = models.CharField(max_length=OWNER_LENGTH, blank=True)
    document = models.JSONField(help_text="as it was read from YAML")
    asked_by = models.CharField(max_length=150)
    asked_at = models.DateTimeField()
    run_id = models.UUIDField(null=True)
    measured_at = models.DateTimeField(null=True)
    readings = models.JSONField(default=dict, help_text="of each metric's key")
    problem = models.TextField(blank=True)

    objects = CheckTrialQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["lake", "asked_at"], name="checks_trial_time")]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"

    @property
    def hive(self) -> TableName:
        """The table as the platform knows it."""
        return TableName(LakeId(self.lake), self.db, self.table)

    @property
    def checks(self) -> Document:
        """The draft's rules."""
        return read_parsed(self.document)
