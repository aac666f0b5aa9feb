"""Page of the emergency stop: stops everything that acts on the lake, and releases it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from portal.runs.kinds.hours import hours_wait, working_hours
from portal.safety.selectors import emergency_stop_state
from portal.safety.services import emergency_stop_end, emergency_stop_start
from portal.ui.forms import ReasonForm
from portal.ui.frame.context import current_lake, person


@require_http_methods(["GET", "POST"])
def red_button(request: HttpRequest) -> HttpResponse:
    """Show the button; POST presses or releases it, always with a reason.

    Everybody who is signed in may press it, admins release it (`portal.safety.services`).
    """
    lake = current_lake(request)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        _switch(request, lake, form.cleaned_data["reason"])
        return redirect("ui:red-button")
    context = {
        "form": form,
        "press": emergency_stop_state(lake),
        "hours": working_hours(lake),
        "hours_wait": hours_wait(lake, now=timezone.now()),
    }
    status = 400 if form.is_bound else 200
    return render(request, "portal/emergency_stop.html", context, status=status)


def _switch(request: HttpRequest, lake: str, reason: str) -> None:
    now = timezone.now()
    if request.POST.get("do") == "release":
        emergency_stop_end(lake=lake, user=person(request), reason=reason, now=now)
        messages.success(request, "Ended. Approved work may resume.")
    else:
        name = person(request).username
        emergency_stop_start(lake=lake, pressed_by=name, reason=reason, now=now)
        messages.warning(
            request, "Emergency stop started. Running jobs stop at their next item, within 10 s."
        )
