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


handler400 = "portal.ui.frame.errors.bad_request"
handler403 = "portal.ui.frame.errors.permission_denied"
handler404 = "portal.ui.frame.errors.page_not_found"
handler500 = "portal.ui.frame.errors.server_error"

_AREAS = tuple(settings.ROOMS.items())
urlpatterns: list[URLPattern | URLResolver] = [
    *(url for area, at in _AREAS for url in _room(f"{at}/", f"{area}.urls")),
    *(url for area, at in _AREAS for url in _room(f"api/v1/{at}/", f"{area}.api_urls")),
    *(url for area, at in _AREAS for url in _room(f"api/{at}/", f"{area}.hook_urls")),
    *_room("", "portal.search.urls"),
    *_room("", "portal.ui.urls"),
]
