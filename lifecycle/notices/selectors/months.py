"""Reads how many tables and backups each day of a month is about, and which those are."""

from collections import Counter
from datetime import date, datetime, time, timedelta

from django.db.models import Count, QuerySet
from django.db.models.functions import TruncDate
from django.urls import reverse

from lifecycle.backup.models import BackupTotals
from lifecycle.inventory.selectors.findings import tables_visible
from lifecycle.notices.domain.calendar import Event
from lifecycle.notices.domain.months import Month, last_day_of, lay_out
from lifecycle.restore.selectors.backups import backup_totals_for_user
from portal.access.lakes import get_lake
from portal.access.models import User


def calendar_month(lake: str, user: User, first: date, *, today: date) -> Month:
    """Return the month that begins on `first`, as the last scan and the backups say.

    A table counts on the day on which data of it is due next, what is overdue counts today.
    """
    last = last_day_of(first)
    due: Counter[date] = Counter()
    tables = tables_visible(lake, user).filter(next_due_on__lte=last).order_by()
    for day, n_tables in tables.values_list("next_due_on").annotate(n=Count("pk")):
        due[max(day, today)] += n_tables
    purged: Counter[date] = Counter()
    backups = _backups(lake, user).filter(purge_after__lt=_end_of(lake, last)).order_by()
    by_day = backups.annotate(purged_on=TruncDate("purge_after", tzinfo=get_lake(lake).zone))
    for day, n_backups in by_day.values_list("purged_on").annotate(n=Count("pk")):
        purged[max(day, today)] += n_backups
    return lay_out(first, due, purged, today=today)


def events_on(lake: str, user: User, day: date, *, today: date, most: int) -> list[Event]:
    """Return what a day of the month counts: at most `most` tables, and as many backups."""
    since = date.min if day == today else day
    tables = tables_visible(lake, user).filter(next_due_on__range=(since, day))
    if day < today:
        return []
    found = [
        Event(
            uid=f"due {name}",
            first=due_on,
            last=day,
            summary=f"{name}: data is due",
            url=reverse("lifecycle:table", args=[db, table]),
        )
        for db, table, due_on in tables.order_by("db", "table").values_list(
            "db", "table", "next_due_on"
        )[:most]
        for name in [f"{db}.{table}"]
    ]
    backups = _backups(lake, user).filter(purge_after__lt=_end_of(lake, day))
    if day > today:
        backups = backups.filter(purge_after__gte=_end_of(lake, day - timedelta(days=1)))
    return found + [
        Event(
            uid=f"purge {row.pk}",
            first=day,
            last=day,
            summary=f"{row.db}.{row.table}: backup of {row.day} is purged",
            url=reverse("lifecycle:backup-table", args=[row.day, row.db, row.table]),
        )
        for row in backups.order_by("db", "table", "pk")[:most]
    ]


def _backups(lake: str, user: User) -> QuerySet[BackupTotals]:
    return backup_totals_for_user(lake, user).filter(purge_after__isnull=False)


def _end_of(lake: str, day: date) -> datetime:
    """Return the instant at which a day of the lake is over."""
    return datetime.combine(day + timedelta(days=1), time.min, tzinfo=get_lake(lake).zone)
