"""Limits how many API requests one person or one API token may send.

The counts live in the process, so a site of N processes allows up to N times the number. They
protect the site from a runaway script; they are no accounting.
"""

import math
import threading
import time
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from portal.lake.errors import Busy
from portal.people.models import ApiToken


@dataclass(slots=True)
class Bucket:
    """The requests that a caller may still send at once; refilled evenly, to a minute's worth."""

    left: float
    at: float

    def take(self, *, per_minute: int, now: float) -> float:
        """Take one request; return the seconds to wait where there is none, else 0."""
        rate = per_minute / 60
        self.left = min(per_minute, self.left + max(0.0, now - self.at) * rate)
        self.at = now
        if self.left < 1:
            return (1 - self.left) / rate
        self.left -= 1
        return 0.0


_buckets: dict[tuple[str, int], Bucket] = {}
_lock = threading.Lock()


class PerCallerThrottle(BaseThrottle):
    """Count a person's own requests apart from those of each of their API tokens."""

    def allow_request(self, request: Request, view: Any) -> bool:
        """Let the request through.

        Raises:
            Busy: too many were sent within a minute; says after how many seconds to go on.
        """
        if not request.user.is_authenticated:
            return True
        by_token = isinstance(request.auth, ApiToken)
        caller = ("token", request.auth.pk) if by_token else ("person", request.user.pk)
        limits = (settings.LAKEWARDEN_API_PER_MINUTE, settings.LAKEWARDEN_API_TOKEN_PER_MINUTE)
        wait = _take(caller, per_minute=limits[by_token], now=time.monotonic())
        if wait:
            raise Busy(
                "api.too_many",
                f"More than {limits[by_token]} requests were sent within a minute.",
                after_seconds=math.ceil(wait),
            )
        return True


def forget_callers() -> None:
    """Start all counts again; tests call it."""
    with _lock:
        _buckets.clear()


def _take(caller: tuple[str, int], *, per_minute: int, now: float) -> float:
    """Take one request; a caller has one entry, so there are no more than accounts and tokens."""
    with _lock:
        bucket = _buckets.setdefault(caller, Bucket(per_minute, now))
        return bucket.take(per_minute=per_minute, now=now)
