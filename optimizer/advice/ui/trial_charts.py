"""Draws what a trial showed: bytes of each way of filtering before and after, and the interval."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from optimizer.advice.domain.filters import FilterKind
from optimizer.advice.domain.layout_advice import LEAST_SAVED
from optimizer.models import Trial
from portal.ui.charts.figures import Axes, Chart, bar_chart

SHAPES_DRAWN = 12


def told_filters(filters: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Leave out that engines also ask whether a value is null where they ask more of it."""
    more = {column for column, kind in filters if kind != FilterKind.NULL}
    return [one for one in filters if one[1] != FilterKind.NULL or one[0] not in more]


def filters_text(filters: Sequence[Sequence[str]]) -> str:
    """Return the filters of a shape as a label."""
    return ", ".join(f"{column} {kind}" for column, kind in told_filters(filters)) or "no filter"


def trial_charts(trial: Trial) -> list[Chart]:
    """Return the pictures of a trial that came to a verdict, each with its numbers as a table."""
    if not trial.is_judged:
        return []
    shapes = trial.evidence.get("shapes", ())[:SHAPES_DRAWN]
    return [*_planned(shapes), _saved(trial)]


def _planned(shapes: Sequence[Mapping[str, Any]]) -> list[Chart]:
    if not shapes:
        return []
    made = bar_chart(
        "trial-shapes",
        title="Bytes that a scan plans in the sample, before and on the branch",
        labels=[filters_text(one["filters"]) for one in shapes],
        series={
            "before": [one["before"] for one in shapes],
            "on the branch": [one["after"] for one in shapes],
        },
        axes=Axes("Filters", "Bytes a scan", unit="bytes"),
        is_across=True,
    )
    made.figure["layout"]["barmode"] = "group"
    made.figure["layout"]["height"] = 2 * made.figure["layout"]["height"]
    # Two bars are worth a picture, also where there is one way of filtering.
    return [replace(made, is_drawn=True)]


def _saved(trial: Trial) -> Chart:
    """Draw the share that is saved with its interval, beside what is asked."""
    saved, high = 100 * (trial.saved or 0), trial.high
    labels = ("saved by the layout", "asked of a layout")
    made = bar_chart(
        "trial-saved",
        title="Share of the planned bytes that the layout saves, with its 95 % interval",
        labels=labels,
        series={"saved": [round(saved, 2), round(100 * LEAST_SAVED, 2)]},
        axes=Axes("Share", "Saved, %"),
        is_across=True,
    )
    ends: tuple[Any, Any] = (None, None)
    if trial.low is not None and high is not None:
        ends = (round(100 * trial.low, 2), round(100 * high, 2))
        made.figure["data"][0]["error_x"] = {
            "type": "data",
            "symmetric": False,
            "array": [max(0.0, ends[1] - saved), 0],
            "arrayminus": [max(0.0, saved - ends[0]), 0],
        }
    rows = (
        (labels[0], round(saved, 2), *ends),
        (labels[1], round(100 * LEAST_SAVED, 2), None, None),
    )
    return replace(made, head=("Share", "Saved, %", "At least, %", "At most, %"), rows=rows)
