"""Page of the portal's dependencies: which respond, and what it means where one does not."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from portal.health import health_now
from portal.lake.errors import NotVisible
from portal.runs.results.driver_logs_removal import driver_logs_kept
from portal.runs.results.removal import kept as results_kept
from portal.ui.frame.context import person


@never_cache
@require_GET
def health(request: HttpRequest) -> HttpResponse:
    """Show how each part answered just now (admins and operators)."""
    if not person(request).is_portal_staff:
        raise NotVisible("page.missing", "There is nothing at this address for you.")
    context = {"parts": health_now(), "retentions": _retentions()}
    return render(request, "portal/health.html", context)


def _retentions() -> list[dict[str, object]]:
    """Return what the platform itself removes, and after how many days; areas have their own."""
    return [
        {
            "title": "Logs of drivers, after the end of their run, on the host that launched it",
            "days": driver_logs_kept().days,
            "setting": "LAKEWARDEN_DRIVER_LOG_DAYS",
        },
        {
            "title": "Result files that were loaded into the database, after the end of their run",
            "days": results_kept().days,
            "setting": "LAKEWARDEN_RESULT_DAYS",
        },
    ]
