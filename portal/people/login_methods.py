"""Reads the current sign-in methods from sign_in.json, again whenever the file changes."""

from pathlib import Path
from threading import Lock

from django.conf import settings

from portal.connectors.sign_in_config import SignInConfig, load_sign_in
from portal.lake.errors import PortalError

_lock = Lock()
_read: dict[Path, tuple[int, SignInConfig]] = {}


def sign_in_config() -> SignInConfig:
    """Return the ways in.

    Raises:
        ExternalFailure: sign_in.json cannot be used; local accounts are let in all the same.
    """
    path = Path(settings.LAKEWARDEN_SIGN_IN)
    try:
        stamp = path.stat().st_mtime_ns
    except FileNotFoundError:
        return SignInConfig()
    with _lock:
        known = _read.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, load_sign_in(path))
            _read[path] = known
    return known[1]


def ways_shown() -> tuple[SignInConfig, str]:
    """Return the ways for the log-in page, and in words why single sign-on is away (or nothing)."""
    try:
        return sign_in_config(), ""
    except PortalError as error:
        return SignInConfig(), error.message
