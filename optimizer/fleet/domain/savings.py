"""What an applied advice saves a day, as its scans since were measured."""

from dataclasses import dataclass
from datetime import date

LONGEST_DAYS = 35
"""Scans are summed for so long; what is counted since goes back no further."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Scans of an advice's filters: before it was applied, and since its files are written."""

    n_before: int | None
    bytes_before: int | None
    n_after: int | None
    bytes_after: int | None


def saved_a_day(counted: Counted, *, since: date, today: date) -> int | None:
    """Return the bytes a day that its scans planned less than such scans did before.

    Negative where they plan more. None as long as no scan since, or none before, is known.
    """
    if not (counted.n_before and counted.bytes_before and counted.n_after):
        return None
    would_be = counted.n_after * counted.bytes_before / counted.n_before
    n_days = min(max(1, (today - since).days + 1), LONGEST_DAYS)
    return round((would_be - (counted.bytes_after or 0)) / n_days)
