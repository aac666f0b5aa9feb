"""The button that starts a scan now, and the page on which a smaller lake is accepted."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from lifecycle.inventory.selectors.findings import newest_scan
from lifecycle.inventory.services.scan import KIND, scan_request
from lifecycle.inventory.services.scan_acceptance import (
    SHRANK,
    get_smaller_lake,
    scan_accept_smaller,
)
from portal.access.fresh import authenticated_at, require_fresh
from portal.access.models import User
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.runs.requests.selectors import broker_problem
from portal.ui.frame.context import LakeScan, current_lake, person, register_lake_scan
from portal.ui.run_steps import RunStep, register_run_step


@require_POST
def scan_now(request: HttpRequest) -> HttpResponseRedirect:
    """Start a scan, or go to the one that is under way."""
    user = person(request)
    run = scan_request(
        current_lake(request),
        user=user,
        now=timezone.now(),
        reason=request.POST.get("reason", "") or "asked for on the page",
    )
    if broker_problem():
        messages.warning(request, "The scan is asked for and waits for the message broker.")
    else:
        messages.success(request, "The scan is under way; what you see stays until it is done.")
    return HttpResponseRedirect(reverse("ui:run", args=[run.pk]))


@require_http_methods(["GET", "POST"])
def scan_smaller(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show what a scan stopped on; POST accepts the smaller lake for one scan."""
    if request.method == "POST":
        return _accept(request, run_id)  # type: ignore[return-value]  # a decorator loses the type
    smaller = get_smaller_lake(run_id, user=person(request))
    return render(request, "lifecycle/scan_smaller.html", {"smaller": smaller})


@require_fresh
def _accept(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = scan_accept_smaller(
        run_id,
        user=person(request),
        reason=request.POST.get("reason", ""),
        authenticated_at=authenticated_at(request),
        now=timezone.now(),
    )
    messages.success(request, "Accepted for one scan, which is under way.")
    return HttpResponseRedirect(reverse("ui:run", args=[run.pk]))


def _smaller_step(run: Run, user: User) -> RunStep | None:
    """Offer on the page of a scan that stopped what an admin may do about it."""
    if run.kind != KIND or (run.error or {}).get("code") != SHRANK:
        return None
    if not user.is_lake_staff_of(run.lake):
        return None
    url = reverse("lifecycle:scan-smaller", args=[run.pk])
    return RunStep("Confirm a large drop in inventory", url, "An admin may accept it for one scan.")


def _lake_scan(lake: str) -> LakeScan:
    """Return the scan whose picture the pages show, and the newest scan where that one failed."""
    run = newest_scan(lake, KIND)
    if run is None:
        return LakeScan()
    failed_run = run.pk if run.state == RunState.FAILED else None
    return LakeScan(as_of=run.shown_as_of, run=run.shown_run, failed_run=failed_run)


def register_scan_steps() -> None:
    """Register the step on a run's page and the scan that the top bar speaks of."""
    register_run_step(_smaller_step)
    register_lake_scan(_lake_scan)
