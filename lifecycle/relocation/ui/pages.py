"""The pages of relocation plans: choose paths, see from where to where, decide, follow, undo."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from lifecycle.core.ui.links import list_url, table_url
from lifecycle.drop.models.plans import ENDED
from lifecycle.inventory.selectors.findings import current_generation
from lifecycle.models import PathFinding, PlanState, RelocationPlan
from lifecycle.relocation.selectors import (
    CANDIDATE_ORDERS,
    FIX_ITEM_ORDERS,
    FIX_ORDERS,
    FixCandidateFilter,
    RelocationMoveFilter,
    RelocationPlanFilter,
    fix_candidates,
    fix_counts,
    fix_items,
    fixes_visible,
    get_fix_for_user,
)
from lifecycle.relocation.services.plans import FIXES, fix_request, fix_undo_request
from portal.lake.errors import NotAllowed
from portal.runs.requests.selectors import run_waits
from portal.ui.forms import whole_number
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column
from portal.ui.proposals import decide_page, proposal_context, reasoned_page


def _table_url(row: PathFinding) -> str | None:
    return table_url(row.lake, row.db, row.table) if row.table else None


def fix_url(row: RelocationPlan) -> str:
    """Return the page of a relocation plan."""
    return reverse("lifecycle:path-fix", args=[row.pk])


FIX_LIST = ListSpec(
    template="lifecycle/relocations.html",
    caption="Relocation plans",
    columns=(
        Column(key="title", title="Plan", url=fix_url, is_wide=True),
        Column(key="state", title="State", kind="state"),
        Column(key="what", title="What it does"),
        Column(key="n_items", title="Paths", kind="count"),
        Column(key="n_left_out", title="Left out", kind="count"),
        Column(key="n_bytes", title="Size", kind="bytes"),
        Column(key="requested_by", title="Requested by"),
        Column(key="created_at", title="Requested", kind="ago", sort="created"),
    ),
    orders=FIX_ORDERS,
    filename="fix-plans.csv",
    exports=(
        "id", "state", "what", "undo_of_id", "n_items", "n_left_out", "n_files", "n_bytes",
        "requested_by", "reason", "created_at", "digest", "ended_at", "ended_by", "ended_reason",
    ),
)  # fmt: skip
ITEMS = ListSpec(
    template="lifecycle/relocation.html",
    caption="Paths of the relocation plan",
    columns=(
        Column(
            key="__str__",
            title="Name",
            kind="template",
            template="lifecycle/_relocation_name.html",
            sort="name",
        ),
        Column(key="state", title="State", kind="state"),
        Column(
            key="source", title="From and to", kind="template", template="lifecycle/_move.html"
        ),
        Column(key="n_files", title="Files", kind="count"),
        Column(key="n_bytes", title="Size", kind="bytes", sort="size"),
        Column(key="n_partitions", title="Partitions along", kind="count"),
        Column(key="owner", title="Owner"),
        Column(key="note", title="Note"),
    ),
    orders=FIX_ITEM_ORDERS,
    filename="fix-plan.csv",
    exports=(
        "kind", "db", "table", "partition", "owner", "db_owner", "reasons", "source", "target",
        "n_files", "n_bytes", "n_partitions", "state", "left_out_reason", "note",
    ),
)  # fmt: skip
CANDIDATES = ListSpec(
    template="lifecycle/relocation_new.html",
    caption="Tables and partitions with path rule violations",
    columns=(
        Column(key="__str__", title="Name", kind="code", sort="name", url=_table_url),
        Column(key="kind", title="Kind"),
        Column(
            key="hint",
            title="Why, and what to do",
            kind="template",
            template="lifecycle/_remedy.html",
        ),
        Column(key="owner", title="Owner"),
        Column(key="location", title="Path", kind="template", template="lifecycle/_place.html"),
    ),
    orders=CANDIDATE_ORDERS,
    filename="paths-to-fix.csv",
    exports=("kind", "db", "table", "partition", "owner", "location", "reasons", "hint"),
    select="row",
)


@require_GET
def path_fixes(request: HttpRequest) -> HttpResponseBase:
    """List the relocation plans that the person may see."""
    lake, user = current_lake(request), person(request)
    filterset = RelocationPlanFilter(request.GET, queryset=fixes_visible(lake, user))
    context = {"may_make": user.is_lake_staff_of(lake)}
    return list_response(request, FIX_LIST, filterset=filterset, context=context)


@require_http_methods(["GET", "POST"])
def relocation_new(request: HttpRequest) -> HttpResponseBase:
    """Choose nonconforming paths (GET), then have a plan created for them (POST)."""
    lake, user = current_lake(request), person(request)
    if not user.is_lake_staff_of(lake):
        raise NotAllowed("fix.role", "Admins and operators make relocation plans; ask one of them.")
    if request.method == "POST":
        said = map(whole_number, request.POST.getlist("row"))
        rows = [number for number in said if number is not None]
        reason = request.POST.get("reason", "")
        made = fix_request(lake, rows, reason=reason, user=user, now=timezone.now())
        messages.success(
            request, "The plan is being prepared; nothing moves before two people approve."
        )
        return HttpResponseRedirect(fix_url(made))
    filterset = FixCandidateFilter(request.GET, queryset=fix_candidates(lake, user))
    context = {"generation": current_generation(lake)}
    return list_response(request, CANDIDATES, filterset=filterset, context=context)


@require_GET
def path_fix(request: HttpRequest, fix_id: UUID) -> HttpResponseBase:
    """Show one relocation plan.

    From where to where, what is left out and why, and what may be done.
    """
    user = person(request)
    found = get_fix_for_user(fix_id, user=user)
    filterset = RelocationMoveFilter(request.GET, queryset=fix_items(found, user))
    context = {
        **_standing(found),
        **proposal_context(FIXES, found, user, decide="lifecycle:path-fix-decide"),
        "counts": fix_counts(found, user),
        "undos": list(found.undone_by.order_by("created_at")),
        "list_url": list_url("path-fixes", found.lake),
    }
    return list_response(request, ITEMS, filterset=filterset, context=context)


@require_GET
def relocation_progress(request: HttpRequest, fix_id: UUID) -> HttpResponse:
    """Return the live part of a plan's page; when its state changes the page is loaded again."""
    found = get_fix_for_user(fix_id, user=person(request))
    response = render(request, "lifecycle/_relocation_progress.html", _standing(found))
    if request.GET.get("was") not in (None, found.state):
        response["HX-Refresh"] = "true"
    return response


relocation_decide = decide_page(FIXES, fix_url)
relocation_withdraw = reasoned_page(
    FIXES.withdraw, fix_url, done="The plan is withdrawn; nothing is moved."
)
relocation_undo = reasoned_page(
    fix_undo_request, fix_url, done="The undo plan is being prepared; it needs the same approvals."
)


def _standing(fix: RelocationPlan) -> dict[str, Any]:
    """Return what the live part of the page shows."""
    given = fix.approval.decisions.filter(decision="APPROVE").count() if fix.approval else 0
    needed = fix.approval.n_needed if fix.approval else 0
    run = fix.plan_run if fix.state == PlanState.DRAFTING else fix.run
    return {
        "fix": fix,
        "lives": fix.state not in ENDED,
        "run": fix.run,
        "waits": run_waits(run, now=timezone.now()) if run is not None else "",
        "n_given": given,
        "n_missing": max(needed - given, 0),
        "blocked": (fix.outcome or {}).get("blocked"),
    }
