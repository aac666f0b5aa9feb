"""Existing tables that shall enter lifecycle together: the plan of it and each table's result."""

from typing import ClassVar

from django.db import models
from django.db.models import Exists, OuterRef, Q

from lifecycle.inventory.models.findings import LatestScan, TableFinding
from lifecycle.policies.domain.policy import Values
from lifecycle.policies.domain.states import EnrollmentItemState, EnrollmentState
from portal.access.models import User
from portal.access.visibility import of_staffed_lakes
from portal.approvals.models import Effect, Proposal, with_reason
from portal.lake.counts import count_words

LAKE_CHARS = 32
DB_CHARS = 128
TABLE_CHARS = 256
USER_CHARS = 150


class EnrollmentQuerySet(models.QuerySet["Enrollment"]):
    """Enrollments as a person may see them."""

    def for_user(self, user: User) -> "EnrollmentQuerySet":
        """Admins and operators see all; others those that name a table of theirs."""
        items = EnrollmentItem.objects.for_user(user).filter(enrollment=OuterRef("pk"))
        return self.filter(of_staffed_lakes(user, otherwise=Q(Exists(items))))


class EnrollmentItemQuerySet(models.QuerySet["EnrollmentItem"]):
    """Tables of enrollments as a person may see them."""

    def for_user(self, user: User) -> "EnrollmentItemQuerySet":
        """Admins and operators see all; others the tables that are theirs now."""
        mine = TableFinding.objects.for_user(user).filter(
            generation_id__in=LatestScan.objects.values("generation_id"),
            lake=OuterRef("enrollment__lake"),
            db=OuterRef("db"),
            table=OuterRef("table"),
        )
        own = Q(owner=user.username) | Q(Exists(mine))
        return self.filter(of_staffed_lakes(user, lake="enrollment__lake", otherwise=own))


class Enrollment(Proposal):
    """A plan to give LEVEL and TTL to chosen tables; its digest covers every table and value."""

    lake = models.CharField(max_length=LAKE_CHARS)
    state = models.CharField(
        max_length=9,
        choices=[(one.value, one.value) for one in EnrollmentState],
        default=EnrollmentState.PENDING.value,
    )
    level = models.IntegerField()
    ttl = models.IntegerField()
    selection = models.JSONField(default=dict, help_text="The filter by which tables were chosen.")
    what_if = models.JSONField(default=dict)
    n_tables = models.PositiveIntegerField(default=0)
    generation = models.ForeignKey(
        "lifecycle.ScanSnapshot", on_delete=models.PROTECT, related_name="+"
    )
    requested_by = models.CharField(max_length=USER_CHARS)
    requesters = models.JSONField(default=list)
    run = models.ForeignKey("runs.Run", null=True, on_delete=models.PROTECT, related_name="+")
    undo_run = models.ForeignKey("runs.Run", null=True, on_delete=models.PROTECT, related_name="+")
    undo_by = models.CharField(max_length=USER_CHARS, blank=True)
    undo_reason = models.TextField(blank=True)
    note = models.TextField(blank=True)

    objects = EnrollmentQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["lake", "created_at", "id"], name="enrolment_newest"),
            models.Index(fields=["lake", "state", "created_at"], name="enrolment_state"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=[one.value for one in EnrollmentState]),
                name="enrolment_known_state",
            )
        ]

    def __str__(self) -> str:
        return f"enrollment {self.short_id}"

    @property
    def title(self) -> str:
        """What it gives to how many tables, and why."""
        tables = count_words(self.n_tables, "table")
        return with_reason(f"Enroll {tables}, LEVEL {self.level}, TTL {self.ttl}", self.reason)

    @property
    def effect(self) -> Effect:
        """How many tables it changes."""
        tables = count_words(self.n_tables, "table")
        return Effect(f"{tables} put under lifecycle rules", self.n_tables)

    @property
    def wanted(self) -> Values:
        """The values that its tables shall get."""
        return Values(self.level, self.ttl)


class EnrollmentItem(models.Model):
    """One table of an enrollment: what stood on it, what would go, and what became of it.

    `before` are its LEVEL and TTL parameters exactly as they stood, so that undo puts them back.
    """

    enrollment = models.ForeignKey(Enrollment, on_delete=models.CASCADE, related_name="items")
    db = models.CharField(max_length=DB_CHARS)
    table = models.CharField(max_length=TABLE_CHARS)
    tbl_id = models.BigIntegerField()
    owner = models.CharField(max_length=DB_CHARS, blank=True)
    location = models.CharField(max_length=4000, blank=True)
    seen_level = models.IntegerField(null=True)
    seen_ttl = models.IntegerField(null=True)
    n_items = models.BigIntegerField(default=0)
    n_now = models.BigIntegerField(default=0)
    n_soon = models.BigIntegerField(default=0)
    n_unsure = models.BigIntegerField(default=0)
    bytes_now = models.BigIntegerField(default=0)
    state = models.CharField(
        max_length=8,
        choices=[(one.value, one.value) for one in EnrollmentItemState],
        default=EnrollmentItemState.PENDING.value,
    )
    note = models.TextField(blank=True)
    before = models.JSONField(null=True)

    objects = EnrollmentItemQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["enrollment", "db", "table"], name="enrolled_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["enrollment", "state", "id"], name="enrol_item_state")
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"

    @property
    def seen(self) -> Values:
        """The values that stood on it when the enrollment was asked for."""
        return Values(self.seen_level, self.seen_ttl)
