"""Values of the metric that is not measured here: rows that differ from the table's source."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from portal.catalog.services.source_comparisons import source_comparison_of
from quality.checks.domain.messages import MetricValue
from quality.checks.domain.metrics import COMPARED
from quality.checks.domain.reasons import Reason
from quality.checks.domain.rules import Rule
from quality.models import CheckSet

OLDEST = timedelta(days=2)
"""Comparisons are daily; an older one says nothing of the data as it is now."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A value with the time that it is of; without a value there is none."""

    value: MetricValue
    at: datetime | None = None


def source_differences(row: CheckSet, rules: Iterable[Rule], *, now: datetime) -> Compared | None:
    """Return how many rows differed in the last comparison; None: no rule asks for it."""
    keys = [one.measured.key for one in rules if one.metric is COMPARED]
    if not keys:
        return None
    found = source_comparison_of(row.hive)
    if found is None:
        return Compared(MetricValue(keys[0], None, reason=Reason.NO_SOURCE))
    if found.at is None or found.at < now - OLDEST:
        return Compared(MetricValue(keys[0], None, reason=Reason.NOT_COMPARED))
    return Compared(MetricValue(keys[0], found.n_differences), min(found.at, now))
