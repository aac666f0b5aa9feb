"""Lets a page stand below the header of the object that it is about.

Pages extend `frame.base`. Who shows a page as a tab of an object names another base for that
request, and what its header shows. The answer to a form stands where the form stood: a refused one
is shown again below the same header.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from django.http import HttpRequest

PLAIN = {"base": "base.html"}
Finder = Callable[[HttpRequest, str, str], None]
"""Sets the subject of a request by the path and the query of the page that its form stood on."""

_subjects: WeakKeyDictionary[HttpRequest, dict[str, Any]] = WeakKeyDictionary()
_finders: list[Finder] = []


def set_subject(request: HttpRequest, base: str, subject: object) -> None:
    """Let the pages of the request extend `base`, which finds its object as `frame.subject`."""
    _subjects[request] = {"base": base, "subject": subject}


def register_subject_finder(finder: Finder) -> None:
    """Set who knows which object a page is about; registering again replaces it."""
    _finders[:] = [finder]


def subject_frame(request: HttpRequest) -> dict[str, Any]:
    """Return the base of the request's page, and what its header is about."""
    if request.method == "POST" and request not in _subjects:
        _subjects[request] = PLAIN
        sent_from = urlsplit(_sent_from(request))
        for finder in _finders:
            finder(request, sent_from.path, sent_from.query)
    return _subjects.get(request, PLAIN)


def _sent_from(request: HttpRequest) -> str:
    """Return the page that a form says it stood on, else the one that the browser names."""
    address = request.POST.get("next", "") or request.headers.get("Referer", "")
    return address if address.startswith("/") or _is_own(request, address) else ""


def _is_own(request: HttpRequest, address: str) -> bool:
    return urlsplit(address).netloc == request.get_host()
