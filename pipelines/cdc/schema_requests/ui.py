"""The page of a request about a schema, its decision, and the home card of those that wait."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from pipelines.cdc.control.ui.pages import captured_url
from pipelines.cdc.schema_requests.selectors import (
    changes_of,
    get_request_for_user,
    needs_of,
    needs_rebuild,
)
from pipelines.cdc.schema_requests.services import REQUESTS
from pipelines.models import SchemaRequest
from portal.access.registry import register_home_card
from portal.ui.frame.context import person
from portal.ui.proposals import decide_card, decide_page, proposal_context

requests_card = decide_card(
    REQUESTS,
    title="Changes of schema to decide",
    icon="columns",
    order=24,
    detail=lambda rows: f"{rows[0].db}.{rows[0].table} waits longest",
)


def request_url(row: SchemaRequest) -> str:
    """Return the page of a request."""
    return reverse("pipelines:schema-request", args=[row.pk])


@require_GET
def schema_request(request: HttpRequest, request_id: UUID) -> HttpResponse:
    """Show what changed, why a person decides, and what the lake's table needs for it."""
    user = person(request)
    found = get_request_for_user(request_id, user=user)
    context: dict[str, Any] = {
        "found": found,
        **proposal_context(REQUESTS, found, user, decide="pipelines:schema-request-decide"),
        "captured": found.change.captured,
        "captured_url": captured_url(found.change.captured),
        "parts": changes_of(found.change),
        "needs": needs_of(found.change),
        "is_rebuild": needs_rebuild(found.change),
    }
    return render(request, "pipelines/schema_request.html", context)


schema_request_decide_view = decide_page(REQUESTS, request_url)


def register_pages() -> None:
    """Add the home card."""
    register_home_card(requests_card)
