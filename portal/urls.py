"""Addresses of the whole site. The portal's own pages, then each app's pages and API."""

from importlib.util import find_spec

from django.conf import settings
from django.urls import URLPattern, URLResolver, include, path


def _room(prefix: str, module: str) -> list[URLPattern | URLResolver]:
    """Include a room's URLs when the room has them."""
    try:
        found = find_spec(module)
    except ModuleNotFoundError:
        found = None
    return [path(prefix, include(module))] if found else []


handler400 = "portal.ui.errors.bad_request"
handler403 = "portal.ui.errors.permission_denied"
handler404 = "portal.ui.errors.page_not_found"
handler500 = "portal.ui.errors.server_error"

urlpatterns: list[URLPattern | URLResolver] = [
    *(url for room in settings.ROOMS for url in _room(f"{room}/", f"{room}.urls")),
    *(url for room in settings.ROOMS for url in _room(f"api/v1/{room}/", f"{room}.api_urls")),
    *(url for room in settings.ROOMS for url in _room(f"{room}/", f"{room}.ui.urls")),
    *(url for room in settings.ROOMS for url in _room(f"api/v1/{room}/", f"{room}.api.urls")),
    *(url for room in settings.ROOMS for url in _room(f"api/{room}/", f"{room}.hook_urls")),
    *(url for room in settings.ROOMS for url in _room(f"api/{room}/", f"{room}.api.hook_urls")),
    *_room("", "portal.ui.urls"),
]
