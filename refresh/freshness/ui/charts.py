"""Charts of a table's last statements: how long they took, and how late they came."""

from collections.abc import Sequence

from django.utils import timezone

from portal.ui.charts.figures import Axes, Chart, line_chart
from refresh.models import Refresh
from refresh.worker.domain.steps import StepKind

SECONDS = Axes("Time of the statement", "Seconds", "seconds")
WORDS = {StepKind.TABLE.value: "whole table", StepKind.PARTITIONS.value: "partitions"}


def table_charts(newest_first: Sequence[Refresh]) -> list[Chart]:
    """Draw the ended statements, oldest first; nothing to draw gives none."""
    ended = [(row, row.seconds) for row in reversed(newest_first) if row.seconds is not None]
    if not ended:
        return []
    labels = [f"{timezone.localtime(row.began_at):%Y-%m-%d %H:%M:%S}" for row, _ in ended]
    took = {
        words: [round(seconds, 2) if row.kind == kind else None for row, seconds in ended]
        for kind, words in WORDS.items()
        if any(row.kind == kind for row, _ in ended)
    }
    late = {
        "until it was sent": [round(row.waited, 2) for row, _ in ended],
        "until its end": [round(row.waited + seconds, 2) for row, seconds in ended],
    }
    return [
        line_chart(
            "took", title="Seconds a statement took", labels=labels, series=took, axes=SECONDS
        ),
        line_chart(
            "late",
            title="Seconds since the first change that waited",
            labels=labels,
            series=late,
            axes=SECONDS,
        ),
    ]
