"""Advice on tables: what it would change, what it stands on, and what people made of it."""

from collections.abc import Mapping
from typing import ClassVar

from django.db import models

from optimizer.advice.domain.states import AdviceState, TrialState
from optimizer.advice.domain.subjects import Subject, text_of
from optimizer.iceberg.tables.models import IcebergTable

_GIVES_UP: Mapping[Subject, str] = {
    Subject.LAYOUT: "Give up the layout",
    Subject.INDEXES: "Give up the index of",
    Subject.CUBE: "Pause cube",
}


class Advice(models.Model):
    """One change that recorded scans or queries speak for; it is never deleted."""

    table = models.ForeignKey(IcebergTable, on_delete=models.CASCADE, related_name="advice")
    state = models.CharField(
        max_length=16,
        choices=[(one.value, one.value) for one in AdviceState],
        default=AdviceState.NEW.value,
    )
    # True while it is new or applied, null afterwards: MariaDB knows no conditional uniqueness.
    # A cube that has shown that it pays is not open any more, so that another can be advised.
    is_open = models.BooleanField(null=True, default=True)
    subject = models.CharField(
        max_length=16,
        choices=[(one.value, one.value) for one in Subject],
        default=Subject.LAYOUT.value,
        help_text="the field of the policy that it would set, or `cube`",
    )
    gives_up = models.BooleanField(default=False, help_text="it takes away what nobody uses")
    proposed = models.CharField(
        max_length=2200,
        help_text="to what, such as hilbert(a,b), or columns: id, user_id:bloom; or a cube",
    )
    before = models.CharField(max_length=2200, blank=True, help_text="of the table's policy then")
    expected = models.FloatField(help_text="bytes that would be planned, of one planned then")
    bytes_a_day = models.BigIntegerField(help_text="planned by recorded scans then")
    rewrite_bytes = models.BigIntegerField(help_text="that taking it once would rewrite")
    n_scans = models.BigIntegerField(help_text="that it stands on")
    n_days = models.PositiveIntegerField(help_text="on which they came")
    evidence = models.JSONField(
        help_text="shapes of filters or groupings, what was tried, the sample"
    )
    run = models.UUIDField(null=True)
    made_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(help_text="when a run last came to the same")
    decided_by = models.CharField(max_length=150, blank=True)
    decided_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True, help_text="of the decision")
    applied_at = models.DateTimeField(null=True, help_text="when the policy took it")
    # What is compared: scans of the same filters up to then, and since rows lie so.
    n_before = models.BigIntegerField(null=True)
    bytes_before = models.BigIntegerField(null=True)
    measured_from = models.DateTimeField(null=True, help_text="when the first such task had ended")
    n_already = models.BigIntegerField(default=0, help_text="of that day, before that time")
    bytes_already = models.BigIntegerField(default=0)
    n_after = models.BigIntegerField(null=True, help_text="since then, as last counted")
    bytes_after = models.BigIntegerField(null=True)
    trial_state = models.CharField(
        max_length=16,
        blank=True,
        choices=[(one.value, one.value) for one in TrialState],
        help_text="of its last trial on a branch: under way, or what it showed",
    )

    class Meta:
        verbose_name_plural = "advice"
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["table", "subject", "is_open"], name="optimizer_advice_open_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["table", "made_at"], name="optimizer_advice_of"),
        ]

    def __str__(self) -> str:
        return f"{self.change} for {self.table}"

    @property
    def change(self) -> str:
        """What it changes, in a few words."""
        if self.gives_up:
            named = text_of(self.evidence.get("columns"))
            return f"{_GIVES_UP[Subject(self.subject)]} {named}"
        if self.subject == Subject.LAYOUT:
            return self.proposed
        if self.subject == Subject.CUBE:
            return f"Cube {self.cube_name}"
        return f"Index {text_of(self.evidence.get('columns'))}"

    @property
    def cube_name(self) -> str:
        """The name of an advised cube."""
        return self.proposed.partition(":")[0]

    @property
    def saved_a_day(self) -> int:
        """Bytes a day that recorded scans would not plan any more."""
        return int(self.bytes_a_day * (1 - self.expected))

    @property
    def measured(self) -> float | None:
        """Bytes planned a scan since the rewrite, of one before; None as long as none was seen.

        Of a cube: bytes that were read since, of those that would have been read without it.
        """
        if self.subject == Subject.CUBE:
            since = self.evidence.get("since") or {}
            whole = since.get("n_bytes", 0) + since.get("n_bytes_saved", 0)
            return since.get("n_bytes", 0) / whole if whole and self.n_after else None
        if not (self.n_before and self.bytes_before and self.n_after):
            return None
        return (self.bytes_after or 0) / self.n_after / (self.bytes_before / self.n_before)

    @property
    def measured_percent(self) -> float | None:
        """The same in a hundred."""
        return None if self.measured is None else 100 * self.measured

    @property
    def expected_percent(self) -> float:
        """Of a hundred bytes planned then, how many would be planned."""
        return 100 * self.expected


