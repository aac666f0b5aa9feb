"""Conditions on tables of either format, and how much of their past a page shows."""

from django.db.models import Q

from optimizer.core.domain.bands import GOOD_FROM, POOR_BELOW, HealthBand
from portal.ui.frame.states import look_of

# Django spells `is_gone=False` as NOT, for which no database takes an index.
IS_THERE = Q(is_gone__in=[False])

IN_BAND = {
    HealthBand.GOOD: Q(health__gte=GOOD_FROM),
    HealthBand.FAIR: Q(health__gte=POOR_BELOW, health__lt=GOOD_FROM),
    HealthBand.POOR: Q(health__lt=POOR_BELOW),
    HealthBand.UNKNOWN: Q(health=None),
}

TREND_SHOWN = 30

POINTS_DRAWN = 200


def band_choices() -> list[tuple[str, str]]:
    """Return the bands in words, for lists of choices."""
    return [(band.value, look_of(f"HEALTH_{band}").word) for band in HealthBand]
