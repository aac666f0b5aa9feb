"""Whether a request comes from a program on the portal's own host, as a monitor does."""

import ipaddress

from django.http import HttpRequest


def is_from_this_host(request: HttpRequest) -> bool:
    """Return whether the peer is this host and no proxy speaks for somebody else."""
    if "X-Forwarded-For" in request.headers or "Forwarded" in request.headers:
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:  # a unix socket: only a proxy speaks through it
        return False
