"""Middleware that limits how long and from where a session may be used."""

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import logout
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

_BEGAN = "lw_began_at"
_SEEN = "lw_seen_at"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_WRITE_SEEN_EVERY_SECONDS = 60


class ForeignSite(PermissionDenied):
    """An unsafe request that another site had a browser send."""


class SameSiteMiddleware:
    """Refuse unsafe requests that the browser says come from another site."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Let a request through unless `Sec-Fetch-Site` names a foreign page."""
        site = request.headers.get("Sec-Fetch-Site", "same-origin")
        if request.method not in _SAFE and site not in ("same-origin", "none"):
            raise ForeignSite("This request came from another site, so nothing was done.")
        return self.get_response(request)


class NoStoreMiddleware:
    """Keep browsers and proxies from storing what the site answers.

    After signing out nobody reads pages, CSVs or API answers back from a disk. A view that says
    otherwise (the calendar feed) is left alone; static files are answered before this.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Mark the answer."""
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "no-store, private")
        return response


class SessionLimitsMiddleware:
    """End a session after 30 idle minutes and after 12 hours in all.

    Pages that poll (htmx GET) do not count as activity: an unattended screen logs out.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Log out a session that is too old, note activity in one that is not."""
        if request.user.is_authenticated:
            now = timezone.now().timestamp()
            began = request.session.setdefault(_BEGAN, now)
            seen = request.session.setdefault(_SEEN, now)
            idle = now - seen
            if now - began > settings.SESSION_TOTAL_SECONDS or idle > settings.SESSION_IDLE_SECONDS:
                logout(request)
            elif idle > _WRITE_SEEN_EVERY_SECONDS and not _is_poll(request):
                request.session[_SEEN] = now
        return self.get_response(request)


def _is_poll(request: HttpRequest) -> bool:
    return request.method == "GET" and request.headers.get("HX-Request") == "true"
