"""What people asked about LEVEL, TTL and owners, and what the metastore said when last read."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from lifecycle.policies.domain.policy import Values
from lifecycle.policies.domain.states import RequestKind, RequestState
from portal.approvals.models import Effect, Proposal, with_reason

LAKE_CHARS = 32
DB_CHARS = 128
TABLE_CHARS = 256
PARTITION_CHARS = 767
USER_CHARS = 150


class PolicySnapshot(models.Model):
    """LEVEL, TTL and owner of a table or database as a short run read or wrote them last.

    A scan's picture that is newer goes before it. `table` empty = the database itself.
    """

    lake = models.CharField(max_length=LAKE_CHARS)
    db = models.CharField(max_length=DB_CHARS)
    table = models.CharField(max_length=TABLE_CHARS, blank=True)
    level = models.IntegerField(null=True)
    ttl = models.IntegerField(null=True)
    problem = models.TextField(blank=True, help_text="Reason the values cannot be used.")
    owner = models.CharField(max_length=DB_CHARS, blank=True)
    seen_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["lake", "db", "table"], name="policy_seen_once")
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}".rstrip(".")

    @property
    def values(self) -> Values:
        """The values, as the rules take them."""
        return Values(self.level, self.ttl)


class PolicyRequest(Proposal):
    """One request: set LEVEL and TTL, keep data some days more, hand a table over, waive a rule.

    What stood on the page when it was made (`seen_*`) is compared again before anything is written.
    """

    lake = models.CharField(max_length=LAKE_CHARS)
    kind = models.CharField(max_length=9, choices=[(one.value, one.value) for one in RequestKind])
    db = models.CharField(max_length=DB_CHARS)
    table = models.CharField(max_length=TABLE_CHARS, blank=True, help_text="empty = the database")
    partition = models.CharField(max_length=PARTITION_CHARS, blank=True)
    tbl_id = models.BigIntegerField(null=True)
    state = models.CharField(
        max_length=9,
        choices=[(one.value, one.value) for one in RequestState],
        default=RequestState.PENDING.value,
    )
    seen_level = models.IntegerField(null=True)
    seen_ttl = models.IntegerField(null=True)
    seen_owner = models.CharField(max_length=DB_CHARS, blank=True)
    level = models.IntegerField(null=True)
    ttl = models.IntegerField(null=True)
    owner = models.CharField(max_length=DB_CHARS, blank=True, help_text="The new owner.")
    rule = models.CharField(max_length=32, blank=True, help_text="The path rule to waive.")
    days = models.PositiveIntegerField(null=True)
    until = models.DateField(null=True, help_text="The last day of an extension or exception.")
    needs_admin = models.BooleanField(default=False)
    what_if = models.JSONField(default=dict, help_text="What the change would do, when asked for.")
    open_key = models.UUIDField(null=True, unique=True, help_text="Of its name while it is open.")
    requested_by = models.CharField(max_length=USER_CHARS)
    decided_by = models.CharField(max_length=USER_CHARS, blank=True)
    note = models.TextField(blank=True, help_text="Reason of the end.")
    run = models.ForeignKey("runs.Run", null=True, on_delete=models.PROTECT, related_name="+")
    hold = models.ForeignKey("act.Hold", null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["lake", "created_at", "id"], name="policy_request_newest"),
            models.Index(fields=["lake", "state", "created_at"], name="policy_request_state"),
            models.Index(fields=["lake", "db", "table", "created_at"], name="policy_request_table"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=[one.value for one in RequestState]),
                name="policy_request_known_state",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=[one.value for one in RequestKind]),
                name="policy_request_known_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def name(self) -> str:
        """What it is about: `db`, `db.table` or `db.table partition`."""
        table = f"{self.db}.{self.table}" if self.table else self.db
        return f"{table} {self.partition}".strip()

    @property
    def title(self) -> str:
        """What it asks for, and why."""
        return with_reason(f"{self._asked} {self.name}{self._asked_more}", self.reason)

    @property
    def effect(self) -> Effect:
        """What it changes; it takes no data away by itself."""
        words = {
            RequestKind.SET: f"LEVEL and TTL of {self.name}",
            RequestKind.EXTEND: f"a hold on {self.name}",
            RequestKind.HAND_OVER: f"the owner of {self.name}",
            RequestKind.WAIVE: f"an exception of a path rule for {self.name}",
        }
        return Effect(words[RequestKind(self.kind)], 1)

    @property
    def _asked(self) -> str:
        words = {
            RequestKind.SET: "Change the policy of",
            RequestKind.EXTEND: "Keep",
            RequestKind.HAND_OVER: "Hand over",
            RequestKind.WAIVE: "Make an exception for",
        }
        return words[RequestKind(self.kind)]

    @property
    def _asked_more(self) -> str:
        until = f" until {self.until:%Y-%m-%d}" if self.until else ""
        words = {
            RequestKind.SET: f" to LEVEL {_said(self.level)}, TTL {_said(self.ttl)}",
            RequestKind.EXTEND: until,
            RequestKind.HAND_OVER: f" to {self.owner}",
            RequestKind.WAIVE: until,
        }
        return words[RequestKind(self.kind)]

    @property
    def seen(self) -> Values:
        """The values that stood on the page."""
        return Values(self.seen_level, self.seen_ttl)

    @property
    def wanted(self) -> Values:
        """The values that shall stand."""
        return Values(self.level, self.ttl)

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state not in (RequestState.PENDING, RequestState.RUNNING)


def _said(value: int | None) -> str:
    return "not set" if value is None else str(value)
