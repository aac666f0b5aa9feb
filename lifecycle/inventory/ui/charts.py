"""Draws daily numbers as one chart with its data table."""

from collections.abc import Mapping, Sequence
from datetime import date

from portal.ui.charts.figures import Chart, Unit, line_chart


def days_chart(
    name: str,
    *,
    title: str,
    series: Mapping[str, Sequence[tuple[date, int]]],
    unit: Unit = "",
) -> Chart | None:
    """Draw lines over the days that any series has; a day without a scan stays a gap."""
    days = sorted({day for points in series.values() for day, _ in points})
    if not days:
        return None
    known = {key: dict(points) for key, points in series.items()}
    return line_chart(
        name,
        title=title,
        labels=[day.isoformat() for day in days],
        series={key: [values.get(day) for day in days] for key, values in known.items()},
        unit=unit,
    )
