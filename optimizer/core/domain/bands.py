"""Assigns tables and partitions to health bands, so that people can filter and see them."""

from enum import StrEnum

GOOD_FROM = 80.0
POOR_BELOW = 50.0


class HealthBand(StrEnum):
    """Three bands of the score, and one for what was never looked at."""

    GOOD = "GOOD"
    FAIR = "FAIR"
    POOR = "POOR"
    UNKNOWN = "UNKNOWN"


def band_of(health: float | None) -> HealthBand:
    """Return the band of a score from 0 to 100; None was not looked at yet."""
    if health is None:
        return HealthBand.UNKNOWN
    if health < POOR_BELOW:
        return HealthBand.POOR
    return HealthBand.GOOD if health >= GOOD_FROM else HealthBand.FAIR
