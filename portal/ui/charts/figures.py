"""Charts for the browser under a strict CSP, and for a reader without the picture.

A chart is a Plotly figure as JSON (drawn by `lw.js`) together with the table of the same numbers,
which is in the page always. Colours come from the theme in the browser, never from here.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import plotly.graph_objects as go

Number = int | float | None
# More words than this do not fit into the cells of a heat map.
HEAT_WORDS_AT_MOST = 250
HEAT_HEAD, HEAT_ROW = 70, 24
BAR_HEAD, BAR_ROW = 90, 28
Unit = Literal["", "bytes", "days", "seconds"]


@dataclass(frozen=True)
class Chart:
    """A figure and its data table; `name` is unique on the page, `unit` says how to show cells."""

    name: str
    title: str
    figure: dict[str, Any]
    head: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    unit: Unit = ""

    @property
    def script_id(self) -> str:
        """The id of the JSON element that `lw.js` reads."""
        return f"chart-{self.name}"


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
    unit: Unit = "",
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
    return _chart(name, title=title, figure=figure, labels=labels, series=series, unit=unit)


def line_chart(
    name: str,
    *,
    title: str,
    labels: Sequence[str],
    series: Mapping[str, Sequence[Number]],
    unit: Unit = "",
) -> Chart:
    """Return lines over days or other labels in order."""
    mode = "lines+markers" if len(labels) < 40 else "lines"
    figure = go.Figure(
        [go.Scatter(name=key, x=labels, y=values, mode=mode) for key, values in series.items()]
    )
    if len(labels) == 1:
        # An axis of time around a single day counts in milliseconds.
        figure.update_xaxes(type="category")
    return _chart(name, title=title, figure=figure, labels=labels, series=series, unit=unit)


def heat_chart(
    name: str,
    *,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[Number]],
    between: tuple[float, float],
) -> Chart:
    """Give a heat map, `values` row by row; the worse a value, the nearer it is to the low end."""
    low, high = between
    heat = go.Heatmap(
        x=columns, y=rows, z=values, zmin=low, zmax=high, showscale=False, xgap=1, ygap=1
    )
    heat.texttemplate = "%{z:.0f}" if len(rows) * len(columns) <= HEAT_WORDS_AT_MOST else None
    figure = go.Figure([heat])
    category = {"type": "category", "showgrid": False}
    figure.update_layout(
        height=HEAT_HEAD + HEAT_ROW * len(rows),
        hovermode="closest",
        xaxis=category,
        yaxis={**category, "autorange": "reversed"},
    )
    cells = tuple((row, *line) for row, line in zip(rows, values, strict=True))
    return Chart(name, title, chart_json(figure), ("", *columns), cells)


def _chart(
    name: str,
    *,
    title: str,
    figure: go.Figure,
    labels: Sequence[str],
    series: Mapping[str, Sequence[Number]],
    unit: Unit,
) -> Chart:
    figure.update_layout(showlegend=len(series) > 1)
    rows = tuple(
        (label, *(values[place] for values in series.values()))
        for place, label in enumerate(labels)
    )
    return Chart(name, title, chart_json(figure), ("", *series), rows, unit)
