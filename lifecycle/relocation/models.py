"""Models of relocation plans for nonconforming paths.

The plan, and one row for each requested item.

What is moved stands in a file in the spool, under the plan's digest; the rows say the same to
people, with why a thing is left out. States move in `lifecycle.relocation.services.plans`.
"""

from typing import ClassVar, Self

from django.db import models
from django.db.models import Exists, OuterRef, Q

from lifecycle.drop.models.plans import PlanState
from lifecycle.inventory.models.findings import FindingKind, visible_to
from portal.access.models import User
from portal.access.visibility import of_staffed_lakes
from portal.approvals.models import Effect, Proposal, with_reason
from portal.lake.counts import count_words

LAKE_CHARS = 32
DIGEST_CHARS = 64


class RelocationMoveState(models.TextChoices):
    """Where one item of a relocation plan stands."""

    ASKED = "ASKED", "being checked"
    LEFT_OUT = "LEFT_OUT", "left out"
    PLANNED = "PLANNED", "to be moved"
    MOVED = "MOVED", "moved"
    NEW_DATA = "NEW_DATA", "moved; new files at old path"
    SKIPPED = "SKIPPED", "changed since, skipped"
    RETURNED = "RETURNED", "moved back"
    GONE = "GONE", "changed by somebody else"
    NOT_REACHED = "NOT_REACHED", "not reached"
    UNSETTLED = "UNSETTLED", "incomplete, needs attention"
    TAKEN_BACK = "TAKEN_BACK", "moved, and undone"


# Items that lie at their new place now.
AT_TARGET = (RelocationMoveState.MOVED, RelocationMoveState.NEW_DATA)


class RelocationPlanQuerySet(models.QuerySet["RelocationPlan"]):
    """Who may see which relocation plan."""

    def for_user(self, user: User) -> Self:
        """Keep what `user` may see: all for admins and operators, else plans with own tables."""
        mine = RelocationMove.objects.for_user(user).filter(fix=OuterRef("pk"))
        return self.filter(of_staffed_lakes(user, otherwise=Q(Exists(mine))))


class RelocationPlan(Proposal):
    """A frozen list of moves that two people may have done together; `undo_of` takes one back."""

    lake = models.CharField(max_length=LAKE_CHARS)
    generation = models.ForeignKey(
        "lifecycle.ScanSnapshot", null=True, on_delete=models.PROTECT, related_name="+"
    )
    undo_of = models.ForeignKey(
        "self", null=True, on_delete=models.PROTECT, related_name="undone_by"
    )
    state = models.CharField(max_length=16, choices=PlanState.choices, default=PlanState.DRAFTING)
    requested_by = models.CharField(max_length=150)
    requesters = models.JSONField(default=list)
    digest = models.CharField(max_length=DIGEST_CHARS, blank=True)
    items_uri = models.TextField(blank=True)
    backup_root = models.TextField(blank=True)
    n_items = models.PositiveIntegerField(default=0)
    n_left_out = models.PositiveIntegerField(default=0)
    n_bytes = models.PositiveBigIntegerField(default=0)
    n_files = models.PositiveBigIntegerField(default=0)

    plan_run = models.ForeignKey("runs.Run", null=True, on_delete=models.PROTECT, related_name="+")
    run = models.ForeignKey("runs.Run", null=True, on_delete=models.PROTECT, related_name="+")
    ended_by = models.CharField(max_length=150, blank=True)
    ended_reason = models.TextField(blank=True)
    outcome = models.JSONField(default=dict)

    objects = RelocationPlanQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["lake", "created_at", "id"], name="path_fix_by_time"),
            models.Index(fields=["lake", "state", "created_at", "id"], name="path_fix_by_state"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=PlanState.values), name="path_fix_state_known"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["PENDING", "APPROVED", "RUNNING", "DONE"]) | ~Q(digest=""),
                name="path_fix_past_draft_has_digest",
            ),
        ]

    def __str__(self) -> str:
        return f"{'undo' if self.undo_of_id else 'fix plan'} {self.short_id}"

    @property
    def title(self) -> str:
        """What it moves, and why."""
        where = "back to where they were" if self.undo_of_id else "to conforming paths"
        if self.state == PlanState.DRAFTING:
            return with_reason("Relocation plan being prepared", self.reason)
        return with_reason(f"Move {count_words(self.n_items, 'item')} {where}", self.reason)

    @property
    def effect(self) -> Effect:
        """What would be moved."""
        return Effect(f"{count_words(self.n_items, 'item')} moved", self.n_items, self.n_bytes)

    @property
    def what(self) -> str:
        """What it does, in words."""
        if self.undo_of is None:
            return "moves to conforming places"
        return f"undoes relocation plan {self.undo_of.short_id}"


class RelocationMoveQuerySet(models.QuerySet["RelocationMove"]):
    """Rows that carry the names of a table and its owners."""

    def for_user(self, user: User) -> Self:
        """Keep the rows of tables that `user` may see."""
        return self.filter(visible_to(user))


class RelocationMove(models.Model):
    """One table or partition that was asked for: from where to where, or why not."""

    fix = models.ForeignKey(RelocationPlan, on_delete=models.CASCADE, related_name="items")
    lake = models.CharField(max_length=LAKE_CHARS)
    kind = models.CharField(
        max_length=9, choices=[(kind.value, kind.value) for kind in FindingKind]
    )
    db = models.CharField(max_length=128)
    table = models.CharField(max_length=256, blank=True)
    partition = models.CharField(max_length=767, blank=True)
    owner = models.CharField(max_length=150, blank=True)
    db_owner = models.CharField(max_length=150, blank=True)
    reasons = models.JSONField(default=list)
    source = models.TextField(blank=True)
    target = models.TextField(blank=True)
    n_files = models.PositiveBigIntegerField(default=0)
    n_bytes = models.PositiveBigIntegerField(default=0)
    n_partitions = models.PositiveIntegerField(default=0)
    state = models.CharField(
        max_length=16, choices=RelocationMoveState.choices, default=RelocationMoveState.ASKED
    )
    left_out_reason = models.CharField(
        max_length=32, blank=True, help_text="why it is left out, as a word"
    )
    note = models.TextField(blank=True)

    objects = RelocationMoveQuerySet.as_manager()

    class Meta:
        # No constraint over the name: with it the key would be longer than MySQL takes.
        indexes: ClassVar = [
            models.Index(fields=["fix", "state", "id"], name="path_fix_item_state"),
            models.Index(fields=["lake", "db", "table"], name="path_fix_item_name"),
        ]

    def __str__(self) -> str:
        table = f"{self.db}.{self.table}" if self.table else self.db
        return f"{table}/{self.partition}" if self.partition else table
