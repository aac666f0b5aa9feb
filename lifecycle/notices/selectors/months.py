"""Reads what each day of a month is about, and what runs over one day."""

from collections import Counter
from datetime import date, datetime, time, timedelta

from django.db.models import Count, QuerySet
from django.db.models.functions import TruncDate

from lifecycle.backup.models import BackupTotals
from lifecycle.inventory.selectors.due_days import DueThatDay, due_by_day
from lifecycle.notices.domain.calendar import Event
from lifecycle.notices.domain.months import Month, last_day_of, lay_out
from lifecycle.notices.selectors.calendar import calendar_events
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.lake.clock import day_of


def calendar_month(
    lake: str, user: User, first: date, *, today: date, backups: QuerySet[BackupTotals]
) -> Month:
    """Return the month that begins on `first`, as the last scan and the person's backups say.

    What is overdue counts today.
    """
    zone, last = get_lake(lake).zone, last_day_of(first)
    due: dict[date, DueThatDay] = {}
    for day, found in due_by_day(lake, user, until=last).items():
        known = due.get(max(day, today), DueThatDay(0, 0))
        both = DueThatDay(known.n_items + found.n_items, known.n_bytes + found.n_bytes)
        due[max(day, today)] = both
    purged: Counter[date] = Counter()
    end = datetime.combine(last + timedelta(days=1), time.min, tzinfo=zone)
    purges = backups.filter(purge_after__lt=end).order_by()
    by_day = purges.annotate(purged_on=TruncDate("purge_after", tzinfo=zone))
    for day, n_backups in by_day.values_list("purged_on").annotate(n=Count("pk")):
        purged[max(day, today)] += n_backups
    return lay_out(first, due, purged, today=today)


def events_on(
    lake: str, user: User, day: date, *, now: datetime, backups: QuerySet[BackupTotals]
) -> list[Event]:
    """Return the events that run over a day: ranges of partitions, and backups purged then."""
    if day < day_of(now, get_lake(lake).zone):
        return []
    events = calendar_events(lake, user, now=now, backups=backups)
    return [event for event in events if event.first <= day <= event.last]
