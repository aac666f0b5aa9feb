"""Draws what a lake's scans read and left out, and how long queries took, with their numbers."""

from collections.abc import Mapping, Sequence

from optimizer.fleet.domain.days import CAUSES, CUBES, PLANNING, ScannedDay
from optimizer.fleet.selectors import FleetScans, QueryTimes
from optimizer.indexes.domain.envelope import Kind
from portal.ui.charts.figures import Axes, Chart, bar_chart, line_chart

READ = "read"
CAUSE_WORDS: Mapping[str, str] = {
    PLANNING: "left out by planning (estimate)",
    **{kind.value: f"dropped by {kind.value} indexes" for kind in Kind},
    CUBES: "answered from cubes",
}
DAY = "Day (UTC)"


def charts_of(scans: FleetScans) -> list[Chart]:
    """Return the pictures for which something was reported."""
    found = []
    if any(one.n_scans or one.skipped for one in scans.days):
        found += [_bytes(scans.days), _share(scans.days)]
    if scans.times:
        found.append(_times(scans.days, scans.times))
    return found


def _bytes(days: Sequence[ScannedDay]) -> Chart:
    causes = [cause for cause in CAUSES if any(one.skipped.get(cause) for one in days)]
    left_out = {CAUSE_WORDS[cause]: [one.skipped.get(cause, 0) for one in days] for cause in causes}
    return bar_chart(
        "scanned",
        title="Bytes that scans read and did not read",
        labels=_labels(days),
        series={READ: [one.read_bytes for one in days], **left_out},
        axes=Axes(DAY, "Bytes", "bytes"),
    )


def _share(days: Sequence[ScannedDay]) -> Chart:
    percents = [one.skipped_percent for one in days]
    drawn = line_chart(
        "skipped-share",
        title="Bytes that were not read, of all",
        labels=_labels(days),
        series={
            "not read, %": [None if one is None else round(one, 1) for one in percents],
        },
        axes=Axes(DAY, "Not read, %"),
    )
    drawn.figure["layout"]["yaxis"] |= {"range": [0, 100]}
    return drawn


def _times(days: Sequence[ScannedDay], times: Sequence[QueryTimes]) -> Chart:
    by_key = {(one.engine, one.day): one for one in times}
    series: dict[str, list[float | None]] = {}
    for engine in dict.fromkeys(one.engine for one in times):
        of_days = [by_key.get((engine, one.day)) for one in days]
        series[f"{engine.capitalize()} P50"] = [None if one is None else one.p50 for one in of_days]
        series[f"{engine.capitalize()} P95"] = [None if one is None else one.p95 for one in of_days]
    return line_chart(
        "query-times",
        title="Seconds that queries took",
        labels=_labels(days),
        series=series,
        axes=Axes(DAY, "Seconds", "seconds"),
    )


def _labels(days: Sequence[ScannedDay]) -> list[str]:
    return [one.day.isoformat() for one in days]
