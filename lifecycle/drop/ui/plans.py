"""The pages of drop plans: the list, one plan with what is lost first, the steps people take."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from lifecycle.core.ui.links import list_url
from lifecycle.drop.domain.refusal import EXPLANATIONS, LeftOut
from lifecycle.drop.models.plans import ENDED
from lifecycle.drop.selectors.changes import due_ranges
from lifecycle.drop.selectors.plans import (
    PLAN_ORDERS,
    PLAN_TABLE_ORDERS,
    RESULT_ORDERS,
    PlanFilter,
    PlanTableFilter,
    get_plan_for_user,
    left_out_visible,
    plan_loss,
    plan_results,
    plan_tables,
    plans_visible,
    typed_name,
)
from lifecycle.drop.services.plans import PLANS
from lifecycle.models import DropPlan, DropPlanTable, PlanState
from lifecycle.planning.selectors.backup_of_run import backup_of_run
from lifecycle.planning.selectors.inputs import plan_limits
from portal.lake.errors import NotVisible
from portal.runs.requests.selectors import run_waits
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column
from portal.ui.proposals import decide_page, proposal_context, reasoned_page

RESULTS_SHOWN = 50


def plan_url(plan: DropPlan) -> str:
    """Return the page of a plan."""
    return reverse("lifecycle:plan", args=[plan.pk])


PLAN_LIST = ListSpec(
    template="lifecycle/plans.html",
    caption="Drop plans",
    columns=(
        Column(key="title", title="Plan", url=plan_url, is_wide=True),
        Column(key="state", title="State", kind="state"),
        Column(key="seen_tables", title="Tables", kind="count"),
        Column(key="seen_items", title="Items", kind="count"),
        Column(key="seen_bytes", title="Size", kind="bytes", sort="size"),
        Column(key="newest_at", title="Newest update", kind="ago"),
        Column(key="requested_by", title="Requested by"),
        Column(key="created_at", title="Requested", kind="ago", sort="created"),
    ),
    orders=PLAN_ORDERS,
    filename="drop-plans.csv",
    exports=(
        *("id", "state", "source", "requested_by", "reason", "created_at", "seen_tables"),
        *("seen_items", "seen_bytes", "oldest_at", "newest_at", "digest", "ended_at", "ended_by"),
        "ended_reason",
    ),
)

TABLES = ListSpec(
    template="lifecycle/plan.html",
    caption="Tables of the plan",
    columns=(
        Column(
            key="__str__",
            title="Table",
            kind="template",
            template="lifecycle/_plan_table_name.html",
            sort="name",
        ),
        Column(key="get_kind_display", title="Scope"),
        Column(key="owner", title="Owner"),
        Column(key="n_items", title="Items", kind="count"),
        Column(key="n_bytes", title="Size", kind="bytes", sort="size"),
        Column(key="n_files", title="Files", kind="count"),
        Column(key="oldest_at", title="Oldest update", kind="ago", sort="oldest"),
        Column(key="newest_at", title="Newest update", kind="ago"),
        Column(key="n_still_read", title="Recently read", kind="count"),
        Column(
            key="is_first_drop",
            title="First drop",
            kind="template",
            template="lifecycle/_first_drop.html",
            help="Nothing of this table was dropped before",
        ),
    ),
    orders=PLAN_TABLE_ORDERS,
    filename="drop-plan-tables.csv",
    exports=(
        *("db", "table", "kind", "owner", "n_items", "n_bytes", "n_files", "n_still_read"),
        *("oldest_at", "newest_at", "is_first_drop", "digest"),
    ),
)


@require_GET
def plans(request: HttpRequest) -> HttpResponseBase:
    """List the plans that the person may see, newest first."""
    lake, user = current_lake(request), person(request)
    filterset = PlanFilter(request.GET, queryset=plans_visible(lake, user))
    context = {"may_make": user.is_lake_staff_of(lake)}
    return list_response(request, PLAN_LIST, filterset=filterset, context=context)


@require_GET
def plan(request: HttpRequest, plan_id: UUID) -> HttpResponseBase:
    """Show one plan: what is lost, where it stands, and what this person may do."""
    user = person(request)
    found = get_plan_for_user(plan_id, user=user)
    loss = plan_loss(found, user)
    results = keyset_page(plan_results(found, user), {}, orders=RESULT_ORDERS, size=RESULTS_SHOWN)
    context = {
        **_standing(found),
        "loss": loss,
        "limits": None if loss.is_part else plan_limits(found),
        **proposal_context(PLANS, found, user),
        "approve_url": reverse("lifecycle:plan-approve", args=[found.pk]),
        "reject_url": reverse("lifecycle:plan-reject", args=[found.pk]),
        "typed": typed_name(found) if loss.needs_typing else "",
        "left_out": left_out_rows(left_out_visible(found, loss)),
        "results": results,
        "backup": backup_of_run(found.run.pk) if found.run is not None else None,
    }
    filterset = PlanTableFilter(request.GET, queryset=plan_tables(found, user))
    return list_response(request, TABLES, filterset=filterset, context=context)


@require_GET
def plan_progress(request: HttpRequest, plan_id: UUID) -> HttpResponse:
    """Return the live part of a plan's page; when its state changes the page is loaded again."""
    found = get_plan_for_user(plan_id, user=person(request))
    response = render(request, "lifecycle/_plan_progress.html", _standing(found))
    if request.GET.get("was") not in (None, found.state):
        response["HX-Refresh"] = "true"
    return response


