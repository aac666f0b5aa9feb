"""Pages of layers: the list, one layer with its history, the lineage, and the editor."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from pipelines.cdc.control.selectors.pipelines import check_lake_staff
from pipelines.incremental.domain.lineage import lineage
from pipelines.incremental.selectors.layers import (
    AdvanceFilter,
    EdgeFilter,
    LayerFilter,
    advances_of,
    edges_of,
    edges_of_lake,
    flows_of,
    get_layer_for_user,
    layers_of,
)
from pipelines.incremental.services.declaring import layer_create, layer_edit
from pipelines.incremental.services.requests import open_run_of, run_under_way
from pipelines.incremental.ui.forms import LayerForm
from pipelines.incremental.ui.tables import ADVANCES, EDGES, LAYERS, layer_url
from pipelines.models import Layer
from portal.access.actors import Actor
from portal.lake.errors import PortalError
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import list_response
from portal.ui.run_steps import progress_shown


@require_GET
def layers(request: HttpRequest) -> HttpResponseBase:
    """List the layers of a lake."""
    rows = layers_of(current_lake(request), person(request))
    filterset = LayerFilter(request.GET, queryset=rows)
    return list_response(request, LAYERS, filterset=filterset, context={})


@require_GET
def layer(request: HttpRequest, layer_id: int) -> HttpResponseBase:
    """Show one layer: its definition, its sources with their lag, and what advances did."""
    user = person(request)
    found = get_layer_for_user(layer_id, user)
    filterset = AdvanceFilter(request.GET, queryset=advances_of(found))
    edges = edges_of(found)
    context = {
        "found": found,
        "layer": found.layer,
        "edges": edges,
        "run": open_run_of(found),
        "progress": progress_shown(run_under_way(found), user),
    }
    return list_response(request, ADVANCES, filterset=filterset, context=context)


@require_GET
def layer_lineage(request: HttpRequest) -> HttpResponseBase:
    """Show the graph of a lake's layers with the lag of each edge, and its data table."""
    rows = edges_of_lake(current_lake(request), person(request))
    filterset = EdgeFilter(request.GET, queryset=rows)
    flows = flows_of(rows)
    context = {"picture": lineage(flows) if flows else None, "has_edges": rows.exists()}
    return list_response(request, EDGES, filterset=filterset, context=context)


@require_http_methods(["GET", "POST"])
def layer_new(request: HttpRequest) -> HttpResponse:
    """Define a layer."""
    lake = current_lake(request)
    check_lake_staff(person(request), lake)
    form = LayerForm(request.POST or None)
    if form.is_valid():
        try:
            made = layer_create(
                lake,
                form.layer(),
                timing=form.timing,
                by=Actor.of(person(request), lake=lake),
                now=timezone.now(),
            )
            messages.success(request, f"The layer {made} is created; it is advanced soon.")
            return HttpResponseRedirect(layer_url(made))
        except PortalError as error:
            form.refuse(error)
    return _editor(request, form, lake=lake)


@require_http_methods(["GET", "POST"])
def layer_edit_view(request: HttpRequest, layer_id: int) -> HttpResponse:
    """Change a layer."""
    found = get_layer_for_user(layer_id, person(request))
    form = LayerForm(request.POST) if request.method == "POST" else LayerForm.of(found)
    if form.is_valid():
        try:
            layer_edit(
                found,
                form.layer(),
                timing=form.timing,
                version=form.cleaned_data["version_read"],
                by=Actor.of(person(request), lake=found.lake),
                now=timezone.now(),
            )
            messages.success(request, f"The layer {found} is changed.")
            return HttpResponseRedirect(layer_url(found))
        except PortalError as error:
            form.refuse(error)
    return _editor(request, form, lake=found.lake, found=found)


def _editor(
    request: HttpRequest, form: LayerForm, *, lake: str, found: Layer | None = None
) -> HttpResponse:
    context = {"form": form, "lake": lake, "found": found}
    return render(request, "pipelines/layer_edit.html", context, status=form.status)
