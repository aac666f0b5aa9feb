"""Standing rules: what two people let go of one table each day, as rows."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from lifecycle.drop.models.plans import LAKE_CHARS, NAME_CHARS
from portal.approvals.models import Effect, Proposal, with_reason
from portal.lake.counts import count_words


class StandingRuleState(models.TextChoices):
    """Where a standing rule stands."""

    PENDING = "PENDING", "waiting for approval"
    ACTIVE = "ACTIVE", "active"
    REJECTED = "REJECTED", "rejected"
    LAPSED = "LAPSED", "expired"
    ENDED = "ENDED", "ended"


class StandingRule(Proposal):
    """Two people's leave to drop what is due of one table each day, within caps, for 90 days."""

    lake = models.CharField(max_length=LAKE_CHARS)
    db = models.CharField(max_length=NAME_CHARS)
    table = models.CharField(max_length=NAME_CHARS)
    tbl_id = models.BigIntegerField(help_text="The table's generation; a new one is not covered.")
    max_items_day = models.PositiveIntegerField()
    max_bytes_day = models.PositiveBigIntegerField()
    level = models.SmallIntegerField(null=True, help_text="What the approvers saw; null: unknown.")
    ttl = models.IntegerField(null=True)
    owner = models.CharField(max_length=150, blank=True)
    starts_on = models.DateField()
    until = models.DateField()
    state = models.CharField(
        max_length=16,
        choices=StandingRuleState.choices,
        default=StandingRuleState.PENDING.value,
    )
    requested_by = models.CharField(max_length=150)
    ended_by = models.CharField(max_length=150, blank=True)
    last_note = models.TextField(blank=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["lake", "state", "db", "table"], name="standing_by_state")
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(max_items_day__gte=1) & Q(max_bytes_day__gte=1),
                name="standing_caps_positive",
            )
        ]

    def __str__(self) -> str:
        return f"standing rule for {self.db}.{self.table}"

    @property
    def title(self) -> str:
        """What it lets go without asking again, and why."""
        what = f"Drop what is due of {self.db}.{self.table} each day until {self.until:%Y-%m-%d}"
        return with_reason(what, self.reason)

    @property
    def effect(self) -> Effect:
        """What it may take away in a day, at most."""
        items = count_words(self.max_items_day, "item")
        return Effect(f"up to {items} a day", self.max_items_day, self.max_bytes_day)
