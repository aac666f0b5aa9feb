"""Drop plans, their tables, examples and results, as rows.

Only fields, constraints and who may see a row stand here. Which item may enter a plan is decided
in `drop.domain`; how states move is in `drop.services.plans`. The items themselves stand in a file
in the spool, under the plan's digest; the rows here hold counts and examples.
"""

from typing import ClassVar, Self

from django.db import models
from django.db.models import Exists, OuterRef, Q

from lifecycle.drop.models.parts import DropPlanPart
from lifecycle.inventory.models.findings import visible_to
from portal.access.models import User
from portal.access.visibility import of_staffed_lakes
from portal.approvals.models import Effect, Proposal, with_reason
from portal.lake.counts import count_words

LAKE_CHARS = 32
NAME_CHARS = 128
PARTITION_CHARS = 767
DIGEST_CHARS = 64


class PlanState(models.TextChoices):
    """Where a plan stands; moves only by compare-and-set."""

    DRAFTING = "DRAFTING", "preparing"
    PENDING = "PENDING", "waiting for approval"
    APPROVED = "APPROVED", "approved, cooling off"
    RUNNING = "RUNNING", "running"
    DONE = "DONE", "done"
    REJECTED = "REJECTED", "rejected"
    LAPSED = "LAPSED", "expired"
    WITHDRAWN = "WITHDRAWN", "withdrawn"
    FAILED = "FAILED", "failed"
    CANCELLED = "CANCELLED", "cancelled while it ran"
    NOT_CREATED = "NOT_CREATED", "not created"


class PlanSource(models.TextChoices):
    """Who had the plan created: a person, or a standing rule that two people approved."""

    PERSON = "PERSON", "made by a person"
    STANDING = "STANDING", "made by a standing rule"


class ItemKind(models.TextChoices):
    """What goes: a whole unpartitioned table, or partitions of a table."""

    TABLE = "TABLE", "table"
    PARTITION = "PARTITION", "partition"


class DropPlanQuerySet(models.QuerySet["DropPlan"]):
    """Who may see which plan."""

    def for_user(self, user: User, *, of_lake: str = "") -> Self:
        """Keep what `user` may see: all for admins and operators, else plans with own tables.

        Of one lake where it is named.
        """
        mine = DropPlanPart.objects.for_user(user, of_lake=of_lake).filter(plan=OuterRef("pk"))
        return self.filter(of_staffed_lakes(user, otherwise=Q(Exists(mine)), of_lake=of_lake))


TRANSITIONS: dict[str, frozenset[str]] = {
    # Straight to APPROVED where a standing rule covers the plan.
    PlanState.DRAFTING: frozenset(
        {
            PlanState.PENDING,
            PlanState.APPROVED,
            PlanState.NOT_CREATED,
            PlanState.FAILED,
            PlanState.WITHDRAWN,
        }
    ),
    PlanState.PENDING: frozenset(
        {PlanState.APPROVED, PlanState.REJECTED, PlanState.LAPSED, PlanState.WITHDRAWN}
    ),
    # Until it runs, one person's no still ends what was approved.
    PlanState.APPROVED: frozenset(
        {PlanState.RUNNING, PlanState.REJECTED, PlanState.LAPSED, PlanState.FAILED}
    ),
    PlanState.RUNNING: frozenset({PlanState.DONE, PlanState.FAILED, PlanState.CANCELLED}),
}

ENDED = frozenset(
    {
        PlanState.DONE,
        PlanState.REJECTED,
        PlanState.LAPSED,
        PlanState.WITHDRAWN,
        PlanState.FAILED,
        PlanState.CANCELLED,
        PlanState.NOT_CREATED,
    }
)


