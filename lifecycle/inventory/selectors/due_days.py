"""Reads what of a person's data is due on each of the next days."""

from datetime import date
from typing import NamedTuple

from django.db.models import Sum

from lifecycle.models import DueDay
from portal.access.models import User


class DueThatDay(NamedTuple):
    """Items that are due on a day, and the bytes of those that were measured."""

    n_items: int
    n_bytes: int


def due_by_day(lake: str, user: User, *, until: date) -> dict[date, DueThatDay]:
    """Return what of the person's data is due on each day, as the last scan counted it.

    What is overdue stands on the scan's day; days far ahead (ingest counts 92) are unknown.
    """
    rows = DueDay.objects.current(lake).filter(day__lte=until)
    rows = rows.filter(db="") if user.is_lake_staff_of(lake) else rows.for_user(user).exclude(db="")
    summed = rows.order_by().values_list("day").annotate(n=Sum("n_items"), size=Sum("n_bytes"))
    return {day: DueThatDay(n_items, n_bytes) for day, n_items, n_bytes in summed}
