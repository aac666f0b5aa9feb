"""The button that brings the files of a list back from quarantine."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from optimizer.iceberg.maintenance.services.quarantines import quarantine_return
from optimizer.removals.ui.pages import removal_url
from portal.ui.frame.context import person


@require_POST
def bring_back(request: HttpRequest, removal_id: UUID) -> HttpResponse:
    """Have the files of a list brought back from quarantine."""
    found = quarantine_return(removal_id, user=person(request), now=timezone.now())
    messages.success(request, "A run restores the files; this page shows when it is done.")
    return HttpResponseRedirect(removal_url(found))
