"""Remembers which pages of objects a person opened last."""

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db.models import Count

from portal.access.models import User
from portal.search.models import OpenedObject

KEPT = 8
AGAIN_AFTER = timedelta(minutes=1)


def opened_record(
    user: User, *, view: str, key: Mapping[str, Any], lake: str, url: str, now: datetime
) -> None:
    """Write that a person opened a page of an object; the same within a minute writes nothing.

    Each process remembers for a minute what it wrote, so most pages ask the database nothing.
    """
    digest = hashlib.sha256(f"{lake} {url}".encode()).hexdigest()
    written = f"search.opened.{user.pk}.{digest}"
    last = cache.get(written)
    if last is not None and now - last < AGAIN_AFTER:
        return
    cache.set(written, now, AGAIN_AFTER.total_seconds())
    if OpenedObject.objects.filter(user=user, url_digest=digest).update(at=now):
        return
    OpenedObject.objects.create(
        user=user,
        view=view,
        key={name: str(value) for name, value in key.items()},
        url_digest=digest,
        lake=lake,
        url=url,
        at=now,
    )


def opened_trim(lake: str, *, now: datetime) -> int:
    """Forget what a person opened before the last KEPT objects; return how many. A tick calls it.

    Called again it changes nothing.
    """
    del now  # what is kept is counted, however old it is
    rows = OpenedObject.objects.filter(lake=lake)
    counts = rows.order_by().values("user").annotate(n=Count("pk")).filter(n__gt=KEPT)
    n_forgotten = 0
    for user in list(counts.values_list("user", flat=True)):
        mine = rows.filter(user=user)
        kept = list(mine.order_by("-at").values_list("pk", flat=True)[:KEPT])
        n_forgotten += mine.exclude(pk__in=kept).delete()[0]
    return n_forgotten
