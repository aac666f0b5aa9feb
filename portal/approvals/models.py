"""Models of approvals and decisions, and the base of what is put to people."""

import uuid
from collections.abc import Collection
from dataclasses import dataclass

from django.conf import settings
from django.db import models

from portal.approvals.domain import ApprovalState, DecisionKind

REASON_SHOWN = 100


class Approval(models.Model):
    """A request for approval of one object with one digest."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lake = models.CharField(max_length=32)
    kind = models.CharField(max_length=64)
    object_id = models.CharField(max_length=300)
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=16, default=ApprovalState.PENDING.value)
    requesters = models.JSONField(default=list)
    n_needed = models.PositiveSmallIntegerField(default=2)
    summary = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    approved_at = models.DateTimeField(null=True)
    cool_until = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    end_reason = models.TextField(blank=True, default="")
    used_by_run = models.CharField(max_length=36, blank=True, default="")
    open_key = models.CharField(max_length=370, null=True, unique=True)  # noqa: DJ001 - NULL = closed

    also_requesters: Collection[str] | None = None
    """Who counts as a requester beside those stored, where a list read it for all its rows."""

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in ApprovalState]),
                name="approvals_known_state",
            )
        ]
        indexes = [
            models.Index(fields=["lake", "state", "created_at"], name="approvals_by_state"),
            models.Index(fields=["kind", "object_id"], name="approvals_by_object"),
            models.Index(fields=["state", "expires_at"], name="approvals_by_lapse"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id} {self.state}"


class Decision(models.Model):
    """One person's decision on one approval, with the digest they saw and when they proved who."""

    approval = models.ForeignKey(Approval, on_delete=models.PROTECT, related_name="decisions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="decisions"
    )
    decision = models.CharField(max_length=8)
    reason = models.TextField(blank=True, default="")
    digest = models.CharField(max_length=64)
    authenticated_at = models.DateTimeField()
    at = models.DateTimeField()

    class Meta:
        ordering = ["at"]
        constraints = [
            models.UniqueConstraint(fields=["approval", "user"], name="approvals_one_word_each"),
            models.CheckConstraint(
                condition=models.Q(decision__in=[decision.value for decision in DecisionKind]),
                name="approvals_known_decision",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.decision} on {self.approval_id}"


class ApprovalComment(models.Model):
    """What a person wrote about a proposal; it is never changed."""

    lake = models.CharField(max_length=32)
    kind = models.CharField(max_length=64)
    object_id = models.UUIDField()
    author = models.CharField(max_length=150)
    text = models.TextField()
    at = models.DateTimeField()
    notified_at = models.DateTimeField(
        null=True, help_text="When it was mailed, or was too old for it."
    )

    class Meta:
        indexes = [
            models.Index(fields=["lake", "notified_at"], name="approvals_comments_untold"),
            models.Index(fields=["kind", "object_id", "at"], name="approvals_comments_on"),
            models.Index(fields=["author", "at"], name="approvals_comments_by"),
        ]

    def __str__(self) -> str:
        return f"comment of {self.author} on {self.kind} {self.object_id}"


@dataclass(frozen=True, slots=True)
class Effect:
    """What a proposal would take away or change, in one phrase and in numbers."""

    words: str
    n_items: int = 0
    n_bytes: int | None = None
    """None = it takes no data away, or nobody knows how much."""


class Proposal(models.Model):
    """What people approve or reject as a whole; its kind moves it (`proposals.ProposalKind`)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    state = models.CharField(max_length=16)
    digest = models.CharField(max_length=64)
    reason = models.TextField()
    created_at = models.DateTimeField()
    approval = models.ForeignKey(
        "approvals.Approval", null=True, on_delete=models.PROTECT, related_name="+"
    )
    ended_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @property
    def title(self) -> str:
        """What it asks for and why, as lists, links and mails name it."""
        return with_reason(str(self), self.reason)

    @property
    def effect(self) -> Effect:
        """What it would take away or change."""
        return Effect("")

    @property
    def short_id(self) -> str:
        """The first eight characters of its id, as people say it."""
        return str(self.pk)[:8]


def with_reason(what: str, reason: str) -> str:
    """Return what is asked for with its reason, cut where it would fill a list."""
    words = " ".join(reason.split())
    if len(words) > REASON_SHOWN:
        words = f"{words[:REASON_SHOWN].rstrip()}…"
    return f"{what}: {words}" if words else what
