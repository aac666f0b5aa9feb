"""Actions on materializations: refresh, pause, delete."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from pipelines.materialized.selectors.materializations import get_materialization_for_user
from pipelines.materialized.services.definitions import (
    materialization_delete,
    materialization_pause,
)
from pipelines.materialized.services.requests import refresh_request
from pipelines.materialized.ui.tables import row_url
from portal.ui.forms import whole_number
from portal.ui.frame.context import person


@require_POST
def materialization_refresh_view(request: HttpRequest, number: int) -> HttpResponseRedirect:
    """Refresh it now, by changes or in full."""
    user = person(request)
    found = get_materialization_for_user(number, user)
    is_full = request.POST.get("full") == "1"
    refresh_request(found, is_full=is_full, by=user.username, now=timezone.now())
    messages.success(request, "It is being refreshed; the result stands here when it is done.")
    return HttpResponseRedirect(row_url(found))


@require_POST
def materialization_pause_view(request: HttpRequest, number: int) -> HttpResponseRedirect:
    """Stop refreshing on schedule, or go on."""
    user = person(request)
    found = get_materialization_for_user(number, user)
    paused = request.POST.get("paused") == "1"
    materialization_pause(found, paused=paused, user=user, now=timezone.now())
    messages.success(request, "It is paused." if paused else "It is refreshed on schedule again.")
    return HttpResponseRedirect(row_url(found))


@require_POST
def materialization_delete_view(request: HttpRequest, number: int) -> HttpResponseRedirect:
    """Delete it from the portal; its table stays."""
    user = person(request)
    found = get_materialization_for_user(number, user)
    version = whole_number(request.POST.get("version", ""))
    typed = request.POST.get("typed", "")
    materialization_delete(found, typed=typed, version=version, user=user, now=timezone.now())
    left = " and ".join(found.own_tables)
    messages.success(
        request,
        f"{found} is no materialization any more. In the lake {left} stayed: drop what nobody "
        "needs, as any other table.",
    )
    return HttpResponseRedirect(f"{reverse('pipelines:materializations')}?lake={found.lake}")
