"""Reads the relocation plans visible to a person, their actions, and the fixable paths."""

from uuid import UUID

import django_filters as filters
from django.db.models import Count, QuerySet

from lifecycle.inventory.models.findings import FindingKind
from lifecycle.inventory.selectors.findings import scanned_ranges
from lifecycle.models import (
    AT_TARGET,
    PathFinding,
    PlanState,
    RelocationMove,
    RelocationMoveState,
    RelocationPlan,
)
from lifecycle.planning.selectors.inputs import act_databases
from portal.access.models import User
from portal.approvals.changes import RANGES_SHOWN, Range
from portal.approvals.selectors import Steps
from portal.lake.errors import NotVisible
from portal.ui.lists.filters import ListFilter, prefix

FIX_ORDERS = {"-created": ("-created_at",), "created": ("created_at",)}
FIX_ITEM_ORDERS = {"name": ("db", "table", "partition"), "-size": ("-n_bytes",)}
CANDIDATE_ORDERS = {"name": ("db", "table", "partition")}
UNDER_WAY = (PlanState.DRAFTING, PlanState.PENDING, PlanState.APPROVED, PlanState.RUNNING)


class RelocationPlanFilter(ListFilter):
    """Relocation plans by state and maker."""

    state = filters.ChoiceFilter(choices=PlanState.choices, label="State", empty_label="Any")
    requested_by = filters.CharFilter(label="Requested by")

    class Meta:
        model = RelocationPlan
        fields: list[str] = []


class RelocationMoveFilter(ListFilter):
    """What was asked for, by name and what became of it."""

    state = filters.ChoiceFilter(
        choices=RelocationMoveState.choices, label="State", empty_label="Any"
    )
    db = filters.CharFilter(label="Database")
    table = prefix("table", "Table")

    class Meta:
        model = RelocationMove
        fields: list[str] = []


class FixCandidateFilter(ListFilter):
    """Nonconforming tables and partitions by name and rule."""

    db = filters.CharFilter(label="Database")
    table = prefix("table", "Table")
    owner = filters.CharFilter(label="Owner")

    class Meta:
        model = PathFinding
        fields: list[str] = []


def fix_candidates(lake: str, user: User) -> QuerySet[PathFinding]:
    """Return the nonconforming tables and partitions in databases that the portal may act in."""
    rows = PathFinding.objects.current(lake).for_user(user)
    return rows.exclude(kind=FindingKind.DATABASE).filter(db__in=act_databases(lake))


def fixes_visible(lake: str, user: User) -> QuerySet[RelocationPlan]:
    """Return the relocation plans that a person may see."""
    return (
        RelocationPlan.objects.filter(lake=lake)
        .for_user(user)
        .select_related("approval", "undo_of")
    )


def get_fix_for_user(fix_id: UUID | str, *, user: User) -> RelocationPlan:
    """Return one relocation plan, or NotVisible `fix.missing`, whether it exists or not."""
    rows = RelocationPlan.objects.for_user(user)
    found = rows.select_related("approval", "run", "plan_run", "undo_of").filter(pk=fix_id).first()
    if found is None:
        raise NotVisible(
            "fix.missing", "There is no such relocation plan, or it is not yours to see."
        )
    return found


def fix_items(fix: RelocationPlan, user: User) -> QuerySet[RelocationMove]:
    """Return the rows of a relocation plan that a person may see."""
    return RelocationMove.objects.filter(fix=fix).for_user(user)


def fix_counts(fix: RelocationPlan, user: User) -> dict[str, int]:
    """Count the visible rows of a relocation plan by where they stand."""
    rows = fix_items(fix, user).order_by().values_list("state")
    return dict(rows.annotate(n=Count("pk")))


def fix_other_steps(fix: RelocationPlan, user: User) -> Steps:
    """Return what a person may do with a relocation plan that does not wait for a decision."""
    if fix.state in (PlanState.DONE, PlanState.FAILED, PlanState.CANCELLED):
        moved = user.is_lake_admin_of(fix.lake) and fix.items.filter(state__in=AT_TARGET).exists()
        return Steps(undo=moved and not fix.undone_by.filter(state__in=UNDER_WAY).exists())
    return Steps(withdraw=fix.state == PlanState.DRAFTING and user.username == fix.requested_by)


def fix_moves(user: User) -> QuerySet[RelocationMove]:
    """Return the moves of all plans that a person may see, without what was left out."""
    rows = RelocationMove.objects.for_user(user)
    return rows.exclude(state=RelocationMoveState.LEFT_OUT)


def fix_ranges(fix: RelocationPlan, db: str, table: str) -> list[Range]:
    """Return the partitions of a table of a plan, by name.

    Those that its scan saw where the table moves as a whole, else those that move each alone.
    """
    moves = fix.items.filter(db=db, table=table).exclude(state=RelocationMoveState.LEFT_OUT)
    if moves.filter(partition="").exists():
        seen = scanned_ranges(fix.generation_id, db, table)[:RANGES_SHOWN]
        return [Range(one.first, one.last, one.n_items, one.n_bytes) for one in seen]
    rows = moves.order_by("partition")[:RANGES_SHOWN]
    return [Range(one.partition, one.partition, 1, one.n_bytes) for one in rows]
