"""Secret addresses by which a calendar program reads for a person without signing in.

Only the secret's hash is kept, so the address is shown once; a new one ends the old one.
"""

import hashlib
import secrets
from datetime import datetime

from django.db import transaction

from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import NotVisible
from portal.notices.models import CalendarAddress


def calendar_address_make(user: User, *, lake: str, now: datetime) -> str:
    """Return a new secret; the address that the person had before is dead at once."""
    secret = secrets.token_urlsafe(32)
    with transaction.atomic():
        CalendarAddress.objects.update_or_create(
            user=user, defaults={"secret_sha256": _hash(secret), "made_at": now}
        )
        _record("calendar.address_made", user, lake=lake, now=now)
    return secret


def calendar_address_end(user: User, *, lake: str, now: datetime) -> bool:
    """End the person's address; returns whether there was one, so twice is harmless."""
    with transaction.atomic():
        n_ended, _ = CalendarAddress.objects.filter(user=user).delete()
        if n_ended:
            _record("calendar.address_ended", user, lake=lake, now=now)
    return bool(n_ended)


def calendar_address_of(user: User) -> CalendarAddress | None:
    """Return the person's address as far as it is kept: since when it stands."""
    return CalendarAddress.objects.filter(user=user).first()


def calendar_reader(secret: str) -> User:
    """Return the person whose calendar a secret opens.

    Raises:
        NotVisible: no address has this secret, or its person has left.
    """
    rows = CalendarAddress.objects.select_related("user")
    found = rows.filter(secret_sha256=_hash(secret), user__is_active=True).first()
    if found is None:
        raise NotVisible("calendar.unknown", "There is no calendar here; make a new address.")
    reader: User = found.user
    return reader


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def _record(action: str, user: User, *, lake: str, now: datetime) -> None:
    audit_record(
        action,
        actor=user.username,
        lake=lake,
        object_type="person",
        object_id=user.username,
        data={},
        now=now,
    )
