"""The pages on which a plan begins: choose, see what it would take, have it created; requests."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from lifecycle.core.selectors.filters import TABLE_ORDERS
from lifecycle.core.ui.links import list_url, table_url
from lifecycle.drop.selectors.plans import deletion_requests_visible, tables_to_plan
from lifecycle.drop.services.deletion_requests import deletion_request, deletion_request_close
from lifecycle.drop.services.plans import plan_request
from lifecycle.drop.services.preview import Preview, plan_preview, require_something
from lifecycle.drop.ui.plans import plan_url
from lifecycle.inventory.selectors.dropped import take_off_dropped
from lifecycle.models import DeletionRequest, DropPlan
from lifecycle.planning.selectors.inputs import act_databases, plan_caps
from portal.lake.errors import NotAllowed, RuleViolation
from portal.ui.frame.addresses import back_or
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.keyset import keyset_page

MAX_CHOSEN = 500


class DeletionRequestForm(forms.Form):
    """What an owner says when requesting a deletion."""

    db = forms.CharField(max_length=128)
    table = forms.CharField(max_length=256)
    partition = forms.CharField(required=False, max_length=767, strip=False)
    with_recently_read = forms.BooleanField(required=False)
    reason = forms.CharField(max_length=1000)


@require_http_methods(["GET", "POST"])
def plan_new(request: HttpRequest) -> HttpResponse:
    """Choose databases and tables (GET shows what they hold), then make the plan (POST)."""
    lake, user = current_lake(request), person(request)
    if not user.is_lake_staff_of(lake):
        raise NotAllowed("plan.role", "Admins and operators make drop plans.")
    data = request.POST if request.method == "POST" else request.GET
    databases, tables = data.getlist("databases")[:MAX_CHOSEN], data.getlist("tables")[:MAX_CHOSEN]
    preview, problem = None, ""
    if databases or tables:
        preview = plan_preview(lake, user, databases=databases, tables=tables, now=timezone.now())
    elif "look" in request.GET:
        problem = "Choose at least one database or table: tick it in the lists below."
    if request.method == "POST":
        try:
            plan = _request(request, lake, preview, databases=databases, tables=tables)
        except RuleViolation as error:
            problem = error.message
        else:
            messages.info(request, "The plan is being created. This page shows it when it is.")
            return HttpResponseRedirect(plan_url(plan))
    page = keyset_page(tables_to_plan(lake, user), request.GET, orders=TABLE_ORDERS)
    take_off_dropped(page.rows)
    context = {
        "page": page,
        "rows": [(row, str(row) in tables) for row in page.rows],
        "databases": sorted(act_databases(lake)),
        "chosen_databases": databases,
        "chosen_tables": tables,
        "preview": preview,
        "problem": problem,
        "reason": request.POST.get("reason", ""),
        "wishes": deletion_requests_visible(lake, user)
        .filter(state=DeletionRequest.State.OPEN)
        .order_by("created_at")[:50],
        "caps": plan_caps(lake),
    }
    status = 400 if problem else 200
    return render(request, "lifecycle/plan_new.html", context, status=status)


def _request(
    request: HttpRequest,
    lake: str,
    preview: Preview | None,
    *,
    databases: list[str],
    tables: list[str],
) -> DropPlan:
    if preview is not None:
        require_something(preview)
    return plan_request(
        lake,
        databases=databases,
        tables=tables,
        reason=request.POST.get("reason", ""),
        user=person(request),
        now=timezone.now(),
    )


@require_GET
def wishes(request: HttpRequest) -> HttpResponse:
    """List the deletion requests: one's own, or all for admins and operators."""
    lake, user = current_lake(request), person(request)
    page = keyset_page(
        deletion_requests_visible(lake, user), request.GET, orders={"-created": ("-created_at",)}
    )
    context = {"page": page, "sees_all": user.is_lake_staff_of(lake)}
    return render(request, "lifecycle/deletion_requests.html", context)


@require_POST
def wish_new(request: HttpRequest) -> HttpResponse:
    """Ask that a table, or a partition of it, be cleaned now."""
    lake, form = current_lake(request), DeletionRequestForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Enter a reason.")
        return HttpResponseRedirect(list_url("wishes", lake))
    data = form.cleaned_data
    deletion_request(
        lake=lake,
        name=(data["db"], data["table"], data["partition"]),
        with_recently_read=data["with_recently_read"],
        reason=data["reason"],
        user=person(request),
        now=timezone.now(),
    )
    messages.success(request, "Request sent to the admins.")
    return HttpResponseRedirect(back_or(request, table_url(lake, data["db"], data["table"])))


@require_POST
def wish_close(request: HttpRequest, wish_id: UUID) -> HttpResponse:
    """Take a request back, or decline it with a reason."""
    reason = request.POST.get("reason", "")
    deletion_request_close(wish_id, user=person(request), reason=reason, now=timezone.now())
    messages.success(request, "The request is closed.")
    return HttpResponseRedirect(back_or(request, list_url("wishes", current_lake(request))))
