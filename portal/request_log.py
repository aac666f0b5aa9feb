"""Gives each request an id, and logs and measures how it was answered.

The line names the route, not the address: addresses of calendars and of links in mails are secrets,
and a query may have a code of a log-in.
"""

import logging
import re
import time
import uuid
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse

from portal.log_context import OF_REQUEST, Value, bound
from portal.request_metrics import request_observe

HEADER = "X-Request-ID"
_ID = re.compile(r"[A-Za-z0-9-]{8,64}")
_POLLED = frozenset({"livez", "readyz", "metrics"})
"""Routes that monitors read all the time: their lines are of level DEBUG."""
_log = logging.getLogger(__name__)


class RequestLogMiddleware:
    """Bind the request's id and person to every line, and end with a line of its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer; the id goes out as a header, so that a person can name it."""
        began = time.monotonic()
        given = request_id(request)
        fields: dict[str, Value] = {"request": given, "person": lambda: person_of(request)}
        request.META[OF_REQUEST] = fields
        with bound(**fields):
            response = self.get_response(request)
            seconds = time.monotonic() - began
            match: Any = request.resolver_match
            request_observe(_area(match), response.status_code, seconds)
            route, name = (match.route, match.url_name) if match else ("", "")
            level = logging.DEBUG if name in _POLLED else logging.INFO
            said = {"method": request.method or "", "route": route}
            said |= {"status": response.status_code, "ms": round(seconds * 1000, 1)}
            _log.log(level, "answered", extra=said)
        response.headers[HEADER] = given
        return response


def request_id(request: HttpRequest) -> str:
    """Return the id that our own proxy gave, where there is one; or a new one."""
    told = request.headers.get(HEADER, "") if settings.LAKEWARDEN_PROXIES else ""
    return told if _ID.fullmatch(told) else uuid.uuid4().hex


def person_of(request: HttpRequest) -> str:
    """Return the account's name if somebody asked for it already; never asks the database."""
    told = request.__dict__.get("user")
    # isinstance() would load a person that nobody has asked for yet.
    known = told if issubclass(type(told), AbstractBaseUser) else None
    user: Any = known or getattr(request, "_cached_user", None)
    return user.get_username() if user is not None else ""


def _area(match: Any) -> str:
    """Return the first part of a view's name: a bounded set, other than addresses."""
    if match is None:
        return "none"
    return str(match.namespace.partition(":")[0] or "other")
