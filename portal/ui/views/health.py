"""Page of the portal's dependencies: which respond, and what it means where one does not."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from portal.health import health_now
from portal.lake.errors import NotVisible
from portal.ui.frame.context import person


@never_cache
@require_GET
def health(request: HttpRequest) -> HttpResponse:
    """Show how each part answered just now (admins and operators)."""
    if not person(request).is_lake_staff:
        raise NotVisible("page.missing", "There is nothing at this address for you.")
    return render(request, "portal/health.html", {"parts": health_now()})
