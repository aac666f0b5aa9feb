"""Charts for the browser under a strict CSP, and for a reader without the picture.

A chart is a Plotly figure as JSON (drawn by `lw.js`) together with the table of the same numbers,
which is in the page always. Colours come from the theme in the browser, never from here.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, Protocol

import plotly.graph_objects as go

if TYPE_CHECKING:
    from portal.ui.charts.treemap import Tree

Number = int | float | None
# More words than this do not fit into the cells of a heat map.
HEAT_WORDS_AT_MOST = 250
HEAT_HEAD, HEAT_ROW = 90, 24
BAR_HEAD, BAR_ROW = 90, 28
Unit = Literal["", "bytes", "days", "seconds"]


@dataclass(frozen=True, slots=True)
class Axes:
    """What the axes of a figure show, in words; `unit` says how their values are written."""

    labels: str
    """What the labels are: days, front ends, sizes."""
    values: str
    """What is counted or measured, with its unit."""
    unit: Unit = ""


@dataclass(frozen=True)
class Chart:
    """A figure and its data table; `name` is unique on the page, `unit` says how to show cells."""

    name: str
    title: str
    figure: dict[str, Any]
    head: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    unit: Unit = ""
    is_drawn: bool = True
    """Whether there is something to draw: a single point is shown as numbers."""
    tree: "Tree | None" = None
    """A picture that is drawn here and not in the browser."""

    @property
    def numbers(self) -> tuple[tuple[str, Any], ...]:
        """The numbers of a single point, with what each is."""
        return tuple(zip(self.head[1:], self.rows[0][1:], strict=True)) if self.rows else ()

    @property
    def point(self) -> str:
        """What the numbers of a single point are of: its day, or another label."""
        return str(self.rows[0][0]) if self.rows else ""

    @property
    def script_id(self) -> str:
        """The id of the JSON element that `lw.js` reads."""
        return f"chart-{self.name}"


class HeatGrid(Protocol):
    """The cells of a heat map: `values` row by row."""

    @property
    def rows(self) -> Sequence[str]:
        """The labels of the rows."""
        ...

    @property
    def columns(self) -> Sequence[str]:
        """The labels of the columns."""
        ...

    @property
    def values(self) -> Sequence[Sequence[Number]]:
        """The value of each cell; None where there is none."""
        ...


def chart_json(figure: go.Figure) -> dict[str, Any]:
    """Return the figure as plain JSON values, without Plotly's own template of colours."""
    figure.update_layout(template="none")
    plain: dict[str, Any] = json.loads(figure.to_json())
    plain.get("layout", {}).pop("template", None)
    return plain


def bar_chart(
    name: str,
    *,
    title: str,
    labels: Sequence[str],
    series: Mapping[str, Sequence[Number]],
    axes: Axes,
    is_across: bool = False,
) -> Chart:
    """Return bars, one group a label, stacked when there are several series.

    Bars that lie across leave room for long labels; the first label is on top.
    """
    if is_across:
        bars = [
            go.Bar(name=key, x=values, y=labels, orientation="h") for key, values in series.items()
        ]
        figure = go.Figure(bars)
        figure.update_layout(
            height=BAR_HEAD + BAR_ROW * len(labels),
            hovermode="closest",
            yaxis={"type": "category", "autorange": "reversed"},
        )
    else:
        figure = go.Figure([go.Bar(name=key, x=labels, y=values) for key, values in series.items()])
    figure.update_layout(barmode="stack" if len(series) > 1 else "group")
    if is_across:
        figure.update_layout(
            xaxis={"title": {"text": axes.values}}, yaxis={"title": {"text": axes.labels}}
        )
    return _chart(name, title=title, figure=figure, labels=labels, series=series, axes=axes)


def line_chart(
    name: str,
    *,
    title: str,
    labels: Sequence[str],
    series: Mapping[str, Sequence[Number]],
    axes: Axes,
    is_stacked: bool = False,
) -> Chart:
    """Return lines over days or other labels in order, or areas one upon the other."""
    mode = "lines+markers" if len(labels) < 40 and not is_stacked else "lines"
    group = "all" if is_stacked else None
    figure = go.Figure(
        [
            go.Scatter(name=key, x=labels, y=values, mode=mode, stackgroup=group)
            for key, values in series.items()
        ]
    )
    return _chart(name, title=title, figure=figure, labels=labels, series=series, axes=axes)


