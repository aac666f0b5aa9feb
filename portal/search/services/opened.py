"""Remembers which pages of objects a person opened last."""

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from portal.access.models import User
from portal.search.models import OpenedObject

KEPT = 8
AGAIN_AFTER = timedelta(minutes=1)


def opened_record(
    user: User, *, view: str, key: Mapping[str, Any], lake: str, url: str, now: datetime
) -> None:
    """Write that a person opened a page of an object; the same within a minute writes nothing."""
    digest = hashlib.sha256(f"{lake} {url}".encode()).hexdigest()
    mine = OpenedObject.objects.filter(user=user)
    known = mine.filter(url_digest=digest).values_list("pk", "at").first()
    if known is not None:
        if now - known[1] >= AGAIN_AFTER:
            mine.filter(pk=known[0]).update(at=now)
        return
    row = OpenedObject(
        user=user,
        view=view,
        key={name: str(value) for name, value in key.items()},
        url_digest=digest,
        lake=lake,
        url=url,
        at=now,
    )
    OpenedObject.objects.bulk_create([row], ignore_conflicts=True)
    kept = list(mine.order_by("-at").values_list("pk", flat=True)[:KEPT])
    mine.exclude(pk__in=kept).delete()
