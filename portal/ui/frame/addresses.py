"""Limits where a page sends a person: this site, or the site's known address."""

from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme


def own_address(request: HttpRequest, address: str) -> str:
    """Return `address` if it lies on this site, else the home page (no open redirect)."""
    safe = url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return address if safe else reverse("ui:home")


def back_or(request: HttpRequest, address: str) -> str:
    """Return where the form was sent from, which it names as `next`, else `address`."""
    back = request.POST.get("next", "")
    return own_address(request, back) if back else address


def whole_address(path: str) -> str:
    """Return a path with the site's own name before it, never the one that the request claims."""
    return f"{settings.LAKEWARDEN_BASE_URL}{path}"


def login_address(name: str, *, back: str) -> str:
    """Return a log-in page that leads back to where the person wanted to go."""
    return f"{reverse(name)}?{urlencode({'next': back})}" if back else reverse(name)
