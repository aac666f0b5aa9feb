"""Pages of advice on materializations: the list, one with its evidence, and what is decided."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from pipelines.materialized.selectors.advice import (
    ADVICE_ORDERS,
    MaterializationAdviceFilter,
    advice_visible,
    get_advice_for_user,
)
from pipelines.materialized.services.advice_decisions import advice_dismiss, advice_pause
from pipelines.models import MaterializationAdvice
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column


def advice_url(row: MaterializationAdvice) -> str:
    """Return the page of an advice."""
    return reverse("pipelines:materialization-advice-one", args=[row.pk])


ADVICE = ListSpec(
    template="pipelines/materialization_advice.html",
    caption="Advice on materializations",
    columns=(
        Column(key="__str__", title="Advice", url=advice_url),
        Column(key="badge", title="State", kind="state"),
        Column(key="facts", title="Table of facts", kind="code"),
        Column(key="n_queries", title="Queries", kind="count", sort="queries", is_zero_blank=True),
        Column(key="n_bytes", title="They read", kind="bytes", sort="read", is_zero_blank=True),
        Column(key="n_answered", title="Answered since", kind="count"),
        Column(key="made_at", title="Made", kind="ago", sort="made"),
        Column(key="decided_by", title="Decided by", shown_from="tablet"),
        Column(key="said", title="Why", is_wide=True),
    ),
    orders=ADVICE_ORDERS,
    filename="materialization-advice.csv",
    exports=(
        "lake", "facts", "name", "state", "gives_up", "reason", "n_queries", "n_days", "n_bytes",
        "seconds", "n_asked", "n_answered", "made_at", "confirmed_at", "decided_by", "decided_at",
        "why", "sql",
    ),
)  # fmt: skip


@require_GET
def advice(request: HttpRequest) -> HttpResponseBase:
    """List the advice that the person may see."""
    rows = advice_visible(current_lake(request), person(request))
    filterset = MaterializationAdviceFilter(request.GET, queryset=rows)
    return list_response(request, ADVICE, filterset=filterset, context={})


@require_GET
def shown(request: HttpRequest, number: int) -> HttpResponse:
    """Show one advice: what it would hold, the queries that speak for it, what came of it."""
    found = get_advice_for_user(number, person(request))
    return render(request, "pipelines/materialization_advice_one.html", {"found": found})


@require_POST
def pause(request: HttpRequest, number: int) -> HttpResponseRedirect:
    """Pause the materialization that nobody reads."""
    user = person(request)
    found = get_advice_for_user(number, user)
    advice_pause(found, user=user, why=request.POST.get("reason", ""), now=timezone.now())
    messages.success(request, f"{found.name} is paused. Its page resumes it.")
    return HttpResponseRedirect(advice_url(found))


@require_POST
def dismiss(request: HttpRequest, number: int) -> HttpResponseRedirect:
    """Dismiss an advice."""
    user = person(request)
    found = get_advice_for_user(number, user)
    advice_dismiss(found, user=user, why=request.POST.get("reason", ""), now=timezone.now())
    messages.success(request, "Dismissed. It comes again after four weeks at the earliest.")
    return HttpResponseRedirect(advice_url(found))