class DropPlan(Proposal):
    """A frozen list of items that two people may have dropped together."""

    lake = models.CharField(max_length=LAKE_CHARS)
    generation = models.ForeignKey(
        "lifecycle.ScanSnapshot", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    state = models.CharField(max_length=16, choices=PlanState.choices, default=PlanState.DRAFTING)
    source = models.CharField(max_length=16, choices=PlanSource.choices, default=PlanSource.PERSON)
    standing_rule = models.ForeignKey(
        "lifecycle.StandingRule", null=True, blank=True, on_delete=models.PROTECT
    )
    requested_by = models.CharField(max_length=150)
    requesters = models.JSONField(default=list)
    reason = models.TextField(blank=True)
    selection = models.JSONField(default=dict)

    digest = models.CharField(max_length=DIGEST_CHARS, blank=True)
    items_uri = models.TextField(blank=True)
    items_sha256 = models.CharField(max_length=DIGEST_CHARS, blank=True)
    backup_root = models.TextField(blank=True)
    keep_days = models.JSONField(
        default=dict, help_text="For how many days, at least, backups are kept, by database."
    )
    n_tables = models.PositiveIntegerField(default=0)
    n_items = models.PositiveBigIntegerField(default=0)
    n_bytes = models.PositiveBigIntegerField(default=0)
    n_files = models.PositiveBigIntegerField(default=0)
    oldest_at = models.DateTimeField(null=True, blank=True)
    newest_at = models.DateTimeField(null=True, blank=True)
    limits = models.JSONField(
        default=dict, help_text="The caps and the inventory when it was created; a record."
    )
    left_out = models.JSONField(default=dict)

    plan_run = models.ForeignKey(
        "runs.Run", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    run = models.ForeignKey(
        "runs.Run", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    ended_by = models.CharField(max_length=150, blank=True)
    ended_reason = models.TextField(blank=True)
    outcome = models.JSONField(default=dict)

    objects = DropPlanQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["lake", "created_at", "id"], name="plan_by_time"),
            models.Index(fields=["lake", "state", "created_at", "id"], name="plan_by_state"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=PlanState.values), name="plan_state_known"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["PENDING", "APPROVED", "RUNNING", "DONE"])
                | (~Q(digest="") & ~Q(items_sha256="")),
                name="plan_past_draft_has_digest",
            ),
        ]

    def __str__(self) -> str:
        return f"drop plan {self.id}"

    @property
    def title(self) -> str:
        """What it drops, as far as its reader may see it, and why."""
        if self.state == PlanState.DRAFTING:
            return with_reason("Drop plan being prepared", self.reason)
        n_tables: int = self.__dict__.get("seen_tables", self.n_tables) or 0
        tables = count_words(n_tables, "table")
        items = count_words(self.effect.n_items, "item")
        return with_reason(f"Drop {items} of {tables}", self.reason)

    @property
    def effect(self) -> Effect:
        """What would be lost, as far as its reader may see it."""
        n_items: int = self.__dict__.get("seen_items", self.n_items) or 0
        n_bytes: int = self.__dict__.get("seen_bytes", self.n_bytes) or 0
        return Effect(f"{count_words(n_items, 'item')} moved into a backup", n_items, n_bytes)

    @property
    def least_keep_days(self) -> int | None:
        """The days for which every backup of the plan is kept at least; None before creating."""
        return min(self.keep_days.values(), default=None)


class OwnedQuerySet(models.QuerySet["DropPlanTable"]):
    """Rows that carry the names of a table and its owners."""

    def for_user(self, user: User) -> Self:
        """Keep the rows of tables that `user` may see."""
        return self.filter(visible_to(user))


class DropPlanTable(models.Model):
    """What one table loses by a plan: counts, sizes, ages and the digest of its own lines."""

    id = models.BigAutoField(primary_key=True)
    plan = models.ForeignKey(DropPlan, on_delete=models.CASCADE, related_name="tables")
    lake = models.CharField(max_length=LAKE_CHARS)
    db = models.CharField(max_length=NAME_CHARS)
    table = models.CharField(max_length=NAME_CHARS)
    tbl_id = models.BigIntegerField()
    kind = models.CharField(max_length=16, choices=ItemKind.choices)
    owner = models.CharField(max_length=150, blank=True)
    db_owner = models.CharField(max_length=150, blank=True)
    n_items = models.PositiveBigIntegerField()
    n_bytes = models.PositiveBigIntegerField(default=0)
    n_files = models.PositiveBigIntegerField(default=0)
    n_still_read = models.PositiveBigIntegerField(default=0)
    oldest_at = models.DateTimeField(null=True, blank=True)
    newest_at = models.DateTimeField(null=True, blank=True)
    is_first_drop = models.BooleanField(default=False)
    digest = models.CharField(max_length=DIGEST_CHARS)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["plan", "db", "table"], name="plan_table_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "db", "table"], name="plan_table_by_name")
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"


class DropPlanExample(models.Model):
    """One of the first items of a table in a plan, so that a reviewer sees real names and dates."""

    id = models.BigAutoField(primary_key=True)
    plan_table = models.ForeignKey(DropPlanTable, on_delete=models.CASCADE, related_name="examples")
    partition = models.CharField(max_length=PARTITION_CHARS, blank=True)
    location = models.TextField()
    updated_at = models.DateTimeField()
    due_on = models.DateField()
    n_bytes = models.PositiveBigIntegerField(null=True)
    n_files = models.PositiveBigIntegerField(null=True)
    is_still_read = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return self.partition or "(whole table)"


class DropPlanResult(models.Model):
    """What became of one item in the run: dropped, or left out with its reason."""

    id = models.BigAutoField(primary_key=True)
    plan = models.ForeignKey(DropPlan, on_delete=models.CASCADE, related_name="results")
    db = models.CharField(max_length=NAME_CHARS)
    table = models.CharField(max_length=NAME_CHARS)
    partition = models.CharField(max_length=PARTITION_CHARS, blank=True)
    outcome = models.CharField(max_length=32)
    reason = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["plan", "outcome", "id"], name="plan_result_by_outcome")
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table} {self.partition}: {self.outcome}"
