"""Middleware that remembers which objects a person opened."""

import logging
from collections.abc import Callable
from urllib.parse import urlencode

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from portal.access.models import User
from portal.search.registry import object_page
from portal.search.services.opened import opened_record
from portal.ui.frame.context import lake_or_none

log = logging.getLogger("lakewarden.search")


class OpenedMiddleware:
    """Write down pages of objects that were shown in full."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on; what it showed is remembered after it."""
        response = self.get_response(request)
        match, user = request.resolver_match, getattr(request, "user", None)
        is_page = request.method == "GET" and response.status_code == 200
        is_whole = "HX-Request" not in request.headers or "HX-Boosted" in request.headers
        if not (match and is_page and is_whole and isinstance(user, User)):
            return response
        lake = lake_or_none(request)
        if lake is None or object_page(match.view_name) is None:
            return response
        try:
            opened_record(
                user,
                view=match.view_name,
                key=match.kwargs,
                lake=lake,
                url=f"{request.path}?{urlencode({'lake': lake})}",
                now=timezone.now(),
            )
        except DatabaseError:
            # A page that could be read is shown, although nothing can be written just now.
            log.warning("what was opened could not be remembered", exc_info=True)
        return response
