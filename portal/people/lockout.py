"""Decides whether a log-in may be tried now, and what a failed one costs.

A try is counted before the password is looked at and taken back when it was right, so that a
hundred tries at the same instant are not all free. Locks are short: whoever knows an admin's name
could otherwise keep them out.
"""

import hashlib
import hmac
import unicodedata
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest

from portal.access.services import get_user
from portal.lake.errors import NotAllowed
from portal.people.domain import Counted, LoginTally, counted_name
from portal.people.models import LoginAttempts
from portal.people.provisioning import audit_person


class Try(NamedTuple):
    """One log-in that is about to be tried: whose name, from which address."""

    username: str
    address: str
    again: bool = False
    """Whether somebody who is signed in proves who they are once more: counted for itself, so that
    others cannot keep them from it."""

    def counts(self) -> tuple[tuple[Counted, str], ...]:
        """Return what the try counts against."""
        name = counted_name(self.username)
        if self.again:
            return ((Counted.AGAIN, name),)
        return (Counted.NAME, name), (Counted.ADDRESS, self.address)


def address_of(request: HttpRequest) -> str:
    """Give the address of the browser: behind LAKEWARDEN_PROXIES proxies, as the first one saw it.

    What stands before that in the header was written by the browser itself.
    """
    direct = str(request.META.get("REMOTE_ADDR", ""))
    n_proxies = settings.LAKEWARDEN_PROXIES
    seen = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",")]
    if n_proxies < 1 or not any(seen):
        return direct
    return seen[-min(n_proxies, len(seen))] or direct


def try_begins(tried: Try, *, now: datetime) -> None:
    """Count a try before it is made.

    Raises:
        NotAllowed: too many failed; says until when to wait.
    """
    with transaction.atomic():
        rows = [_locked(counted, key) for counted, key in tried.counts()]
        until = max(
            (row.locked_until for row in rows if row.locked_until and now < row.locked_until),
            default=None,
        )
        if until is None:
            for row in rows:
                _count(row, tried, now=now)
    if until is not None:
        minutes = max(1, -(-int((until - now).total_seconds()) // 60))
        raise NotAllowed(
            "sign_in.locked",
            f"Too many log-ins failed. Try again in {minutes} minute{'s' if minutes > 1 else ''}, "
            f"at {until:%H:%M} UTC. If it was not you, tell an admin.",
            until=until.isoformat(),
        )


def try_succeeded(tried: Try, *, now: datetime) -> None:
    """Take a right try back: its name begins again, its address has one try more."""
    with transaction.atomic():
        for counted, key in tried.counts():
            row = _locked(counted, key)
            if counted is not Counted.ADDRESS:
                row.delete()
                continue
            row.n_failed, row.locked_until = max(0, row.n_failed - 1), None
            row.save(update_fields=["n_failed", "locked_until"])


def _count(row: LoginAttempts, tried: Try, *, now: datetime) -> None:
    counted = Counted(row.counted)
    after = LoginTally(row.n_failed, row.last_at, row.locked_until).after_a_try(counted, now)
    row.n_failed, row.last_at, row.locked_until = after.n_failed, after.last_at, after.locked_until
    row.save(update_fields=["n_failed", "last_at", "locked_until"])
    if after.locked_until is None:
        return
    # Read as the log-in form reads it, so that the record names the account that was tried.
    known = get_user(unicodedata.normalize("NFKC", tried.username).strip())
    data: dict[str, object] = {
        "counted": counted.value,
        "tries": after.n_failed,
        "until": after.locked_until.isoformat(),
        "address": tried.address,
    }
    # A name that nobody has is not written down: it may be a password typed into the wrong field.
    name = known.username if known else "(nobody's name)"
    audit_person("sign_in.locked", name, actor="lakewarden", data=data, now=now)


def _locked(counted: Counted, key: str) -> LoginAttempts:
    hashed = hmac.digest(settings.SECRET_KEY.encode(), f"{counted}:{key}".encode(), hashlib.sha256)
    row, _ = LoginAttempts.objects.select_for_update().get_or_create(
        counted=counted.value, key=hashed.hex()
    )
    return row
