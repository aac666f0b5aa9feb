"""What a person asks of a Hudi table: a look, a service, a pause, its end, and a dry run."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from optimizer.core.ui.table_links import page_after
from optimizer.hudi.inspect.services.inspection import hudi_inspection_ask
from optimizer.hudi.maintenance.domain.tasks import Service, Step
from optimizer.hudi.pages.ui.service_status import CHOSEN
from optimizer.hudi.planner.services.actions import (
    hudi_explain,
    hudi_pause,
    hudi_resume,
    service_ask,
)
from optimizer.hudi.tables.selectors.tables import get_hudi_for_user
from portal.lake.errors import RuleViolation
from portal.ui.frame.context import person

INSTANTS_AT_MOST = 1000


@require_GET
def plan(request: HttpRequest, table_id: int) -> HttpResponse:
    """Show what would be done to the table now, and what is not done and why."""
    user = person(request)
    table = get_hudi_for_user(table_id, user)
    found = hudi_explain(table.pk, user, timezone.now())
    return render(request, "optimizer/hudi_plan.html", {"hudi": table, "decision": found})


@require_POST
def look(request: HttpRequest, table_id: int) -> HttpResponse:
    """Have the table looked at now, its record keys too if that is asked for."""
    user = person(request)
    table = get_hudi_for_user(table_id, user)
    is_deep = bool(request.POST.get("read_keys"))
    hudi_inspection_ask(
        table.lake, table.pk, by=user.username, read_keys=is_deep, now=timezone.now()
    )
    messages.success(request, "It is read with the next inspection run; reload in some minutes.")
    return HttpResponseRedirect(page_after(table, user))


@require_POST
def service(request: HttpRequest, table_id: int) -> HttpResponse:
    """Queue a step of a service for the next run: on some instants, or on all that are pending."""
    user = person(request)
    table = get_hudi_for_user(table_id, user)
    which, step = _step_of(request)
    task = service_ask(
        table.pk,
        service=which,
        step=step,
        instants=_instants_of(request),
        user=user,
        reason=request.POST.get("reason", ""),
        now=timezone.now(),
    )
    messages.success(request, f"It is in the queue. {task.waits_for}".strip())
    return HttpResponseRedirect(page_after(table, user, "hudi-services"))


@require_POST
def pause(request: HttpRequest, table_id: int) -> HttpResponse:
    """Have nothing begun on the table."""
    user = person(request)
    table = get_hudi_for_user(table_id, user)
    hudi_pause(table.pk, user=user, reason=request.POST.get("reason", ""), now=timezone.now())
    messages.success(request, "Its services are held: nothing is begun on it from now on.")
    return HttpResponseRedirect(page_after(table, user))


@require_POST
def resume(request: HttpRequest, table_id: int) -> HttpResponse:
    """Let the table be served again."""
    user = person(request)
    table = get_hudi_for_user(table_id, user)
    hudi_resume(table.pk, user=user, reason=request.POST.get("reason", ""), now=timezone.now())
    messages.success(request, "It is inspected and served again.")
    return HttpResponseRedirect(page_after(table, user))


def _step_of(request: HttpRequest) -> tuple[Service, Step]:
    try:
        return Service(request.POST.get("service", "")), Step(request.POST.get("step", ""))
    except ValueError:
        services, steps = ", ".join(Service), " or ".join(Step)
        raise RuleViolation(
            "hudi.service", f"Name a service ({services}) and its step ({steps})."
        ) from None


def _instants_of(request: HttpRequest) -> tuple[str, ...]:
    """Read which instants are meant; none means all, but never where some were to be ticked."""
    named = [one for text in request.POST.getlist("instants") for one in text.split()]
    if not named and request.POST.get(CHOSEN):
        raise RuleViolation("hudi.none-chosen", "Tick the plans that shall be executed.")
    if len(named) > INSTANTS_AT_MOST:
        raise RuleViolation("hudi.too-many", f"Name {INSTANTS_AT_MOST} instants at most.")
    return tuple(dict.fromkeys(named))
