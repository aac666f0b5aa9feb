"""Draws daily numbers as one chart with its data table."""

from collections.abc import Mapping, Sequence
from datetime import date

from portal.ui.charts.figures import Axes, Chart, line_chart


def days_chart(
    name: str,
    *,
    title: str,
    series: Mapping[str, Sequence[tuple[date, int]]],
    axes: Axes,
    is_stacked: bool = False,
) -> Chart | None:
    """Draw lines or areas over the days that any series has; a day without a scan is a gap."""
    days = sorted({day for points in series.values() for day, _ in points})
    if not days:
        return None
    known = {key: dict(points) for key, points in series.items()}
    return line_chart(
        name,
        title=title,
        labels=[day.isoformat() for day in days],
        series={key: [values.get(day) for day in days] for key, values in known.items()},
        axes=axes,
        is_stacked=is_stacked,
    )
