"""Which lake a request is about, where one portal governs several.

The object that an address names decides; then `lake` in the address, then `lake` in the form, then
the lake whose pages the person looked at last. What changes something, and every program, has to
say which lake it means: nothing is done to the first one for want of a word.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit
from weakref import WeakKeyDictionary

from django.apps import apps
from django.core.exceptions import ValidationError
from django.http import HttpRequest, QueryDict
from django.urls import Resolver404, resolve, reverse

from portal.access.lakes import all_lakes, only_lake, several_lakes
from portal.lake.errors import NotVisible

SESSION_KEY = "lw_lake"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_of_objects: dict[str, list["ObjectLake"]] = {}
_worked_on: WeakKeyDictionary[HttpRequest, str] = WeakKeyDictionary()
_found: WeakKeyDictionary[HttpRequest, str] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class ObjectLake:
    """How the lake of an object is found by the value that stands in its addresses."""

    value: str
    model: str
    """The model by its label; rooms say this before their models are loaded."""
    field: str = "pk"
    lake: str = "lake"
    """The column, or the way to it over relations."""
    views: tuple[str, ...] = ()
    """Beginnings of the names of the addresses that are meant; empty: all others."""


def register_object_lakes(room: str, *rows: ObjectLake) -> None:
    """Set how a room's objects are found; registering again replaces them.

    `room` is the namespace of its pages; the API's (`room-api`) belongs to it.
    """
    _of_objects[room] = list(rows)


def object_lakes_of(view_name: str, values: Mapping[str, Any]) -> list[ObjectLake]:
    """Return the rows that fit an address with these values; none where it names no object."""
    room, _, name = view_name.partition(":")
    plain = name.removeprefix("api-")
    fitting = [row for row in _of_objects.get(room.removesuffix("-api"), ()) if row.value in values]
    narrow = [row for row in fitting if row.views and plain.startswith(row.views)]
    return narrow or [row for row in fitting if not row.views]


def named_lake(request: HttpRequest) -> str:
    """Return the lake that a view works on; "" while none is governed.

    Raises:
        NotVisible: `lake.unknown`: what is named is no lake of the portal's.
        RuleViolation: `lake.unnamed`: several are governed, and a change or a program names none.
    """
    lakes, asked = all_lakes(), _asked(request)
    if request in _worked_on:
        return _worked_on[request]
    if lakes and asked and asked not in lakes:
        raise NotVisible("lake.unknown", f"No lake '{asked}' is governed here.", lake=asked)
    if len(lakes) > 1 and not asked and not _object_lake(request) and _must_say(request):
        return only_lake()
    _worked_on[request] = shown_lake(request)
    return _worked_on[request]


def list_lake(request: HttpRequest) -> str:
    """Return the lake of a list that has to name it: of several, and asked for by its view."""
    return _worked_on.get(request, "") if several_lakes() else ""


def shown_lake(request: HttpRequest) -> str:
    """Return the lake that the frame of a page shows; "" while none is governed."""
    lakes = all_lakes()
    if len(lakes) < 2:
        return next(iter(lakes), "")
    for name in (_object_lake(request), _asked(request), _remembered(request)):
        if name in lakes:
            return name
    return min(lakes)


def with_lake(address: str, lake: str) -> str:
    """Return an address that says its lake, where several are governed and it says none."""
    if not (lake and several_lakes()) or "lake" in QueryDict(urlsplit(address).query):
        return address
    return f"{address}{'&' if '?' in address else '?'}{urlencode({'lake': lake})}"


def other_lakes(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the lakes beside the shown one, with the address of the same page of each.

    An address that names something leads to Home: the other lake need not have it.
    """
    here = request.path if not _in_address(request)[1] else reverse("ui:home")
    shown = shown_lake(request)
    return [(name, with_lake(here, name)) for name in sorted(all_lakes()) if name != shown]


def forget_object(request: HttpRequest) -> None:
    """Let a refusal say nothing of the object that it refused, not even its lake.

    The frame of its page stands in some lake, even where the refusal is that none was named.
    """
    _found[request] = ""
    _worked_on[request] = shown_lake(request)


def remember_lake(request: HttpRequest) -> None:
    """Note in the session whose pages the person looks at; links without a lake lead there."""
    shown = shown_lake(request)
    is_person = request.user.is_authenticated and not request.path.startswith("/api/")
    if is_person and shown and request.session.get(SESSION_KEY) != shown:
        request.session[SESSION_KEY] = shown


def _asked(request: HttpRequest) -> str:
    asked = request.GET.get("lake", "") or _in_address(request)[1].get("lake", "")
    return str(asked or (request.POST.get("lake", "") if request.method == "POST" else ""))


def _must_say(request: HttpRequest) -> bool:
    return request.method not in _SAFE or request.path.startswith("/api/")


def _remembered(request: HttpRequest) -> str:
    session = getattr(request, "session", None)  # absent where an early middleware answers
    return str(session.get(SESSION_KEY, "")) if session is not None else ""


def _in_address(request: HttpRequest) -> tuple[str, dict[str, Any]]:
    """Return the name of the request's address and its values; read before a view is found too."""
    try:
        match = request.resolver_match or resolve(request.path_info)
    except Resolver404:
        return "", {}
    return match.view_name, match.kwargs


def _object_lake(request: HttpRequest) -> str:
    """Return the lake of the object that the address names; "" where it names none.

    Whether the person may see it is the view's to say; a refusal forgets what was found here.
    """
    if request not in _found:
        name, values = _in_address(request)
        read = (_read(row, values[row.value]) for row in object_lakes_of(name, values))
        _found[request] = next(filter(None, read), "")
    return _found[request]


def _read(row: ObjectLake, value: object) -> str:
    try:
        found = apps.get_model(row.model)._default_manager.filter(**{row.field: value})
        return str(found.order_by().values_list(row.lake, flat=True).first() or "")
    except (ValidationError, ValueError, OverflowError):
        return ""  # no such object can be
