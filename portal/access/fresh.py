"""Checks that a person authenticated recently, as required before anything destructive."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from portal.access.sent import forget_sent, keep_sent
from portal.lake.errors import NotAllowed

FRESH_SECONDS = 900
_KEY = "lw_authenticated_at"


def remember_authentication(request: HttpRequest, now: datetime) -> None:
    """Record when the person proved who they are, under a new session id.

    Called by login and re-login. An id that was copied before the proof does not become fresh.
    """
    request.session.cycle_key()
    request.session[_KEY] = now.timestamp()


def forget_authentication(request: HttpRequest) -> None:
    """Count the log-in as not fresh: nobody said when the person proved who they are."""
    request.session.pop(_KEY, None)


def authenticated_at(request: HttpRequest) -> datetime | None:
    """Return when the person last proved who they are; None when that is not known."""
    stamp = request.session.get(_KEY) if hasattr(request, "session") else None
    return datetime.fromtimestamp(stamp, tz=UTC) if isinstance(stamp, int | float) else None


def is_fresh(request: HttpRequest, now: datetime) -> bool:
    """Say whether the last proof of identity is at most FRESH_SECONDS old."""
    at = authenticated_at(request)
    return at is not None and timedelta(0) <= now - at <= timedelta(seconds=FRESH_SECONDS)


def check_fresh(request: HttpRequest, now: datetime) -> None:
    """Refuse what needs a fresh log-in; for programs, which no page can ask.

    Raises:
        NotAllowed: the last proof of identity is too old.
    """
    if not is_fresh(request, now):
        raise NotAllowed(
            "person.fresh_login", "Log in again first: this needs a login of the last 15 minutes."
        )


def require_fresh(
    view: Callable[..., HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Send the person to the re-login page first when the last login is too old.

    A POST is not replayed: its form is kept, and shown again for the person to send.
    """

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        now = timezone.now()
        forget_sent(request)
        if is_fresh(request, now):
            return view(request, *args, **kwargs)
        back = request.get_full_path()
        if request.method != "GET":
            keep_sent(request, now)
            back = request.headers.get("Referer", "/").removeprefix(
                f"{request.scheme}://{request.get_host()}"
            )
        return HttpResponseRedirect(f"{reverse('ui:fresh-login')}?{urlencode({'next': back})}")

    return wrapped
