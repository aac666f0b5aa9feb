"""Chart of the ready times of a table's last periods against its deadline."""

from collections.abc import Sequence

from django.utils import timezone

from portal.ui.charts.figures import Axes, Chart, line_chart
from quality.models import ExpectedPartition, FreshnessRule


def ready_chart(rule: FreshnessRule, newest_first: Sequence[ExpectedPartition]) -> Chart | None:
    """Draw how long after its end each period was ready; nothing that came gives none."""
    rows = list(reversed(newest_first))
    if not any(row.ready_at for row in rows):
        return None
    form = "%Y-%m-%d %H:%M" if rule.hour_key or "HH" in rule.time_format else "%Y-%m-%d"
    series: dict[str, list[int | None]] = {"ready": [_minutes(row) for row in rows]}
    if any(row.due_at for row in rows):
        series["had to be ready"] = [_allowed(row) for row in rows]
    return line_chart(
        "ready",
        title="Minutes from a period's end until it was ready",
        labels=[f"{timezone.localtime(row.start):{form}}" for row in rows],
        series=series,
        axes=Axes("Period", "Minutes"),
    )


def _minutes(row: ExpectedPartition) -> int | None:
    if row.ready_at is None:
        return None
    return round((row.ready_at - row.end).total_seconds() / 60)


def _allowed(row: ExpectedPartition) -> int | None:
    if row.due_at is None:
        return None
    return round((row.due_at - row.end).total_seconds() / 60)
