"""Actions on comparisons: compare now, set the hour, order a repair."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from pipelines.cdc.control.selectors.pipelines import get_captured_table, get_pipeline_for_user
from pipelines.cdc.reconciling.services.repairs import repair_request
from pipelines.cdc.reconciling.services.schedules import comparison_request, schedule_set
from pipelines.cdc.reconciling.ui.pages import comparisons_url
from portal.access.actors import Actor
from portal.access.fresh import is_fresh
from portal.lake.errors import RuleViolation
from portal.ui.frame.context import person

_ASKED = "It is being compared; the result stands here when it is done."


@require_POST
def compare_view(request: HttpRequest, name: str) -> HttpResponseRedirect:
    """Compare every table of a pipeline now."""
    found = get_pipeline_for_user(name, user=person(request))
    comparison_request(found, None, by=_actor(request, found.lake), now=timezone.now())
    messages.success(request, _ASKED)
    return HttpResponseRedirect(reverse("pipelines:comparisons", args=[name]))


@require_POST
def table_compare_view(request: HttpRequest, name: str, pk: int) -> HttpResponseRedirect:
    """Compare one table now."""
    found = get_pipeline_for_user(name, user=person(request))
    table = get_captured_table(found, pk)
    comparison_request(found, table, by=_actor(request, found.lake), now=timezone.now())
    messages.success(request, _ASKED)
    return HttpResponseRedirect(comparisons_url(table))


@require_POST
def schedule_view(request: HttpRequest, name: str) -> HttpResponseRedirect:
    """Set at which hour tables are compared, and how fast the source is read."""
    found = get_pipeline_for_user(name, user=person(request))
    said = request.POST.get("hour", "")
    hour = None if said == "" else _number(said, "hour")
    rate = _number(request.POST.get("rows_per_second", ""), "rows_per_second")
    now = timezone.now()
    schedule_set(found, hour=hour, rows_per_second=rate, by=_actor(request, found.lake), now=now)
    messages.success(request, "The schedule is kept.")
    return HttpResponseRedirect(reverse("pipelines:comparisons", args=[name]))


@require_POST
def repair_view(
    request: HttpRequest, name: str, pk: int, comparison_id: int
) -> HttpResponseRedirect:
    """Have the rows that a comparison found written again."""
    table = get_captured_table(get_pipeline_for_user(name, user=person(request)), pk)
    reason, now = request.POST.get("reason", ""), timezone.now()
    by = _actor(request, table.pipeline.lake)
    repair_request(table, comparison_id, reason=reason, by=by, now=now)
    messages.success(request, "Ordered: the capture writes the rows again.")
    return HttpResponseRedirect(comparisons_url(table))


def _number(text: str, field: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise RuleViolation("comparison.schedule", f"{text!r} is no number.", field=field)
    return int(text)


def _actor(request: HttpRequest, lake: str) -> Actor:
    return Actor.of(person(request), lake=lake, is_fresh=is_fresh(request, timezone.now()))
