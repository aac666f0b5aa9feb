"""Pages of checks: which tables have them, one table's results and history, and the editor."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from portal.lake.errors import PortalError, StaleState
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import list_response
from quality.checks.domain.plan import metrics_of, reason_separate
from quality.checks.selectors.check_sets import (
    CheckSetFilter,
    HistoryFilter,
    ResultFilter,
    check_sets_visible,
    get_check_set_for_user,
    get_result_for_user,
    history_of,
    n_without_checks,
    results_of,
)
from quality.checks.services.declaring import checks_set
from quality.checks.services.requests import open_run_of
from quality.checks.ui.forms import STARTING, CheckSetForm
from quality.checks.ui.tables import HISTORY, RESULTS, SETS, set_url
from quality.models import CheckSet


@require_GET
def checks(request: HttpRequest) -> HttpResponseBase:
    """List the tables with checks that the person may see."""
    lake, user = current_lake(request), person(request)
    filterset = CheckSetFilter(request.GET, queryset=check_sets_visible(lake, user))
    context = {"n_without": n_without_checks(lake, user)}
    return list_response(request, SETS, filterset=filterset, context=context)


@require_GET
def check_set(request: HttpRequest, set_id: int) -> HttpResponseBase:
    """Show one table's rules and their results, newest first."""
    found = get_check_set_for_user(set_id, person(request))
    filterset = ResultFilter(request.GET, queryset=results_of(found))
    document = found.checks
    separate = [(one.label, reason_separate(one)) for one in metrics_of(document.rules)]
    context = {
        "found": found,
        "document": document,
        "separate": [one for one in separate if one[1]],
        "run": open_run_of(found),
    }
    return list_response(request, RESULTS, filterset=filterset, context=context)


@require_GET
def check_history(request: HttpRequest, set_id: int) -> HttpResponseBase:
    """List what was measured of one table."""
    found = get_check_set_for_user(set_id, person(request))
    filterset = HistoryFilter(request.GET, queryset=history_of(found))
    return list_response(request, HISTORY, filterset=filterset, context={"found": found})


@require_GET
def check_result(request: HttpRequest, result_id: int) -> HttpResponse:
    """Show what a rule says of one window, and its override."""
    user = person(request)
    found = get_result_for_user(result_id, user)
    override = getattr(found, "override", None)
    context = {
        "result": found,
        "override": override,
        "may_ask": found.holds_back and override is None,
        "may_confirm": found.holds_back
        and override is not None
        and not override.holds
        and override.asked_by != user.username,
    }
    return render(request, "readiness/check_result.html", context)


@require_http_methods(["GET", "POST"])
def check_set_new(request: HttpRequest) -> HttpResponse:
    """Write the checks of a table that has none."""
    lake = current_lake(request)
    table = request.GET.get("table", "db.table")
    form = CheckSetForm(request.POST or None, initial={"document": STARTING.format(table=table)})
    if form.is_valid():
        made = _set(request, form, lake=lake)
        if made is not None:
            return HttpResponseRedirect(set_url(made))
    context = {"form": form, "lake": lake}
    return render(request, "readiness/check_set_edit.html", context, status=form.status)


@require_http_methods(["GET", "POST"])
def check_set_edit(request: HttpRequest, set_id: int) -> HttpResponse:
    """Change the checks of a table."""
    found = get_check_set_for_user(set_id, person(request))
    form = CheckSetForm(request.POST) if request.method == "POST" else CheckSetForm.of(found)
    if form.is_valid():
        made = _set(request, form, lake=found.lake)
        if made is not None:
            return HttpResponseRedirect(set_url(made))
    context = {"form": form, "lake": found.lake, "found": found}
    return render(request, "readiness/check_set_edit.html", context, status=form.status)


def _set(request: HttpRequest, form: CheckSetForm, *, lake: str) -> CheckSet | None:
    data = form.cleaned_data
    try:
        made = checks_set(
            lake,
            data["document"],
            every_minutes=data["every_minutes"],
            version=data["version"],
            user=person(request),
            now=timezone.now(),
        )
    except PortalError as error:
        form.is_stale = isinstance(error, StaleState)
        form.refuse(error)
        return None
    messages.success(request, f"The checks of {made} are set; they are measured soon.")
    return made
