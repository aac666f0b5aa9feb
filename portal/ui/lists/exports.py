"""Limits CSV exports to one at a time for each person.

An export holds a thread of the site and a query of the database for as long as its reader takes.
The slot is a lock on a file of the person, so it counts for all processes of a host, and the
kernel frees it when a process dies.
"""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from portal.lake.errors import Busy
from portal.ui.frame.errors import error_page
from portal.ui.frame.lakes import list_lake
from portal.ui.lists.csv import CsvResponse

RETRY_SECONDS = 30


class OneExportMiddleware:
    """Refuse a CSV while another one of the same person is being sent."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on; the rows of an export are read only afterwards."""
        response = self.get_response(request)
        if not isinstance(response, CsvResponse):
            return response
        if lake := list_lake(request):
            response.name_lake(lake)
        if not request.user.is_authenticated:
            return response
        slot = _slot(request.user.pk)
        if slot is None:  # not closed here: that would end the request for the database
            return _refused(request)
        response.on_close(lambda: os.close(slot))
        return response


def _slot(user_id: int) -> int | None:
    """Return the locked file of a person; None while another export holds it."""
    directory = Path(settings.LAKEWARDEN_VAR) / "exports"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(directory / f"{user_id}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def _refused(request: HttpRequest) -> HttpResponse:
    message = "Another of your exports is still being sent. Wait for its end, then start this one."
    return error_page(request, Busy("export.one_at_a_time", message, after_seconds=RETRY_SECONDS))