@require_GET
def plan_table(request: HttpRequest, plan_id: UUID, db: str, table: str) -> HttpResponse:
    """Show the first items of one table of a plan."""
    user = person(request)
    found = get_plan_for_user(plan_id, user=user)
    row = get_plan_table(found, db, table, request)
    results = plan_results(found, user).filter(db=db, table=table)
    context = {
        "plan": found,
        "row": row,
        "examples": row.examples.all(),
        "results": keyset_page(results, request.GET, orders=RESULT_ORDERS),
    }
    return render(request, "lifecycle/plan_table.html", context)


@require_GET
def plan_table_ranges(request: HttpRequest, plan_id: UUID, db: str, table: str) -> HttpResponse:
    """Return the ranges of one table of a plan, for its row to unfold."""
    found = get_plan_for_user(plan_id, user=person(request))
    row = get_plan_table(found, db, table, request)
    ranges = due_ranges(row)
    context = {"row": row, "ranges": ranges, "n_ranges_items": sum(one.n_items for one in ranges)}
    return render(request, "lifecycle/_plan_ranges.html", context)


def get_plan_table(plan: DropPlan, db: str, table: str, request: HttpRequest) -> DropPlanTable:
    """Return a table of a plan that this person may see."""
    row = plan_tables(plan, person(request)).filter(db=db, table=table).first()
    if row is None:
        raise NotVisible("plan.table", "There is no such table in this plan for you.")
    return row


plan_approve_view = decide_page(
    PLANS, plan_url, decision="APPROVE", done="Your approval was recorded."
)
plan_reject_view = decide_page(
    PLANS, plan_url, decision="REJECT", done="The plan is rejected; nothing of it is dropped."
)
plan_withdraw_view = reasoned_page(
    PLANS.withdraw, plan_url, done="The plan is withdrawn; nothing of it is dropped."
)


def _standing(plan: DropPlan) -> dict[str, Any]:
    """Return what the live part of the page shows."""
    n_given = (
        plan.approval.decisions.filter(decision="APPROVE").count()
        if plan.approval is not None
        else 0
    )
    return {
        "plan": plan,
        "lives": plan.state not in ENDED,
        "run": plan.run,
        "waits": _waits(plan),
        "n_given": n_given,
        "n_missing": max(plan.approval.n_needed - n_given, 0) if plan.approval is not None else 0,
        "is_cool": bool(
            plan.approval is not None
            and plan.approval.cool_until is not None
            and plan.approval.cool_until <= timezone.now()
        ),
        "blocked": (plan.outcome or {}).get("blocked"),
        "counts": (plan.outcome or {}).get("counts", {}),
        "plans_url": list_url("plans", plan.lake),
    }


def _waits(plan: DropPlan) -> str:
    """Say what keeps the plan's own run from going on."""
    run = plan.plan_run if plan.state == PlanState.DRAFTING else plan.run
    return run_waits(run, now=timezone.now()) if run is not None else ""


def left_out_rows(left_out: dict[str, int]) -> list[dict[str, Any]]:
    """Return what was left out of a plan, most first, each with its reason in words."""
    counts = sorted(left_out.items(), key=lambda pair: -pair[1])
    return [
        {"reason": reason, "n": n, "words": EXPLANATIONS[LeftOut(reason)]} for reason, n in counts
    ]
