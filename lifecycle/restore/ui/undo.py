"""The button on a restore's page that takes it back."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from lifecycle.restore.services.backups import get_preview_for_user
from lifecycle.restore.services.undo import UndoParams, restore_undo_request
from portal.access.fresh import authenticated_at, require_fresh
from portal.ui.frame.context import person


@require_POST
@require_fresh
def restore_undo(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Put what a restore brought back into the backup."""
    user = person(request)
    preview = get_preview_for_user(run_id, user=user)
    wish = UndoParams(request.POST.get("reason", ""), authenticated_at(request))
    restore_undo_request(preview, wish, user=user, now=timezone.now())
    messages.success(request, "It goes back into the backup; what was written since stays.")
    return HttpResponseRedirect(reverse("lifecycle:restore", args=[run_id]))
