"""The page of a request about changed columns, its decision, and the home card of open ones."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from pipelines.incremental.selectors.schemas import get_request_for_user
from pipelines.incremental.services.schemas import REQUESTS
from pipelines.incremental.ui.tables import layer_url
from pipelines.models import LayerSchemaRequest
from portal.ui.frame.context import person
from portal.ui.proposals import decide_card, decide_page, proposal_context

requests_card = decide_card(
    REQUESTS,
    title="Columns of layers to decide",
    icon="columns",
    order=25,
    detail=lambda rows: f"{rows[0].db}.{rows[0].table} waits longest",
)


def request_url(row: LayerSchemaRequest) -> str:
    """Return the page of a request."""
    return reverse("pipelines:layer-schema-request", args=[row.pk])


@require_GET
def layer_schema_request(request: HttpRequest, request_id: UUID) -> HttpResponse:
    """Show which columns changed, and what going on with them does."""
    user = person(request)
    found = get_request_for_user(request_id, user=user)
    context: dict[str, Any] = {
        "found": found,
        **proposal_context(REQUESTS, found, user, decide="pipelines:layer-schema-request-decide"),
        "layer": found.edge.layer if found.edge else None,
        "layer_url": layer_url(found.edge.layer) if found.edge else "",
        "parts": found.change.split("; "),
    }
    return render(request, "pipelines/layer_schema_request.html", context)


layer_schema_request_decide_view = decide_page(REQUESTS, request_url)
