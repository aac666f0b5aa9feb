"""Asks a cluster's web service, and is sent nowhere else."""

import ssl
from typing import Any

import requests

_TIMEOUT_SECONDS = (3.0, 10.0)
"""For the connection, and for each part of the answer."""
_HOST_PATHS = ssl.get_default_verify_paths()
HOST_AUTHORITIES = _HOST_PATHS.cafile or _HOST_PATHS.capath or True
"""Those of this host, where a company adds its own; else those that come with the library."""


class WebSession(requests.Session):
    """A session that this host adds nothing to: no proxy, and no password from a .netrc."""

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False

    def ask(self, method: str, url: str, **what: Any) -> requests.Response:
        """Send a request for JSON; a redirect is an answer, and is not followed."""
        headers = {"Accept": "application/json", **what.pop("headers", {})}
        return self.request(
            method, url, headers=headers, timeout=_TIMEOUT_SECONDS, allow_redirects=False, **what
        )
