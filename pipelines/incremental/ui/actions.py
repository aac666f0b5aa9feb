"""Actions on layers: run, pause, resume, read all rows, backfill, ask for columns, delete."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from pipelines.incremental.selectors.layers import get_edge, get_layer_for_user
from pipelines.incremental.services.declaring import layer_delete, layer_pause, layer_resume
from pipelines.incremental.services.requests import layer_backfill, layer_reread, layer_run
from pipelines.incremental.services.schemas import schema_ask
from pipelines.incremental.ui.forms import BackfillForm
from pipelines.incremental.ui.tables import layer_url
from portal.access.actors import Actor
from portal.lake.errors import RuleViolation
from portal.ui.forms import whole_number
from portal.ui.frame.context import person


@require_POST
def layer_run_view(request: HttpRequest, layer_id: int) -> HttpResponseRedirect:
    """Advance a layer now, with those that it is made of."""
    found = get_layer_for_user(layer_id, person(request))
    layer_run(found, by=Actor.of(person(request), lake=found.lake), now=timezone.now())
    messages.success(request, "It is being advanced.")
    return HttpResponseRedirect(layer_url(found))


@require_POST
def layer_pause_view(request: HttpRequest, layer_id: int) -> HttpResponseRedirect:
    """Advance a layer no more until it is resumed."""
    found = get_layer_for_user(layer_id, person(request))
    reason = request.POST.get("reason", "")
    layer_pause(
        found, reason=reason, by=Actor.of(person(request), lake=found.lake), now=timezone.now()
    )
    messages.success(request, "It is paused.")
    return HttpResponseRedirect(layer_url(found))


@require_POST
def layer_resume_view(request: HttpRequest, layer_id: int) -> HttpResponseRedirect:
    """Advance a paused layer again."""
    found = get_layer_for_user(layer_id, person(request))
    layer_resume(found, by=Actor.of(person(request), lake=found.lake), now=timezone.now())
    messages.success(request, "It is advanced again.")
    return HttpResponseRedirect(layer_url(found))


@require_POST
def layer_reread_view(request: HttpRequest, layer_id: int) -> HttpResponseRedirect:
    """Have all rows read the next time."""
    found = get_layer_for_user(layer_id, person(request))
    reason = request.POST.get("reason", "")
    layer_reread(
        found, reason=reason, by=Actor.of(person(request), lake=found.lake), now=timezone.now()
    )
    messages.success(request, "All rows are read the next time, which is soon.")
    return HttpResponseRedirect(layer_url(found))


@require_POST
def layer_backfill_view(request: HttpRequest, layer_id: int) -> HttpResponseRedirect:
    """Read some partitions again."""
    found = get_layer_for_user(layer_id, person(request))
    form = BackfillForm(request.POST)
    if not form.is_valid():
        raise RuleViolation("layer.range", "Give the first and the last partition.", field="low")
    by = Actor.of(person(request), lake=found.lake)
    layer_backfill(
        found, low=form.cleaned_data["low"], high=form.cleaned_data["high"], by=by,
        now=timezone.now(),
    )  # fmt: skip
    messages.success(request, "These partitions are read again.")
    return HttpResponseRedirect(layer_url(found))


@require_POST
def schema_ask_view(request: HttpRequest, layer_id: int, edge_id: int) -> HttpResponseRedirect:
    """Ask admins to go on with the columns that a source has now."""
    found = get_layer_for_user(layer_id, person(request))
    schema_ask(
        get_edge(found, edge_id),
        seen=request.POST.get("seen", ""),
        reread=request.POST.get("reread") == "1",
        by=Actor.of(person(request), lake=found.lake),
        now=timezone.now(),
    )
    messages.success(request, "Admins are asked; the layer waits until one has approved.")
    return HttpResponseRedirect(layer_url(found))


@require_POST
def layer_delete_view(request: HttpRequest, layer_id: int) -> HttpResponseRedirect:
    """Delete a layer; its table stays."""
    found = get_layer_for_user(layer_id, person(request))
    version = whole_number(request.POST.get("version", ""))
    if version is None:
        raise RuleViolation("layer.version", "Give the version that you read.", field="version")
    layer_delete(
        found, version=version, by=Actor.of(person(request), lake=found.lake), now=timezone.now()
    )
    messages.success(request, f"The layer {found} is deleted; its table stays.")
    return HttpResponseRedirect(f"{reverse('pipelines:layers')}?lake={found.lake}")
