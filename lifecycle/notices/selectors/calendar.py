"""Reads upcoming expirations of data and purges of backups that a person may see."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Count, QuerySet
from django.urls import reverse

from lifecycle.backup.models import BackupTotals
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.models.findings import EXAMPLES_PER_CLASS
from lifecycle.inventory.selectors.dropped import take_off_dropped
from lifecycle.inventory.selectors.findings import current_generation
from lifecycle.models import PartitionRange, SamplePartition, TableFinding
from lifecycle.notices.domain.calendar import Event
from lifecycle.restore.selectors.backups import backup_totals_for_user
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.lake.clock import day_of
from portal.lake.counts import count_words

DAYS_AHEAD = 90
MOST_EVENTS = 1_000
_CLASSES = (ExpiryClass.CLEAN_NOW, ExpiryClass.SOON, ExpiryClass.NOT_NOW)


def calendar_events(
    lake: str,
    user: User,
    *,
    now: datetime,
    most: int = MOST_EVENTS,
    backups: QuerySet[BackupTotals] | None = None,
) -> list[Event]:
    """Return the events of the next 90 days in order of days, at most `most` of each kind.

    `backups` are those that the person may see, where the caller has asked for them already.
    """
    today = day_of(now, get_lake(lake).zone)
    events = [
        *_expiring(lake, user, today=today, most=most),
        *_purges(
            lake,
            backup_totals_for_user(lake, user) if backups is None else backups,
            now=now,
            most=most,
        ),
    ]
    return sorted(events, key=lambda event: (event.first, event.summary, event.uid))


def calendar_url(secret: str, lake: str) -> str:
    """Return the whole secret address."""
    path = reverse("lifecycle:calendar-feed", args=[secret])
    return f"{settings.LAKEWARDEN_BASE_URL}{path}?{urlencode({'lake': lake})}"


def _expiring(lake: str, user: User, *, today: date, most: int) -> Iterator[Event]:
    generation = current_generation(lake)
    if generation is None:
        return
    rows = PartitionRange.objects.filter(
        cls__in=_CLASSES, due_first__lte=today + timedelta(days=DAYS_AHEAD)
    )
    if user.is_lake_staff_of(lake):
        rows = rows.filter(generation=generation)
    else:
        rows = rows.filter(table__in=TableFinding.objects.current(lake).for_user(user))
    runs: dict[tuple[int, str], list[PartitionRange]] = {}
    for row in rows.select_related("table").order_by("due_first", "pk")[:most]:
        # By two keys a table has hundreds of runs: to a person they are one thing that goes.
        runs.setdefault((row.table_id, row.cls), []).append(row)
    take_off_dropped([same[0].table for same in runs.values()])
    until = today + timedelta(days=DAYS_AHEAD)
    within = _known_within(runs.values(), until=until)
    for key, same in runs.items():
        n_items, is_exact = _items_within(same, within.get(key, 0), until=until)
        if n_items:
            yield _due(lake, same, n_items, is_exact=is_exact, today=today, until=until)


def _known_within(
    groups: Iterable[Sequence[PartitionRange]], *, until: date
) -> dict[tuple[int, str], int]:
    """Count the single known items due by a day of those tables of which a run ends later."""
    tables = {same[0].table_id for same in groups if _ends_later(same, until)}
    if not tables:
        return {}
    items = SamplePartition.objects.filter(table__in=tables, cls__in=_CLASSES, due_on__lte=until)
    counted = items.order_by().values_list("table", "cls").annotate(n=Count("pk"))
    return {(table, cls): n for table, cls, n in counted}


def _items_within(runs: Sequence[PartitionRange], n_known: int, *, until: date) -> tuple[int, bool]:
    """Return how many items of one table and class are due by a day, and whether that is exact.

    It is not where a run ends later and not every item of the class is known by itself.
    """
    cls = runs[0].cls.lower()
    if not _ends_later(runs, until):
        dropped = getattr(runs[0].table.dropped, f"n_{cls}", 0)
        return max(sum(row.n_items for row in runs) - dropped, 0), True
    if getattr(runs[0].table, f"n_{cls}") <= EXAMPLES_PER_CLASS and n_known:
        return n_known, True
    # A run that begins by then has at least one item that is due by then.
    at_least = sum(1 if _ends_later([row], until) else row.n_items for row in runs)
    return max(n_known, at_least), False


def _ends_later(runs: Sequence[PartitionRange], until: date) -> bool:
    return any(row.due_last and row.due_last > until for row in runs)


def _due(
    lake: str,
    runs: Sequence[PartitionRange],
    n_items: int,
    *,
    is_exact: bool,
    today: date,
    until: date,
) -> Event:
    """Tell of the runs of one table in one class, the first of which is due first."""
    table, since = runs[0].table, runs[0].due_first or today
    noun = "item" if n_items == 1 else "items"
    at_least = "" if is_exact else "at least "
    what = f"{at_least}{n_items:,} {noun}" if table.n_partitions else "the table"
    lowest, highest = min(row.first for row in runs), max(row.last for row in runs)
    names = lowest if lowest == highest else f"{lowest} to {highest}"
    path = reverse("ui:table-tab", args=[table.db, table.table, "lifecycle"])
    overdue = f"Due since {since}. " if since < today else ""
    last = max(row.due_last or today for row in runs)
    later = f"The range goes on to {last}; counted is what is due by {until}. "
    dropped = getattr(table.dropped, f"n_{runs[0].cls.lower()}", 0)
    gone = f"{dropped:,} more {'was' if dropped == 1 else 'were'} dropped since the scan. "
    return Event(
        uid=_uid(lake, str(table), runs[0].cls, "due"),
        first=max(since, today),
        last=max(today, min(last, until)),
        summary=f"{table}: {what} due",
        description=f"{names}\n{overdue}{later if last > until else ''}{gone if dropped else ''}"
        "Nothing is dropped before its notice, two approvals and a backup.".lstrip(),
        url=f"{settings.LAKEWARDEN_BASE_URL}{path}?{urlencode({'lake': lake})}",
    )


def _purges(
    lake: str, backups: QuerySet[BackupTotals], *, now: datetime, most: int
) -> Iterator[Event]:
    rows = backups.filter(purge_after__lte=now + timedelta(days=DAYS_AHEAD))
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
            description=f"{count_words(row.restorable_items, 'item')} can be restored until then; "
            "after that nothing brings the data back.",
            url=f"{settings.LAKEWARDEN_BASE_URL}{path}?{urlencode({'lake': lake})}",
        )


def _uid(*parts: str) -> str:
    """Return a name that stays the same over days and tells nothing."""
    text = "\0".join(parts).encode(errors="surrogatepass")
    return f"{hashlib.sha256(text).hexdigest()[:32]}@lakewarden"
