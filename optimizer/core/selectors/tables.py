"""Conditions on tables of any format, and how much of their past a page shows."""

from collections.abc import Collection, Iterator
from typing import TypeVar

from django.db.models import F, Q, QuerySet

from optimizer.core.domain.bands import GOOD_FROM, POOR_BELOW, HealthBand
from optimizer.core.models import MaintainedTable
from portal.ui.frame.states import badge_for

# Django spells `is_deleted=False` as NOT, for which no database takes an index.
IS_THERE = Q(is_deleted__in=[False])

IN_BAND = {
    HealthBand.GOOD: Q(health__gte=GOOD_FROM),
    HealthBand.FAIR: Q(health__gte=POOR_BELOW, health__lt=GOOD_FROM),
    HealthBand.POOR: Q(health__lt=POOR_BELOW),
    HealthBand.UNKNOWN: Q(health=None),
}

TREND_SHOWN = 30

POINTS_DRAWN = 200

_CHUNK = 500

T = TypeVar("T", bound=MaintainedTable)


def band_choices() -> list[tuple[str, str]]:
    """Return the bands in words, for lists of choices."""
    return [(band.value, badge_for(f"HEALTH_{band}").word) for band in HealthBand]


def to_decide(tables: type[T], lake: str, *, again: Q) -> QuerySet[T]:
    """Return the tables that were looked at since their last decision, and those of `again`."""
    rows = tables._default_manager.filter(
        Q(decided_at=None) | Q(decided_at__lt=F("inspected_at")) | again,
        lake=lake,
        is_deleted=False,
        inspected_at__isnull=False,
    )
    return rows.order_by("inspected_at", "pk")


def unseen(
    tables: type[MaintainedTable], lake: str, seen: Collection[tuple[str, str]]
) -> Iterator[list[int]]:
    """Yield the keys of tables that are there by our rows only, in keyset chunks."""
    last = 0
    rows = tables._default_manager.filter(lake=lake, is_deleted=False).order_by("pk")
    while chunk := list(rows.filter(pk__gt=last).values_list("pk", "db", "table")[:_CHUNK]):
        last = chunk[-1][0]
        keys = [pk for pk, db, table in chunk if (db, table) not in seen]
        if keys:
            yield keys
