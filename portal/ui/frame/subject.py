"""Lets a page stand below the header of the object that it is about.

Pages extend `frame.base`. Who shows a page as a tab of an object names another base for that
request, and what its header shows.
"""

from typing import Any
from weakref import WeakKeyDictionary

from django.http import HttpRequest

_subjects: WeakKeyDictionary[HttpRequest, dict[str, Any]] = WeakKeyDictionary()


def set_subject(request: HttpRequest, base: str, subject: object) -> None:
    """Let the pages of the request extend `base`, which finds its object as `frame.subject`."""
    _subjects[request] = {"base": base, "subject": subject}


def subject_frame(request: HttpRequest) -> dict[str, Any]:
    """Return the base of the request's page, and what its header is about."""
    return _subjects.get(request, {"base": "base.html"})
