"""Draws a pipeline's last hours: its lag and its changes, with their numbers."""

from collections.abc import Sequence

from pipelines.models import PipelineMinute
from portal.ui.charts.figures import Axes, Chart, bar_chart, line_chart

_TIME = "Minute (UTC)"


def charts_of(minutes: Sequence[PipelineMinute]) -> list[Chart]:
    """Return the pictures of the minutes of which something was heard, the oldest first."""
    if not minutes:
        return []
    labels = [f"{one.minute:%H:%M}" for one in minutes]
    lag = line_chart(
        "lag",
        title="Lag behind the source",
        labels=labels,
        series={
            "captured, s": [_rounded(one.capture_lag) for one in minutes],
            "in the lake, s": [_rounded(one.apply_lag) for one in minutes],
        },
        axes=Axes(_TIME, "Seconds"),
    )
    changes = bar_chart(
        "changes",
        title="Changes captured a minute",
        labels=labels,
        series={"changes": [one.n_rows for one in minutes]},
        axes=Axes(_TIME, "Changes"),
    )
    return [lag, changes]


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)
