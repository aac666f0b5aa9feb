"""Leases that elect a leader. One row per role; a holder that stops renewing loses it."""

import os
import socket
import uuid
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F, Q

from portal.reliability.claims import claim
from portal.runs.models import Lease

SUPERVISOR = "supervise"
"""The lease of the supervisor that leads; each of its loops has one more."""


def new_holder() -> str:
    """Return a name for this process that no other process has or had."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def lease_take(name: str, *, holder: str, length: timedelta, now: datetime) -> int | None:
    """Take or renew a lease; returns its fencing number while held, None while another holds it.

    The number grows with every change of holder. Called twice it renews.
    """
    mine = Lease.objects.filter(name=name, holder=holder)
    if not claim(mine, until=now + length):
        free = Lease.objects.filter(Q(name=name) & Q(until__lte=now))
        if not claim(free, holder=holder, until=now + length, epoch=F("epoch") + 1) and (
            Lease.objects.filter(name=name).exists() or not _create(name, holder, now + length)
        ):
            return None
    held = Lease.objects.filter(name=name, holder=holder).first()
    return held.epoch if held else None


def lease_release(name: str, *, holder: str, now: datetime) -> None:
    """Give a lease up at once; not holding it is no error."""
    Lease.objects.filter(name=name, holder=holder).update(until=now)


def _create(name: str, holder: str, until: datetime) -> bool:
    try:
        with transaction.atomic():
            Lease.objects.create(name=name, holder=holder, until=until)
    except IntegrityError:
        return False
    return True
