"""Queries of what was measured of a table, as rules are judged on it."""

from collections.abc import Iterable

from quality.checks.domain.metrics import Metric
from quality.checks.domain.windows import Reading
from quality.models import CheckSet, Measurement

_MOST_READINGS = 20_000


def readings_of(row: CheckSet, metrics: Iterable[Metric]) -> dict[str, list[Reading]]:
    """Return what was measured of metrics by their keys, the newest of all together."""
    keys = [one.key for one in metrics]
    rows = Measurement.objects.filter(check_set=row, metric__in=keys).order_by("-measured_at")
    found: dict[str, list[Reading]] = {}
    values = rows.values_list("metric", "window", "value", "measured_at", "reason")
    for key, window, value, at, reason in values[:_MOST_READINGS]:
        found.setdefault(key, []).append(Reading(window, value, at, reason))
    return found
