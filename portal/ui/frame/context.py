"""Frame of every page: the lake, the age of its scan, navigation, and the emergency stop."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from rest_framework.request import Request

from portal.access.lakes import all_lakes, several_lakes
from portal.access.models import User
from portal.lake.errors import NotAllowed, NotVisible
from portal.runs.requests.selectors import broker_problem
from portal.safety.selectors import emergency_stop_state, release_is_pending
from portal.ui.frame.lakes import named_lake, other_lakes, remember_lake, shown_lake
from portal.ui.frame.navigation import menu_of
from portal.ui.frame.subject import subject_frame

THEME_COOKIE = "lw_theme"
THEMES = ("auto", "light", "dark")
STALE_AFTER = timedelta(hours=36)


@dataclass(frozen=True)
class Freshness:
    """How old the shown picture of the lake is, and whether the newest scan failed."""

    at: datetime | None = None
    failed: bool = False
    url: str = ""
    failed_url: str = ""

    @property
    def stale(self) -> bool:
        """Whether a daily scan was missed."""
        return self.at is not None and timezone.now() - self.at > STALE_AFTER


@dataclass(frozen=True)
class LakeScan:
    """The scan whose result the pages of a lake show, and a newer one that failed."""

    as_of: datetime | None = None
    run: UUID | None = None
    failed_run: UUID | None = None


_lake_scans: list[Callable[[str], LakeScan]] = []


def register_lake_scan(provider: Callable[[str], LakeScan]) -> None:
    """Set who knows which scan of a lake the pages show; registering again replaces it.

    The top bar of every page and the pages themselves then speak of the same scan.
    """
    _lake_scans[:] = [provider]


class FrameMiddleware:
    """Show times in the zone of the lake that the request is about."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on in the lake's zone."""
        config = all_lakes().get(shown_lake(request))
        if config is None:
            return self.get_response(request)
        with timezone.override(config.zone):
            response = self.get_response(request)
        if several_lakes() and response.status_code < HTTPStatus.BAD_REQUEST:
            remember_lake(request)
        return response


def person(request: HttpRequest | Request) -> User:
    """Return the signed-in person; middleware closes pages, permissions the API."""
    user = request.user
    if not isinstance(user, User):
        raise NotAllowed("person.none", "Sign in first.")
    return user


def current_lake(request: HttpRequest | Request) -> str:
    """Return the lake that the request is about (`portal/ui/frame/lakes.py`).

    Raises:
        NotVisible: no lake is governed yet, or the named one is none.
        RuleViolation: several are governed, and a change or a program names none.
    """
    name = named_lake(request._request if isinstance(request, Request) else request)
    if not name:
        raise NotVisible("lake.none", "No lake is set up yet. Tell an operator.")
    return name


def frame(request: HttpRequest) -> dict[str, Any]:
    """Return `frame` to every template (a context processor)."""
    user = getattr(request, "user", None)  # absent where an early middleware answers
    theme = request.COOKIES.get(THEME_COOKIE, "auto")
    shown: dict[str, Any] = {
        "theme": theme if theme in THEMES else "auto",
        "zone": timezone.get_current_timezone_name(),
        "now": timezone.now().isoformat(timespec="milliseconds"),
        **subject_frame(request),
    }
    if not isinstance(user, User):
        return {"frame": shown}
    lake = shown_lake(request)
    press = emergency_stop_state(lake) if lake else None
    shown |= {
        "lake": lake,
        "other_lakes": other_lakes(request),
        "roles": sorted(user.roles_on(lake)) or ["owner"],
        "menu": menu_of(request, user),
        "fresh": _freshness(lake, may_open=user.is_lake_staff_of(lake)),
        "red_button": press,
        "release_pending": press is not None and release_is_pending(press, now=timezone.now()),
        "is_keeper": user.is_lake_staff_of(lake),
        "is_admin": user.is_lake_admin_of(lake),
        "keeps_portal": user.is_portal_staff,
        "standstill": broker_problem(),
    }
    return {"frame": shown}


def _freshness(lake: str, *, may_open: bool) -> Freshness:
    scan = _lake_scans[0](lake) if _lake_scans else LakeScan()
    return Freshness(
        at=scan.as_of,
        failed=scan.failed_run is not None,
        url=_run_url(scan.run) if may_open else "",
        failed_url=_run_url(scan.failed_run) if may_open else "",
    )


def _run_url(run: UUID | None) -> str:
    return reverse("ui:run", args=[run]) if run else ""


def lake_or_none(request: HttpRequest) -> str | None:
    """Return the lake of the page, None where the person may see none."""
    try:
        return current_lake(request)
    except NotVisible:
        return None