class Trial(models.Model):
    """One trial of an advised layout on a branch of its table, and what it showed."""

    advice = models.ForeignKey(Advice, on_delete=models.CASCADE, related_name="trials")
    state = models.CharField(
        max_length=16,
        choices=[(one.value, one.value) for one in TrialState],
        default=TrialState.RUNNING.value,
    )
    # True while it is under way, null afterwards: MariaDB knows no conditional uniqueness.
    is_open = models.BooleanField(null=True, default=True)
    run = models.UUIDField(null=True)
    requested_by = models.CharField(max_length=150)
    requested_at = models.DateTimeField()
    reason = models.TextField(help_text="of the request")
    ended_at = models.DateTimeField(null=True)
    seconds = models.FloatField(null=True)
    bytes_written = models.BigIntegerField(null=True, help_text="to the branch")
    # Of the bytes that the same queries plan; the interval has a confidence of 95 %.
    saved = models.FloatField(null=True)
    low = models.FloatField(null=True, help_text="null: too few queries to tell")
    high = models.FloatField(null=True)
    n_queries = models.PositiveIntegerField(null=True)
    n_worse = models.PositiveIntegerField(null=True, help_text="queries that plan more")
    outcome = models.TextField(blank=True, help_text="in words: what it showed, or why it failed")
    evidence = models.JSONField(default=dict, help_text="partitions, shapes, the limit, the base")
    branch = models.CharField(max_length=128, blank=True)
    cleaned_at = models.DateTimeField(null=True, help_text="when branch and files were gone again")
    clean_after = models.DateTimeField(null=True, help_text="when that is tried again")
    cleanup = models.TextField(blank=True, help_text="what is left of it, and why")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["advice", "is_open"], name="optimizer_trial_open_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["cleaned_at", "is_open"], name="optimizer_trial_left"),
            models.Index(fields=["run"], name="optimizer_trial_run"),
        ]

    def __str__(self) -> str:
        return f"{self.advice.proposed} for {self.advice.table}, {self.state}"

    @property
    def is_judged(self) -> bool:
        """Whether it came to a verdict."""
        return self.saved is not None

    @property
    def saved_percent(self) -> float | None:
        """Of a hundred bytes planned before, how many are saved."""
        return None if self.saved is None else 100 * self.saved

    @property
    def low_percent(self) -> float | None:
        """The least of it that is sure enough."""
        return None if self.low is None else 100 * self.low

    @property
    def high_percent(self) -> float | None:
        """The most of it that is sure enough."""
        return None if self.high is None else 100 * self.high

    @property
    def shape_rows(self) -> list[dict[str, object]]:
        """The ways of filtering with what each saves, in a hundred."""
        return [
            {**one, "saved": 100 * (1 - one["after"] / one["before"]) if one["before"] else None}
            for one in self.evidence.get("shapes", ())
        ]
