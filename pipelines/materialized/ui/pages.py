"""Pages of materializations: the list, one with its refreshes, and the editor."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from pipelines.materialized.selectors.advice import get_advice_for_user, n_new_advice
from pipelines.materialized.selectors.answers import unanswering_reason
from pipelines.materialized.selectors.materializations import (
    MaterializationFilter,
    RefreshFilter,
    get_materialization_for_user,
    materializations_visible,
    refreshes_of,
)
from pipelines.materialized.selectors.readers import hold_on_facts
from pipelines.materialized.selectors.uses import days_of, uses_of
from pipelines.materialized.services.advice_decisions import advice_define
from pipelines.materialized.services.days import KEPT_DAYS
from pipelines.materialized.services.definitions import (
    definition_read,
    materialization_create,
    materialization_edit,
)
from pipelines.materialized.services.requests import open_run_of, run_under_way
from pipelines.materialized.ui.forms import STARTING, MaterializationForm
from pipelines.materialized.ui.tables import MATERIALIZATIONS, REFRESHES, row_url, try_url
from pipelines.models import MaterializationAdvice
from portal.lake.errors import PortalError
from portal.ui.forms import whole_number
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import list_response
from portal.ui.run_steps import progress_shown

_EDIT = "pipelines/materialization_edit.html"


@require_GET
def materializations(request: HttpRequest) -> HttpResponseBase:
    """List the materializations that the person may see."""
    lake, user = current_lake(request), person(request)
    filterset = MaterializationFilter(request.GET, queryset=materializations_visible(lake, user))
    context = {"n_advice": n_new_advice(lake, user)}
    return list_response(request, MATERIALIZATIONS, filterset=filterset, context=context)


@require_GET
def materialization(request: HttpRequest, number: int) -> HttpResponseBase:
    """Show one materialization: its definition, its plan, and its refreshes."""
    user = person(request)
    found = get_materialization_for_user(number, user)
    filterset = RefreshFilter(request.GET, queryset=refreshes_of(found))
    context = {
        "found": found,
        "definition": found.definition,
        "run": open_run_of(found),
        "progress": progress_shown(run_under_way(found), user),
        "unusable": unanswering_reason(found),
        "hold": hold_on_facts(found),
        "uses": uses_of(found),
        "days": days_of(found),
        "kept_days": KEPT_DAYS,
        "try_url": try_url(found),
    }
    return list_response(request, REFRESHES, filterset=filterset, context=context)


@require_http_methods(["GET", "POST"])
def materialization_new(request: HttpRequest) -> HttpResponse:
    """Define a materialization; `check` shows what was read out of it and saves nothing."""
    lake, user = current_lake(request), person(request)
    advised = _advised(request)
    initial = {"sql": STARTING}
    if advised is not None:
        lake, initial = advised.lake, {"sql": advised.sql, "name": advised.name}
    form = MaterializationForm(request.POST or None, initial=initial)
    checked = None
    if form.is_valid():
        data = form.cleaned_data
        try:
            checked = definition_read(data["sql"])
            if request.POST.get("do") != "check":
                asked, now = (data["name"], form.wanted), timezone.now()
                if advised is not None:
                    made = advice_define(advised, *asked, user=user, now=now)
                else:
                    made = materialization_create(lake, *asked, user=user, now=now)
                messages.success(request, f"{made} is defined; it is computed soon.")
                return HttpResponseRedirect(row_url(made))
        except PortalError as error:
            form.refuse(error)
    context = {"form": form, "lake": lake, "checked": checked, "advised": advised}
    return render(request, _EDIT, context, status=form.status)


def _advised(request: HttpRequest) -> MaterializationAdvice | None:
    """Return the advice that the form is filled in from."""
    said = request.GET.get("advice", "")
    if not said:
        return None
    return get_advice_for_user(whole_number(said) or 0, person(request))


@require_http_methods(["GET", "POST"])
def materialization_change(request: HttpRequest, number: int) -> HttpResponse:
    """Change a definition or its schedule."""
    user = person(request)
    found = get_materialization_for_user(number, user)
    form = MaterializationForm.of(found, request.POST or None)
    checked = None
    if form.is_valid():
        data = form.cleaned_data
        try:
            checked = definition_read(data["sql"])
            if request.POST.get("do") != "check":
                materialization_edit(
                    found,
                    form.wanted,
                    version=data["version"],
                    user=user,
                    now=timezone.now(),
                )
                messages.success(request, f"{found} is changed.")
                return HttpResponseRedirect(row_url(found))
        except PortalError as error:
            form.refuse(error)
    context = {"form": form, "lake": found.lake, "found": found, "checked": checked}
    return render(request, _EDIT, context, status=form.status)
