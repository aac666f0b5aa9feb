"""Reads when backups were last proven by a restore test."""

from datetime import date, datetime
from uuid import UUID

from django.db.models import Max

from lifecycle.models import RestoreTestItem
from lifecycle.restore_tests.domain import (
    Compared,
)


def verified_days(lake: str) -> dict[date, datetime]:
    """Give, by the day of the backup, when something of it was last proven."""
    rows = (
        RestoreTestItem.objects.filter(lake=lake, outcome=Compared.PROVEN).order_by().values("day")
    )
    return {row["day"]: row["at"] for row in rows.annotate(at=Max("checked_at"))}


def newest_verification_of_batch(lake: str, batch_id: UUID) -> RestoreTestItem | None:
    """Return what was last compared of one batch of a backup."""
    rows = RestoreTestItem.objects.filter(lake=lake, batch_id=batch_id)
    shown = rows.exclude(outcome=Compared.SKIPPED).select_related("restore_test")
    return shown.order_by("-checked_at", "outcome").first()


def newest_verification_of_day(lake: str, day: date) -> RestoreTestItem | None:
    """Return what was last compared of the backups of one day: its newest failure, else proof."""
    rows = RestoreTestItem.objects.filter(lake=lake, day=day).exclude(outcome=Compared.SKIPPED)
    return rows.select_related("restore_test").order_by("-checked_at", "outcome").first()
