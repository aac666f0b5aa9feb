"""What reviewers compare: the ranges of a plan's table, and the plan against the one before it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from lifecycle.drop.selectors.plans import plan_tables
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.models.findings import PartitionRange
from lifecycle.models import DropPlan, DropPlanTable, PlanState
from portal.access.models import User

RANGES_SHOWN = 200
TABLES_COMPARED = 20
"""Of how many of a plan's tables, the biggest, an earlier plan is looked for."""
_DUE = (ExpiryClass.CLEAN_NOW, ExpiryClass.STILL_READ)
_NO_PLAN = (PlanState.DRAFTING, PlanState.NOT_CREATED)


@dataclass(frozen=True, slots=True)
class Share:
    """Some tables of a plan in numbers."""

    n_tables: int
    n_items: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class PlanChanges:
    """How a plan differs from the last one of its tables, as far as its reader sees both."""

    previous: DropPlan
    now: Share
    before: Share
    new: Share
    """In tables that the last plan did not have."""
    gone: Share
    """In tables of the last plan that this one does not have."""
    n_unchanged: int
    """Tables with exactly the same items."""

    @property
    def items_more(self) -> int:
        """How many items more this plan has; below zero, how many fewer."""
        return self.now.n_items - self.before.n_items

    @property
    def bytes_more(self) -> int:
        """How many bytes more this plan has; below zero, how many fewer."""
        return self.now.n_bytes - self.before.n_bytes


def due_ranges(row: DropPlanTable) -> Sequence[PartitionRange]:
    """Return the partition ranges of a plan's table that the plan's scan saw due, by name.

    One query. None where the scan's result has been removed, or the table has no partitions.
    """
    rows = PartitionRange.objects.filter(
        table__generation_id=row.plan.generation_id,
        table__db=row.db,
        table__table=row.table,
        table__tbl_id=row.tbl_id,
        cls__in=_DUE,
    )
    return list(rows.order_by("id")[:RANGES_SHOWN])


def plan_changes(plan: DropPlan, user: User) -> PlanChanges | None:
    """Compare a plan with the newest earlier one of its biggest tables; None where there is none.

    Seven queries, whatever their size.
    """
    mine = plan_tables(plan, user)
    names = mine.order_by("-n_bytes").values_list("db", "table")[:TABLES_COMPARED]
    wanted = Q()
    for db, table in names:
        wanted |= Q(db=db, table=table)
    if not wanted:
        return None
    earlier = DropPlanTable.objects.for_user(user).filter(
        wanted, lake=plan.lake, plan__created_at__lt=plan.created_at
    )
    newest = earlier.exclude(plan__state__in=_NO_PLAN).order_by("-plan__created_at")
    last = newest.select_related("plan").first()
    if last is None:
        return None
    theirs = plan_tables(last.plan, user)
    same_name = {"db": OuterRef("db"), "table": OuterRef("table")}
    unchanged = theirs.filter(**same_name, digest=OuterRef("digest"))
    return PlanChanges(
        previous=last.plan,
        now=_share(mine),
        before=_share(theirs),
        new=_share(mine.exclude(Exists(theirs.filter(**same_name)))),
        gone=_share(theirs.exclude(Exists(mine.filter(**same_name)))),
        n_unchanged=mine.filter(Exists(unchanged)).count(),
    )


def _share(rows: QuerySet[DropPlanTable]) -> Share:
    found = rows.aggregate(tables=Count("pk"), items=Sum("n_items"), size=Sum("n_bytes"))
    return Share(found["tables"], found["items"] or 0, found["size"] or 0)
