"""A chart of values over time with the bounds that each had to keep, and those that did not."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import plotly.graph_objects as go

from portal.ui.charts.figures import Axes, Chart, chart_json


@dataclass(frozen=True, slots=True)
class BandPoint:
    """One value with its bounds; what is None is not known, or there is no bound at that side."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    is_bad: bool = False
    note: str = ""


def band_chart(name: str, *, title: str, points: Sequence[BandPoint], axes: Axes) -> Chart:
    """Return values as a line in the band of their bounds, with marks on those outside of it.

    `lw.js` gives a trace its colour by its `meta`: band, bound, value or bad.
    """
    bad = [one for one in points if one.is_bad and one.value is not None]
    figure = go.Figure([*_bounds(points), _line("value", points, "value", mode="lines+markers")])
    if bad:
        mark = _line("failed", bad, "bad", mode="markers")
        mark.marker = {"size": 11, "symbol": "x"}
        figure.add_trace(mark)
    labels = [one.label for one in points]
    is_dated = all(_is_day(one) for one in labels)
    order = {} if is_dated else {"type": "category", "categoryarray": labels}
    figure.update_layout(
        showlegend=True,
        xaxis={"title": {"text": axes.labels}, **order},
        yaxis={"title": {"text": axes.values}, "rangemode": "normal"},
    )
    rows = tuple(
        (one.label, *map(_text, (one.value, one.low, one.high)), one.note) for one in points
    )
    head = (axes.labels, "value", "minimum", "maximum", "result")
    return Chart(name, title, chart_json(figure), head, rows, is_drawn=len(points) > 1)


def _bounds(points: Sequence[BandPoint]) -> list[go.Scatter]:
    """Return the bounds: a filled band where there are both everywhere, else a line each."""
    bounded = [one for one in points if one.low is not None or one.high is not None]
    is_band = all(one.low is not None and one.high is not None for one in bounded)
    meta = "band" if is_band else "bound"
    low, high = (
        _line(name, [one for one in bounded if getattr(one, side) is not None], meta, side=side)
        for name, side in (("minimum", "low"), ("maximum", "high"))
    )
    if bounded and is_band:
        high.fill = "tonexty"
    return [one for one in (low, high) if one.x]


def _line(
    name: str, points: Sequence[BandPoint], meta: str, *, side: str = "value", mode: str = "lines"
) -> go.Scatter:
    labels = [one.label for one in points]
    values: list[Any] = [getattr(one, side) for one in points]
    return go.Scatter(name=name, x=labels, y=values, mode=mode, meta=meta)


def _is_day(label: str) -> bool:
    try:
        return date.fromisoformat(label).isoformat() == label
    except ValueError:
        return False


def _text(value: float | None) -> str:
    if value is None:
        return "—"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"
