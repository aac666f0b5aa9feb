"""Reads the current sign-in methods from sign_in.json, again whenever the file changes."""

from pathlib import Path
from threading import Lock

from django.conf import settings

from portal.access.lakes import all_lakes
from portal.access.roles.domain import read_grants
from portal.connectors.sign_in_config import SignInConfig, load_sign_in
from portal.lake.errors import ExternalFailure, PortalError, RuleViolation
from portal.people.domain import OWNER

_lock = Lock()
_read: dict[Path, tuple[int, SignInConfig]] = {}


def sign_in_config(*, check_lakes: bool = True) -> SignInConfig:
    """Return the ways in; without `check_lakes` also while a role names a lake that is none.

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
    if check_lakes:
        _check_lakes(known[1], path)
    return known[1]


def _check_lakes(config: SignInConfig, path: Path) -> None:
    """Refuse a role on a lake that is not governed; asked each time, as lakes come and go."""
    try:
        read_grants((role for role in config.roles if role != OWNER), lakes=all_lakes())
    except RuleViolation as error:
        raise ExternalFailure(
            "sign_in.config",
            f"{path.name} cannot be used: roles: {error.message} Nobody but local accounts can "
            "come in until an operator repairs it (docs/operations.md, Single sign-on).",
            service="config",
            retryable=False,
        ) from error


def ways_shown() -> tuple[SignInConfig, str]:
    """Return the ways for the log-in page, and in words why single sign-on is away (or nothing)."""
    try:
        return sign_in_config(), ""
    except PortalError as error:
        return SignInConfig(), error.message
