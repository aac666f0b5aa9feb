"""Page of the emergency stop: stops everything that acts on the lake, and releases it."""

from datetime import datetime
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from portal.access.models import User
from portal.lake.errors import RuleViolation, StaleState
from portal.runs.kinds.hours import hours_wait, working_hours
from portal.safety.models import EmergencyStop
from portal.safety.selectors import (
    emergency_stop_state,
    emergency_stop_steps,
    release_is_pending,
)
from portal.safety.services import (
    NO_RELEASE,
    emergency_stop_explain,
    emergency_stop_start,
    stop_release_confirm,
    stop_release_propose,
    stop_release_withdraw,
)
from portal.ui.forms import ReasonForm
from portal.ui.frame.context import current_lake, person
from portal.ui.resumption import what_resumes

NEEDS_A_REASON = ("release", "explain")
SAID = {
    "press": "Emergency stop started. Running jobs stop at their next item, within 10 s.",
    "explain": "The reason is recorded.",
    "release": "Proposed. The stop is on until another admin confirms.",
    "confirm": "Ended. Approved work may resume.",
    "withdraw": "Withdrawn. The stop is on.",
}


@require_http_methods(["GET", "POST"])
def red_button(request: HttpRequest) -> HttpResponse:
    """Show the stop; POST takes one of its steps.

    Everybody who is signed in may press, and give the reason afterwards; one admin proposes to end
    the stop with a reason, another one confirms (`portal.safety.services`).
    """
    lake, user, now = current_lake(request), person(request), timezone.now()
    step = request.POST.get("do", "")
    has_words = step in NEEDS_A_REASON or bool(request.POST.get("reason", "").strip())
    form = ReasonForm(request.POST if has_words else None)
    if request.method == "POST" and (not has_words or form.is_valid()):
        take_step(
            step,
            lake=lake,
            user=user,
            reason=request.POST.get("reason", ""),
            release_id=request.POST.get("release_id", ""),
            now=now,
        )
        say = messages.success if step in ("confirm", "explain") else messages.warning
        say(request, SAID[step])
        return redirect(f"{reverse('ui:red-button')}?{urlencode({'lake': lake})}")
    press = emergency_stop_state(lake)
    context = {
        "form": form,
        "asked": step,
        "press": press,
        "is_pending": press is not None and release_is_pending(press, now=now),
        "may": emergency_stop_steps(press, user, now=now),
        "resumes": what_resumes(lake, now=now) if press and user.is_lake_staff_of(lake) else [],
        "hours": working_hours(lake),
        "hours_wait": hours_wait(lake, now=now),
    }
    status = 400 if form.is_bound else 200
    return render(request, "portal/emergency_stop.html", context, status=status)


def take_step(
    step: str, *, lake: str, user: User, reason: str, release_id: str, now: datetime
) -> EmergencyStop:
    """Take one step of a person, as the page and the API name it.

    Raises:
        RuleViolation: there is no such step.
    """
    if step == "press":
        return emergency_stop_start(lake=lake, pressed_by=user.username, reason=reason, now=now)
    if step == "explain":
        return emergency_stop_explain(lake=lake, user=user, reason=reason, now=now)
    if step == "release":
        return stop_release_propose(lake=lake, user=user, reason=reason, now=now)
    if step == "confirm":
        named = _release_id(release_id)
        return stop_release_confirm(lake=lake, release_id=named, user=user, now=now)
    if step == "withdraw":
        return stop_release_withdraw(lake=lake, user=user, now=now)
    raise RuleViolation("red_button.step", "The emergency stop knows no such step.", step=step)


def _release_id(text: str) -> UUID:
    """Return the id of a proposal; what is none is like one that does not wait any more."""
    try:
        return UUID(text)
    except ValueError:
        raise StaleState(*NO_RELEASE) from None
