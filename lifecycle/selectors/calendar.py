"""What goes when of the data and the backups that a person may see?"""

import hashlib
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from lifecycle.domain.calendar import Event
from lifecycle.domain.expiry import ExpiryClass
from lifecycle.models import ItemRange, TableFinding
from lifecycle.selectors.backups import backup_totals_for_user
from lifecycle.selectors.findings import current_generation
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.lake.clock import day_of

DAYS_AHEAD = 90
MOST_EVENTS = 1_000
_CLASSES = (ExpiryClass.CLEAN_NOW, ExpiryClass.SOON, ExpiryClass.NOT_NOW)


def calendar_events(
    lake: str, user: User, *, now: datetime, most: int = MOST_EVENTS
) -> list[Event]:
    """Give the events of the next 90 days in order of days, at most `most` of each kind."""
    today = day_of(now, get_lake(lake).zone)
    events = [
        *_expiring(lake, user, today=today, most=most),
        *_purges(lake, user, now=now, most=most),
    ]
    return sorted(events, key=lambda event: (event.first, event.summary, event.uid))


def calendar_url(secret: str, lake: str) -> str:
    """Give the whole secret address."""
    path = reverse("lifecycle:calendar-feed", args=[secret])
    return f"{settings.LAKEWARDEN_BASE_URL}{path}?{urlencode({'lake': lake})}"


def _expiring(lake: str, user: User, *, today: date, most: int) -> Iterator[Event]:
    generation = current_generation(lake)
    if generation is None:
        return
    rows = ItemRange.objects.filter(
        cls__in=_CLASSES, due_first__lte=today + timedelta(days=DAYS_AHEAD)
    )
    if user.is_lake_admin or user.is_lake_operator:
        rows = rows.filter(generation=generation)
    else:
        rows = rows.filter(table__in=TableFinding.objects.current(lake).for_user(user))
    for row in rows.select_related("table").order_by("due_first", "pk")[:most]:
        first, last = max(row.due_first or today, today), max(row.due_last or today, today)
        noun = "item" if row.n_items == 1 else "items"
        what = f"{row.n_items:,} {noun}" if row.table.n_partitions else "the table"
        names = row.first if row.first == row.last else f"{row.first} to {row.last}"
        path = reverse("lifecycle:table", args=[row.table.db, row.table.table])
        since = f"Due since {row.due_first}. " if row.due_first and row.due_first < today else ""
        yield Event(
            uid=_uid(lake, str(row.table), row.first, "due"),
            first=first,
            last=last,
            summary=f"{row.table}: {what} due",
            description=f"{names}\n{since}Nothing goes before its notice, two approvals and a "
            "backup.".lstrip(),
            url=f"{settings.LAKEWARDEN_BASE_URL}{path}?{urlencode({'lake': lake})}",
        )


def _purges(lake: str, user: User, *, now: datetime, most: int) -> Iterator[Event]:
    rows = backup_totals_for_user(lake, user).filter(
        purge_after__lte=now + timedelta(days=DAYS_AHEAD)
    )
    zone = get_lake(lake).zone
    for row in rows.order_by("purge_after", "pk")[:most]:
        if row.purge_after is None:
            continue
        name, day = f"{row.db}.{row.table}", max(day_of(row.purge_after, zone), day_of(now, zone))
        path = reverse("lifecycle:backup-table", args=[row.day, row.db, row.table])
        yield Event(
            uid=_uid(lake, name, str(row.day), row.table_owner, "purge"),
            first=day,
            last=day,
            summary=f"{name}: backup of {row.day} is purged",
            description=f"{row.restorable_items:,} items. After that they are gone for good; "
            "until then they can be restored.",
            url=f"{settings.LAKEWARDEN_BASE_URL}{path}?{urlencode({'lake': lake})}",
        )


def _uid(*parts: str) -> str:
    """Give a name that stays the same over days and tells nothing."""
    text = "\0".join(parts).encode(errors="surrogatepass")
    return f"{hashlib.sha256(text).hexdigest()[:32]}@lakewarden"
