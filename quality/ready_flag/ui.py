"""The page of engines that hide what is not ready."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from portal.access.registry import Page, register_page
from portal.access.roles.domain import STAFF


def register_pages() -> None:
    """Add the navigation."""
    register_page(Page("readiness", "Reader support", "readiness:readers", 30, STAFF))


@require_GET
def readers(request: HttpRequest) -> HttpResponse:
    """Say which engines hide what is not ready, and how they are made to."""
    return render(request, "readiness/readers.html")
