"""The editor of a table's checks: drafts are proposed, imported, tried and saved."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from portal.lake.errors import PortalError, StaleState
from portal.runs.domain import FINAL
from portal.ui.forms import whole_number
from portal.ui.frame.context import current_lake, person
from quality.checks.domain.documents import write_document
from quality.checks.domain.soda import import_soda
from quality.checks.selectors.check_sets import (
    check_set_of_table,
    get_check_set_for_user,
    get_trial_for_user,
)
from quality.checks.services.declaring import Timing, checks_set
from quality.checks.services.starting import checks_propose
from quality.checks.services.trials import (
    MOST_WINDOWS,
    checks_try,
    run_of_trial,
    trial_request,
    trial_result,
)
from quality.checks.ui.forms import STARTING, CheckSetForm, SodaForm
from quality.checks.ui.tables import set_url, trial_url
from quality.models import CheckSet


@require_http_methods(["GET", "POST"])
def check_set_new(request: HttpRequest) -> HttpResponse:
    """Write the checks of a table that has none, from a proposal, a trial or an example."""
    lake = current_lake(request)
    if request.method == "POST":
        return _posted(request, CheckSetForm(request.POST), lake=lake)
    document = _document(request, lake)
    form = CheckSetForm(initial={"document": document})
    return _shown(request, form, {"lake": lake})


@require_http_methods(["GET", "POST"])
def check_set_edit(request: HttpRequest, set_id: int) -> HttpResponse:
    """Change the checks of a table."""
    found = get_check_set_for_user(set_id, person(request))
    if request.method == "POST":
        return _posted(request, CheckSetForm(request.POST), lake=found.lake, found=found)
    form = CheckSetForm.of(found)
    if request.GET.get("trial"):
        form.initial["document"] = _document(request, found.lake)
    return _shown(request, form, {"lake": found.lake, "found": found})


@require_GET
def check_trial(request: HttpRequest, trial_id: int) -> HttpResponse:
    """Show what a draft says of the windows that were measured for it."""
    user = person(request)
    row = get_trial_for_user(trial_id, user)
    run = run_of_trial(row)
    context = {
        "row": row,
        "run": run if user.is_lake_staff_of(row.lake) or user.username == row.asked_by else None,
        "is_over": run is None or run.state in FINAL,
        "trial": trial_result(row, user=user, now=timezone.now()),
        "document": write_document(row.checks),
        "saved": check_set_of_table(row.lake, row.db, row.table, user=user),
    }
    return render(request, "readiness/check_trial.html", context)


@require_http_methods(["GET", "POST"])
def check_soda(request: HttpRequest) -> HttpResponse:
    """Show what checks of Soda's form become here, and which do not fit."""
    lake = current_lake(request)
    form = SodaForm(request.POST or None)
    context: dict[str, Any] = {"form": form, "lake": lake, "n_past": MOST_WINDOWS}
    status = 200
    if form.is_valid():
        data = form.cleaned_data
        try:
            found = import_soda(data["soda"], db=data["db"], partition_key=data["partition_key"])
        except PortalError as error:
            form.add_error("soda", error.message)
        else:
            context["found"] = found
            if found.checks is not None:
                draft = {"document": write_document(found.checks)}
                context["editor"] = CheckSetForm(initial=draft)
    if form.is_bound and form.errors:
        status = 400
    return render(request, "readiness/check_soda.html", context, status=status)


def _document(request: HttpRequest, lake: str) -> str:
    user, table = person(request), request.GET.get("table", "db.table")
    trial = whole_number(request.GET.get("trial", ""))
    if trial is not None:
        return write_document(get_trial_for_user(trial, user).checks)
    if request.GET.get("propose"):
        return checks_propose(lake, table, user=user)
    return STARTING.format(table=table)


def _posted(
    request: HttpRequest, form: CheckSetForm, *, lake: str, found: CheckSet | None = None
) -> HttpResponse:
    """Try, measure or save what was written, as the button says."""
    context: dict[str, Any] = {"lake": lake, "found": found}
    if not form.is_valid():
        return _shown(request, form, context)
    user, now, text = person(request), timezone.now(), form.cleaned_data["document"]
    try:
        match request.POST.get("do"):
            case "try":
                context["trial"] = checks_try(lake, text, user=user, now=now)
            case "measure":
                trial = trial_request(lake, text, user=user, now=now)
                return HttpResponseRedirect(trial_url(trial))
            case _:
                return HttpResponseRedirect(set_url(_set(request, form, lake=lake)))
    except PortalError as error:
        form.is_stale = isinstance(error, StaleState)
        form.refuse(error)
    return _shown(request, form, context)


def _shown(request: HttpRequest, form: CheckSetForm, context: dict[str, Any]) -> HttpResponse:
    values = {**context, "form": form, "n_past": MOST_WINDOWS}
    return render(request, "readiness/check_set_edit.html", values, status=form.status)


def _set(request: HttpRequest, form: CheckSetForm, *, lake: str) -> CheckSet:
    data = form.cleaned_data
    made = checks_set(
        lake,
        data["document"],
        timing=Timing(data["every_minutes"], data["on_commit"]),
        version=data["version"],
        user=person(request),
        now=timezone.now(),
    )
    messages.success(request, f"The checks of {made} are set; they are measured soon.")
    return made
