"""What goes when of the data and the backups that a person may see?"""

import hashlib
from collections.abc import Iterator, Sequence
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
    if user.is_lake_keeper:
        rows = rows.filter(generation=generation)
    else:
        rows = rows.filter(table__in=TableFinding.objects.current(lake).for_user(user))
    runs: dict[tuple[int, str], list[ItemRange]] = {}
    for row in rows.select_related("table").order_by("due_first", "pk")[:most]:
        # By two keys a table has hundreds of runs: to a person they are one thing that goes.
        runs.setdefault((row.table_id, row.cls), []).append(row)
    for same in runs.values():
        yield _due(lake, same, today=today)


def _due(lake: str, runs: Sequence[ItemRange], *, today: date) -> Event:
    """Tell of the runs of one table in one class, the first of which is due first."""
    table, since = runs[0].table, runs[0].due_first or today
    n_items = sum(row.n_items for row in runs)
    noun = "item" if n_items == 1 else "items"
    what = f"{n_items:,} {noun}" if table.n_partitions else "the table"
    lowest, highest = min(row.first for row in runs), max(row.last for row in runs)
    names = lowest if lowest == highest else f"{lowest} to {highest}"
    path = reverse("lifecycle:table", args=[table.db, table.table])
    overdue = f"Due since {since}. " if since < today else ""
    return Event(
        uid=_uid(lake, str(table), runs[0].cls, "due"),
        first=max(since, today),
        last=max(today, *(row.due_last or today for row in runs)),
        summary=f"{table}: {what} due",
        description=f"{names}\n{overdue}Nothing goes before its notice, two approvals and a "
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
