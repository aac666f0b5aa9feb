"""Totals of each owner's part of a drop plan, stored so that no page computes them."""

from typing import ClassVar, Self

from django.db import models
from django.db.models import Q

from lifecycle.inventory.models.findings import visible_to
from portal.access.models import User

# A real table lies in a database, so this row is no owner's part.
WHOLE = Q(db="")


class PlanPartQuerySet(models.QuerySet["DropPlanPart"]):
    """The sums of what a person may see."""

    def for_user(self, user: User, *, of_lake: str = "") -> Self:
        """Keep the rows that make up what `user` sees: the whole for admins and operators.

        Of one lake where it is named.
        """
        if of_lake:
            is_whole_seen = user.is_lake_staff_of(of_lake)
            wanted = WHOLE if is_whole_seen else ~WHOLE & visible_to(user, of_lake=of_lake)
            return self.filter(wanted, lake=of_lake)
        lakes = user.staffed_lakes
        if lakes is None:
            return self.filter(WHOLE)
        # Where the whole is seen its parts would be counted twice.
        parts = Q(visible_to(user)) & ~WHOLE & ~Q(lake__in=sorted(lakes))
        return self.filter(parts | (WHOLE & Q(lake__in=sorted(lakes))))


class DropPlanPart(models.Model):
    """The sums of a plan's tables that lie in one database and have the same owners.

    The row of the whole plan has no database.
    """

    id = models.BigAutoField(primary_key=True)
    plan = models.ForeignKey("lifecycle.DropPlan", on_delete=models.CASCADE, related_name="parts")
    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128, blank=True)
    owner = models.CharField(max_length=150, blank=True)
    db_owner = models.CharField(max_length=150, blank=True)
    n_tables = models.PositiveIntegerField(default=0)
    n_items = models.PositiveBigIntegerField(default=0)
    n_bytes = models.PositiveBigIntegerField(default=0)
    n_files = models.PositiveBigIntegerField(default=0)
    n_still_read = models.PositiveBigIntegerField(default=0)
    n_first = models.PositiveIntegerField(default=0)
    oldest_at = models.DateTimeField(null=True)
    newest_at = models.DateTimeField(null=True)

    objects = PlanPartQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["plan", "db", "owner", "db_owner"], name="plan_part_once"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["plan", "owner"], name="plan_part_owner"),
            models.Index(fields=["plan", "db_owner"], name="plan_part_db_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.db or 'the whole plan'} of {self.owner or 'everybody'}"
