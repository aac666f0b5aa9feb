"""Notes of which windows partitions were said not to be ready, because they are written again.

What blocking rules said of them is dropped; a measurement that began before says nothing either.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction

from quality.checks.domain.rules import Severity
from quality.models import CheckSet, TakenBack

KEPT = timedelta(days=2)
"""No measurement runs so long."""
_WRITTEN_AT_ONCE = 200


def windows_take_back(set_id: int, windows: Collection[str], *, now: datetime) -> None:
    """Drop the results of blocking rules of windows; twice changes nothing."""
    with transaction.atomic():
        # Results are taken in with the same row locked.
        row = CheckSet.objects.select_for_update().filter(pk=set_id).first()
        if row is None:
            return
        row.results.filter(window__in=windows, severity=Severity.BLOCK.value).delete()
        row.taken_back.filter(window__in=windows).delete()
        TakenBack.objects.bulk_create(
            [TakenBack(check_set=row, window=one, at=now) for one in windows], _WRITTEN_AT_ONCE
        )


def taken_back_at(row: CheckSet, windows: Collection[str]) -> dict[str, datetime]:
    """Return which of the windows were taken back lately, and when last."""
    return dict(row.taken_back.filter(window__in=windows).values_list("window", "at"))
