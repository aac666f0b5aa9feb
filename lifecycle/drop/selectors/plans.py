"""Reads the drop plans visible to a person and what each loses."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import django_filters as filters
from django.db.models import Exists, F, Max, Min, OuterRef, QuerySet, Subquery, Sum

from lifecycle.models import (
    DeletionRequest,
    DropPlan,
    DropPlanPart,
    DropPlanResult,
    DropPlanTable,
    PlanState,
    TableFinding,
)
from lifecycle.planning.selectors.inputs import act_databases
from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.ui.lists.filters import ListFilter, prefix

PLAN_ORDERS = {
    "-created": ("-created_at",),
    "created": ("created_at",),
    "-size": ("-n_bytes",),
    "size": ("n_bytes",),
}
PLAN_TABLE_ORDERS = {
    "-size": ("-n_bytes",),
    "size": ("n_bytes",),
    "name": ("db", "table"),
    "-name": ("-db", "-table"),
    "oldest": ("oldest_at",),
}
RESULT_ORDERS = {"name": ("db", "table", "partition")}
TYPED_ITEMS = 1_000
TYPED_BYTES = 1024**4


class PlanFilter(ListFilter):
    """Plans by state, maker and what is in them."""

    state = filters.ChoiceFilter(choices=PlanState.choices, label="State", empty_label="Any")
    requested_by = filters.CharFilter(label="Requested by")
    db = filters.CharFilter(label="Database", method="with_database")
    table = filters.CharFilter(label="Table", method="with_table")

    class Meta:
        model = DropPlan
        fields: list[str] = []

    def with_database(self, rows: QuerySet[DropPlan], _: str, value: str) -> QuerySet[DropPlan]:
        """Keep plans that hold something of a database."""
        return rows.filter(Exists(DropPlanTable.objects.filter(plan=OuterRef("pk"), db=value)))

    def with_table(self, rows: QuerySet[DropPlan], _: str, value: str) -> QuerySet[DropPlan]:
        """Keep plans that hold something of a table of this name."""
        return rows.filter(Exists(DropPlanTable.objects.filter(plan=OuterRef("pk"), table=value)))


class PlanTableFilter(ListFilter):
    """Tables of a plan by name and owner."""

    db = prefix("db", "Database")
    table = prefix("table", "Table")
    owner = filters.CharFilter(label="Owner")

    class Meta:
        model = DropPlanTable
        fields: list[str] = []


class PlanResultFilter(ListFilter):
    """What a run left alone, by name and outcome."""

    db = filters.CharFilter(label="Database")
    table = filters.CharFilter(label="Table")
    outcome = filters.CharFilter(label="Outcome")

    class Meta:
        model = DropPlanResult
        fields: list[str] = []


class DeletionRequestFilter(ListFilter):
    """Requests by state and name."""

    state = filters.ChoiceFilter(choices=DeletionRequest.State.choices, label="State")
    db = filters.CharFilter(label="Database")
    table = filters.CharFilter(label="Table")

    class Meta:
        model = DeletionRequest
        fields: list[str] = []


def plans_visible(lake: str, user: User) -> QuerySet[DropPlan]:
    """Return the plans that a person may see, each with `seen_*`: the part that they may see."""
    rows = DropPlan.objects.for_user(user, of_lake=lake)
    if user.is_lake_staff_of(lake):
        return rows.annotate(
            seen_tables=F("n_tables"), seen_items=F("n_items"), seen_bytes=F("n_bytes")
        )
    mine = DropPlanPart.objects.for_user(user, of_lake=lake).filter(plan=OuterRef("pk")).order_by()
    part = mine.values("plan")
    return rows.annotate(
        seen_tables=Subquery(part.annotate(n=Sum("n_tables")).values("n")),
        seen_items=Subquery(part.annotate(n=Sum("n_items")).values("n")),
        seen_bytes=Subquery(part.annotate(n=Sum("n_bytes")).values("n")),
    )


def get_plan_for_user(plan_id: UUID | str, *, user: User) -> DropPlan:
    """Return a plan that `user` may see.

    Raises:
        NotVisible: `plan.missing`, whether it exists or not.
    """
    plan = DropPlan.objects.for_user(user).select_related("approval", "run").filter(pk=plan_id)
    found = plan.first()
    if found is None:
        raise NotVisible("plan.missing", "There is no such drop plan, or it is not yours to see.")
    return found


def plan_tables(plan: DropPlan, user: User) -> QuerySet[DropPlanTable]:
    """Return the tables of a plan that a person may see."""
    rows = DropPlanTable.objects.filter(plan=plan)
    return rows if user.is_lake_staff_of(plan.lake) else rows.for_user(user)


def plan_results(plan: DropPlan, user: User) -> QuerySet[DropPlanResult]:
    """Return what became of the items of the tables that a person may see."""
    mine = plan_tables(plan, user).filter(db=OuterRef("db"), table=OuterRef("table"))
    return DropPlanResult.objects.filter(Exists(mine), plan=plan)


@dataclass(frozen=True, slots=True)
class Loss:
    """What would be lost, as far as the person looking may see it."""

    n_tables: int
    n_items: int
    n_bytes: int
    n_files: int
    n_still_read: int
    n_first: int
    oldest_at: datetime | None
    newest_at: datetime | None
    is_part: bool

    @property
    def needs_typing(self) -> bool:
        """Whether it is so much that the name must be typed."""
        return self.n_items > TYPED_ITEMS or self.n_bytes > TYPED_BYTES


def plan_loss(plan: DropPlan, user: User) -> Loss:
    """Give what the person may see of a plan, from the sums that were kept when it was created."""
    summed = (
        DropPlanPart.objects.filter(plan=plan)
        .for_user(user)
        .aggregate(
            items=Sum("n_items"),
            size=Sum("n_bytes"),
            files=Sum("n_files"),
            still_read=Sum("n_still_read"),
            oldest=Min("oldest_at"),
            newest=Max("newest_at"),
            tables=Sum("n_tables"),
            first=Sum("n_first"),
        )
    )
    n_tables = summed["tables"] or 0
    return Loss(
        n_tables=n_tables,
        n_items=summed["items"] or 0,
        n_bytes=summed["size"] or 0,
        n_files=summed["files"] or 0,
        n_still_read=summed["still_read"] or 0,
        n_first=summed["first"] or 0,
        oldest_at=summed["oldest"],
        newest_at=summed["newest"],
        is_part=n_tables < plan.n_tables,
    )


def left_out_visible(plan: DropPlan, loss: Loss) -> dict[str, int]:
    """Return what was left out; only to who sees the whole plan, for it counts all its tables."""
    return {} if loss.is_part else dict(plan.left_out)


def typed_name(plan: DropPlan) -> str:
    """Return what must be typed to approve a big plan: its only table's name, or its short id."""
    tables = list(plan.tables.values_list("db", "table")[:2])
    return f"{tables[0][0]}.{tables[0][1]}" if len(tables) == 1 else plan.short_id