def month_chart(
    name: str,
    *,
    title: str,
    months: Mapping[str, Sequence[tuple[date, Number]]],
    summed: str,
    axes: Axes,
) -> Chart | None:
    """Return stacked bars by month, and the running sum of the series `summed` as a line.

    Each month is a place on the axis, however many lie between two; without any there is no chart.
    """
    labels, series = _by_month(months)
    if not labels:
        return None
    so_far = f"{summed} so far"
    running = list(accumulate(value or 0 for value in series[summed]))
    bars = [go.Bar(name=key, x=labels, y=values) for key, values in series.items()]
    line = go.Scatter(name=so_far, x=labels, y=running, mode="lines+markers")
    figure = go.Figure([*bars, line])
    figure.update_layout(barmode="stack", xaxis={"type": "category"})
    every: dict[str, Sequence[Number]] = {**series, so_far: running}
    return _chart(name, title=title, figure=figure, labels=labels, series=every, axes=axes)


def _by_month(
    months: Mapping[str, Sequence[tuple[date, Number]]],
) -> tuple[list[str], dict[str, list[Number]]]:
    every = sorted({month for points in months.values() for month, _ in points})
    known = {key: dict(points) for key, points in months.items()}
    series = {key: [values.get(month, 0) for month in every] for key, values in known.items()}
    return [f"{month:%Y-%m}" for month in every], series


def with_marks(chart: Chart, marks: Mapping[str, str], *, head: str) -> Chart:
    """Return a chart of lines with a mark where something was done, and a column that says what.

    `marks` names labels of the chart, or instants between them; without any it stays as it is.
    """
    if not marks or not chart.is_drawn:
        return chart
    figure = go.Figure(chart.figure)
    for at, words in marks.items():
        figure.add_shape(
            type="line", x0=at, x1=at, y0=0, y1=1, yref="paper", line={"dash": "dot", "width": 1}
        )
        figure.add_annotation(
            x=at, y=1, yref="paper", yanchor="bottom", text="▾", hovertext=words, showarrow=False
        )
    at_once = sorted({*(row[0] for row in chart.rows), *marks})
    known = {row[0]: row for row in chart.rows}
    nothing = (None,) * (len(chart.head) - 1)
    rows = tuple((*known.get(at, (at, *nothing)), marks.get(at, "")) for at in at_once)
    return replace(chart, figure=chart_json(figure), head=(*chart.head, head), rows=rows)


def heat_chart(
    name: str,
    *,
    title: str,
    grid: HeatGrid,
    axes: Axes,
    between: tuple[float, float],
    words: Sequence[Sequence[str]] | None = None,
) -> Chart:
    """Give a heat map; the worse a value, the nearer it is to the low end.

    Of `axes` the labels are those of the columns, and the values those of the rows. `words` stand
    in the cells and in the table in place of the values.
    """
    low, high = between
    rows, columns, values = grid.rows, grid.columns, grid.values
    heat = go.Heatmap(
        x=columns, y=rows, z=values, zmin=low, zmax=high, showscale=False, xgap=1, ygap=1
    )
    shown = "%{z:.0f}" if words is None else "%{text}"
    heat.texttemplate = shown if len(rows) * len(columns) <= HEAT_WORDS_AT_MOST else None
    if words is not None:
        heat.text, heat.hovertemplate = words, "%{y}<br>%{x}: %{text}<extra></extra>"
    figure = go.Figure([heat])
    category = {"type": "category", "showgrid": False}
    figure.update_layout(
        height=HEAT_HEAD + HEAT_ROW * len(rows),
        hovermode="closest",
        xaxis={**category, "title": {"text": axes.labels}},
        yaxis={**category, "title": {"text": axes.values}, "autorange": "reversed"},
    )
    cells = tuple(
        (row, *line) for row, line in zip(rows, values if words is None else words, strict=True)
    )
    return Chart(name, title, chart_json(figure), ("", *columns), cells)


def _chart(
    name: str,
    *,
    title: str,
    figure: go.Figure,
    labels: Sequence[str],
    series: Mapping[str, Sequence[Number]],
    axes: Axes,
) -> Chart:
    figure.update_layout(showlegend=len(series) > 1)
    if not figure.layout.xaxis.title.text:
        figure.update_layout(
            xaxis={"title": {"text": axes.labels}}, yaxis={"title": {"text": axes.values}}
        )
    rows = tuple(
        (label, *(values[place] for values in series.values()))
        for place, label in enumerate(labels)
    )
    head = (axes.labels, *series)
    plain = chart_json(figure)
    return Chart(name, title, plain, head, rows, axes.unit, is_drawn=len(labels) > 1)
