"""Draws charts of a Hudi table's trend, timeline and file groups, with their numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import plotly.graph_objects as go
from django.utils import timezone

from optimizer.core.domain.sizes import BUCKETS
from optimizer.hudi.inspect.domain.facts import Action, InstantState
from optimizer.hudi.inspect.domain.findings import span_words
from optimizer.hudi.inspect.selectors.instants import STUCK, InstantRow
from optimizer.hudi.inspect.selectors.slices import SHARES, SliceSums
from optimizer.models import HudiPoint
from portal.ui.charts.figures import Axes, Chart, bar_chart, chart_json, line_chart, with_marks

INSTANTS_DRAWN = 200
INSPECTED = "Time of the inspection"
FEW = 8
_HOUR, _MINUTE = 3600, 60
_HEAD, _LINE = 96, 18
# Of each state: the mark at the end of its line. The theme gives the colours in this order.
_MARKS = (
    (InstantState.COMPLETED, "circle"),
    (InstantState.REQUESTED, "diamond-open"),
    (InstantState.INFLIGHT, "circle-open"),
)
_BEGUN, _STUCK, _WAITED = "at work", "stuck", "waits to be begun"
LINES_AT_MOST = 6
_ORDER = [str(one) for one in Action]


@dataclass(frozen=True)
class Lanes:
    """The actions that have a lane, from the top, the middle of each, and a height for each row."""

    names: list[str]
    middles: list[float]
    heights: Mapping[str, float]
    n_lines: int


def lanes_of(rows: Sequence[InstantRow], *, now: datetime) -> Lanes:
    """Lay instants out, so that none hides another; heights grow downwards, a line is one high.

    Each action has a lane; instants that were under way at once stand on lines of their own
    within it, as far as a lane has lines.
    """
    names = sorted({one.action for one in rows}, key=_rank)
    heights: dict[str, float] = {}
    middles = []
    top = 0.0
    for name in names:
        lines: list[datetime] = []
        for one in sorted((row for row in rows if row.action == name), key=lambda row: row.key):
            line = _line(lines, one, now)
            heights[one.key] = top + line
        middles.append(top + (len(lines) - 1) / 2)
        top += len(lines) + 0.6
    return Lanes(names, middles, heights, round(top))


def _line(lines: list[datetime], one: InstantRow, now: datetime) -> int:
    """Return the first line that is free, or the one that is free next where all are taken."""
    end = now if one.is_pending else one.completed_at or one.requested_at
    free = next((n for n, busy in enumerate(lines) if busy <= one.requested_at), None)
    if free is None and len(lines) < LINES_AT_MOST:
        lines.append(end)
        return len(lines) - 1
    if free is None:
        free = min(range(len(lines)), key=lambda n: lines[n])
    lines[free] = max(end, lines[free])
    return free


def _rank(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


def trend(
    oldest_first: Sequence[HudiPoint], done: Sequence[tuple[datetime, str]] = ()
) -> list[Chart]:
    """Draw how health and the read-optimized view went; one look is no trend.

    `done` says when tasks ended, and of which kind: they are marked.
    """
    if len(oldest_first) < 2:
        return []
    labels = [_local(point.at) for point in oldest_first]
    health = [None if one.health is None else round(one.health, 1) for one in oldest_first]
    drawn = line_chart(
        "health-trend",
        title="Health over time",
        labels=labels,
        series={"health": health},
        axes=Axes(INSPECTED, "Health, 0 to 100"),
    )
    drawn.figure["layout"]["yaxis"] |= {"range": [0, 100]}
    most = max(one.stale_seconds for one in oldest_first)
    unit, seconds = ("hours", _HOUR) if most >= 2 * _HOUR else ("minutes", _MINUTE)
    behind = [round(one.stale_seconds / seconds, 1) for one in oldest_first]
    pending = {
        "plans pending": [one.n_pending for one in oldest_first],
        "delta commits only in logs": [one.n_uncompacted for one in oldest_first],
    }
    marks = {_local(at): kind for at, kind in done}
    every = [
        drawn,
        line_chart(
            "stale-trend",
            title=f"{unit.capitalize()} that the read-optimized view lay behind",
            labels=labels,
            series={unit: behind},
            axes=Axes(INSPECTED, unit.capitalize()),
        ),
        line_chart(
            "pending-trend",
            title="Pending plans and uncompacted commits",
            labels=labels,
            series=pending,
            axes=Axes(INSPECTED, "Plans and commits"),
        ),
    ]
    return [with_marks(chart, marks, head="Task that ended") for chart in every]


def drawn_of(newest_first: Sequence[InstantRow]) -> list[InstantRow]:
    """Choose what a picture can show: what is pending before the newest of the rest."""
    pending = [one for one in newest_first if one.is_pending][:INSTANTS_DRAWN]
    rest = [one for one in newest_first if not one.is_pending]
    chosen = [*pending, *rest[: INSTANTS_DRAWN - len(pending)]]
    return sorted(chosen, key=lambda one: one.key)


def timeline(newest_first: Sequence[InstantRow], *, now: datetime) -> list[Chart]:
    """Draw each instant as a line from its request on; what is pending reaches to now."""
    rows = drawn_of(newest_first)
    if not rows:
        return []
    lanes = lanes_of(rows, now=now)
    is_all = len(rows) == len(newest_first)
    of = (
        "" if is_all else f": the newest {len(rows):,} of {len(newest_first):,}, pending ones first"
    )
    figure = go.Figure(
        [
            *(
                _marks(str(state).capitalize(), symbol, lanes, now, _in_state(rows, str(state)))
                for state, symbol in _MARKS
            ),
            _lines(_BEGUN, lanes, _worked(rows, now, is_stuck=False), width=4),
            _lines(_STUCK, lanes, _worked(rows, now, is_stuck=True), width=6),
            _lines(_WAITED, lanes, _waited(rows, now), width=2, dash="dot"),
        ]
    )
    figure.update_layout(
        height=_HEAD + _LINE * max(lanes.n_lines, 5),
        hovermode="closest",
        # Above, because below a low picture it would lie on the days.
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        xaxis={"type": "date", "title": {"text": "Time"}},
        yaxis={
            "title": {"text": "Action"},
            "tickmode": "array",
            "tickvals": lanes.middles,
            "ticktext": lanes.names,
            "range": [lanes.n_lines + 0.4, -0.8],
            "showgrid": False,
            "zeroline": False,
        },
    )
    return [
        Chart(
            "timeline",
            f"Instants from request to completion, one row per action{of}",
            chart_json(figure),
            ("", "Action", "State", "Requested", "Inflight", "Completed", "Took"),
            tuple(_line_of_table(one) for one in reversed(rows)),
        )
    ]


def slices(sums: SliceSums) -> list[Chart]:
    """Draw how big base files are, and how much of what a reader merges lies in logs."""
    if not sums.n_groups:
        return []
    drawn = []
    if sums.n_bases:
        drawn.append(
            bar_chart(
                "base-sizes",
                title="Base files by size",
                labels=[bucket.name for bucket in BUCKETS],
                series={"base files": list(sums.sizes)},
                axes=Axes("Size of a file", "Base files"),
            )
        )
    if sums.n_logs:
        drawn.append(
            bar_chart(
                "log-shares",
                title="File groups by the share of their bytes that is in logs",
                labels=list(SHARES),
                series={"file groups": list(sums.shares)},
                axes=Axes("Share of bytes in logs", "File groups"),
            )
        )
    for chart in drawn:
        chart.figure["layout"]["xaxis"] |= {"type": "category"}
        chart.figure["layout"]["yaxis"] |= {"tickformat": "~s"}
        if max(row[1] for row in chart.rows) <= FEW:
            chart.figure["layout"]["yaxis"]["dtick"] = 1  # no half of a file
    return drawn


def _in_state(rows: Sequence[InstantRow], state: str) -> list[InstantRow]:
    """Return the instants of a state; a stuck one is inflight."""
    return [
        one
        for one in rows
        if one.state == state or (one.state == STUCK and state == InstantState.INFLIGHT)
    ]


def _worked(
    rows: Sequence[InstantRow], now: datetime, *, is_stuck: bool
) -> list[tuple[InstantRow, datetime, datetime]]:
    return [
        (one, one.inflight_at or one.requested_at, one.completed_at or now)
        for one in rows
        if (one.state == STUCK) is is_stuck
        and (one.inflight_at is not None or is_stuck)
        and (one.completed_at is not None or one.is_pending)
    ]


def _waited(
    rows: Sequence[InstantRow], now: datetime
) -> list[tuple[InstantRow, datetime, datetime]]:
    return [
        (one, one.requested_at, one.inflight_at or now)
        for one in rows
        if one.state == InstantState.REQUESTED or one.inflight_at is not None
    ]


def _marks(
    name: str, symbol: str, lanes: Lanes, now: datetime, rows: Sequence[InstantRow]
) -> go.Scatter:
    return go.Scatter(
        name=name,
        mode="markers",
        x=[
            _local(one.completed_at or (now if one.is_pending else one.requested_at))
            for one in rows
        ],
        y=[lanes.heights[one.key] for one in rows],
        text=[_hover(one, now) for one in rows],
        hovertemplate="%{text}<extra></extra>",
        marker={"symbol": symbol, "size": 9},
        showlegend=bool(rows),
    )


def _lines(
    name: str,
    lanes: Lanes,
    spans: Sequence[tuple[InstantRow, datetime, datetime]],
    **line: Any,
) -> go.Scatter:
    """Draw spans of time as one trace; None breaks its line between two of them."""
    x: list[str | None] = []
    y: list[float | None] = []
    for one, begin, end in spans:
        x += [_local(begin), _local(end), None]
        y += [lanes.heights[one.key], lanes.heights[one.key], None]
    # One that is empty keeps its place, for colours go by the place.
    return go.Scatter(
        name=name, mode="lines", x=x, y=y, line=line, hoverinfo="skip", showlegend=bool(spans)
    )


def _hover(one: InstantRow, now: datetime) -> str:
    since = span_words((one.completed_at or now) - one.requested_at)
    how = f"took {since}" if one.completed_at else f"{one.state} for {since}"
    return f"{one.action} {one.instant}: {how}"


def _line_of_table(one: InstantRow) -> tuple[str, ...]:
    times = (one.requested_at, one.inflight_at, one.completed_at)
    took = "—" if one.took is None else f"{one.took:,.0f} s"
    shown = ("—" if at is None else _local(at) for at in times)
    return (one.instant, one.action, one.state, *shown, took)


def _local(at: datetime) -> str:
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M:%S}"