def plans_stopped_by(lake: str, db: str) -> int:
    """Count the plans that do not start once a database leaves ACT, with all their other tables."""
    waiting = DropPlan.objects.filter(
        lake=lake, state__in=(PlanState.PENDING, PlanState.APPROVED), tables__db=db
    )
    return waiting.distinct().count()


def plans_under_way(lake: str, user: User) -> QuerySet[DropPlan]:
    """Return a person's own plans that have not ended."""
    open_states = (PlanState.DRAFTING, PlanState.PENDING, PlanState.APPROVED, PlanState.RUNNING)
    return DropPlan.objects.filter(lake=lake, requested_by=user.username, state__in=open_states)


def tables_to_plan(lake: str, user: User) -> QuerySet[TableFinding]:
    """Return the tables in ACT databases that hold something due, biggest first."""
    due = (
        TableFinding.objects.current(lake)
        .for_user(user, of_lake=lake)
        .filter(db__in=act_databases(lake))
    )
    return due.filter(n_clean_now__gt=0) | due.filter(n_still_read__gt=0)


def deletion_requests_visible(lake: str, user: User) -> QuerySet[DeletionRequest]:
    """Return the owners' requests: all to admins and operators, else one's own."""
    rows = DeletionRequest.objects.filter(lake=lake).select_related("plan")
    if user.is_lake_staff_of(lake):
        return rows
    return rows.filter(requested_by=user.username)
