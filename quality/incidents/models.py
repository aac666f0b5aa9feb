"""Incidents of checks, the windows that failed, and each step with who took it."""

from typing import ClassVar, Self

from django.db import models

from portal.access.models import User
from portal.access.visibility import visible_to
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from quality.checks.domain.judge import Outcome
from quality.checks.domain.rules import Severity
from quality.checks.models import WINDOW_LENGTH, CheckSet
from quality.freshness.models import OWNER_LENGTH
from quality.incidents.domain.failures import MEASUREMENT
from quality.incidents.domain.states import Action, Resolution, Standing, State, Team

USERNAME_LENGTH = 150
REASON_LENGTH = 1000


class IncidentQuerySet(models.QuerySet["Incident"]):
    """Incidents, cut to what somebody may see."""

    def for_user(self, user: User) -> Self:
        """Keep the rows that `user` may see."""
        return self.filter(visible_to(user))

    def unclosed(self) -> Self:
        """Keep those that nobody resolved and that have not recovered."""
        return self.filter(is_open__in=(True,))  # a bare column uses no index of SQLite


class Incident(models.Model):
    """A rule of a table that does not pass; of a rule one is open at most."""

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256)
    owner = models.CharField(max_length=OWNER_LENGTH, blank=True)
    check_set = models.ForeignKey(
        CheckSet, on_delete=models.SET_NULL, null=True, related_name="incidents"
    )
    rule = models.CharField(
        max_length=100, blank=True, help_text="empty: the table could not be measured"
    )
    severity = models.CharField(max_length=8, choices=[(one.value, one.value) for one in Severity])
    state = models.CharField(max_length=12, choices=[(one.value, one.value) for one in State])
    team = models.CharField(max_length=9, choices=[(one.value, one.value) for one in Team])
    assignee = models.CharField(max_length=USERNAME_LENGTH, blank=True)
    text = models.TextField(help_text="what the last failure says")
    n_windows = models.PositiveIntegerField(default=0, help_text="that failed, those not kept too")
    n_failures = models.PositiveIntegerField(default=0, help_text="measurements of windows")
    opened_at = models.DateTimeField()
    failed_at = models.DateTimeField(help_text="when it failed last")
    acknowledged_by = models.CharField(max_length=USERNAME_LENGTH, blank=True)
    acknowledged_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    closed_by = models.CharField(max_length=USERNAME_LENGTH, blank=True)
    resolution = models.CharField(
        max_length=8, blank=True, choices=[(one.value, one.value) for one in Resolution]
    )
    reason = models.TextField(blank=True, help_text="why it is closed")
    due_at = models.DateTimeField(null=True, help_text="when something follows by itself")
    version = models.PositiveIntegerField(default=0)
    is_open = models.BooleanField(
        null=True, help_text="true until it is closed, then null: of a rule one is open at most"
    )

    objects = IncidentQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["check_set", "rule", "is_open"], name="incidents_open_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "opened_at"], name="incidents_opened"),
            models.Index(fields=["lake", "failed_at"], name="incidents_failed"),
            models.Index(fields=["lake", "state", "opened_at"], name="incidents_state"),
            models.Index(fields=["lake", "is_open", "opened_at"], name="incidents_unclosed"),
            models.Index(fields=["lake", "db", "table", "opened_at"], name="incidents_table"),
            models.Index(fields=["owner", "state"], name="incidents_owner"),
            models.Index(fields=["assignee", "state"], name="incidents_assignee"),
            models.Index(fields=["lake", "due_at"], name="incidents_due"),
            models.Index(fields=["lake", "closed_at"], name="incidents_closed"),
        ]

    def __str__(self) -> str:
        return f"{self.rule_words} of {self.db}.{self.table}"

    @property
    def table_name(self) -> str:
        """The table as people write it."""
        return f"{self.db}.{self.table}"

    @property
    def rule_words(self) -> str:
        """The rule's name; that of a table that could not be measured."""
        return "Measurement" if self.rule == MEASUREMENT else self.rule

    @property
    def hive(self) -> TableName:
        """The table as the platform knows it."""
        return TableName(LakeId(self.lake), self.db, self.table)

    @property
    def badge(self) -> str:
        """Its state, as pages show it."""
        return f"INCIDENT_{self.state}"

    @property
    def is_unclosed(self) -> bool:
        """Whether nobody resolved it and it has not recovered."""
        return self.is_open is True

    @property
    def assigned_to(self) -> str:
        """Who has to look at it, in words."""
        if self.assignee:
            return self.assignee
        return f"owner ({self.owner})" if self.team == Team.OWNER else self.team

    @property
    def standing(self) -> Standing:
        """What steps change of it."""
        return Standing(
            State(self.state), Severity(self.severity), Team(self.team), self.assignee, self.due_at
        )


class IncidentWindow(models.Model):
    """One window that failed, with its last answer; of an incident the newest are kept."""

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="windows")
    window = models.CharField(max_length=WINDOW_LENGTH, blank=True)
    outcome = models.CharField(max_length=8, choices=[(one.value, one.value) for one in Outcome])
    text = models.TextField()
    value = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    n_failures = models.PositiveIntegerField(default=0)
    first_at = models.DateTimeField(help_text="when it failed first")
    failed_at = models.DateTimeField(help_text="when it failed last")
    is_failing = models.BooleanField(default=True, help_text="it has not passed since")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["incident", "window"], name="incidents_window_once")
        ]

    def __str__(self) -> str:
        return f"{self.window} of {self.incident_id}"

    @property
    def badge(self) -> str:
        """Its last answer, as pages show it."""
        return f"CHECK_{self.outcome.upper()}"


class IncidentEvent(models.Model):
    """One step of an incident; also what is still to be mailed and posted of it."""

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="events")
    lake = models.CharField(max_length=32)
    at = models.DateTimeField()
    actor = models.CharField(max_length=USERNAME_LENGTH)
    action = models.CharField(max_length=12, choices=[(one.value, one.value) for one in Action])
    text = models.TextField(blank=True)
    mail_at = models.DateTimeField(null=True, help_text="when it is mailed; null: it is not")
    hook_at = models.DateTimeField(null=True, help_text="when it is posted next; null: never")
    hook_tries = models.PositiveSmallIntegerField(default=0)
    hook_sent_at = models.DateTimeField(null=True)
    hook_problem = models.TextField(blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["incident", "at"], name="incidents_event_at"),
            models.Index(fields=["lake", "mail_at"], name="incidents_event_mail"),
            models.Index(fields=["lake", "hook_at"], name="incidents_event_hook"),
        ]

    def __str__(self) -> str:
        return f"{self.action} by {self.actor}"
