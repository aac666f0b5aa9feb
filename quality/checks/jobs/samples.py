"""Collects some rows that speak against a metric."""

from collections.abc import Callable
from functools import partial
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from quality.checks.domain.messages import Sample
from quality.checks.domain.metrics import GROUPED, Metric, MetricKind
from quality.checks.jobs.aggregates import column_of, hit
from quality.checks.jobs.budget import Budget

MOST_COLUMNS = 50
LONGEST_TEXT = 200
_N, _K = "lw_n", "lw_k"


def sample(
    frame: DataFrame,
    metric: Metric,
    *,
    window: str,
    most: int,
    budget: Budget,
    unmatched: Callable[[Metric], DataFrame],
) -> Sample:
    """Return rows of one window's frame that speak against a metric, as texts.

    Raises:
        Unmeasured: It takes too long.
    """
    columns = _columns(frame, metric)
    rows = _against(frame, metric, unmatched).select([f"`{one}`" for one in columns]).limit(most)
    texts = rows.select([F.col(f"`{one}`").cast("string").alias(one) for one in columns])
    found = budget.run(partial(_collected, texts))
    return Sample(window, metric.key, tuple(columns), found)


def _columns(frame: DataFrame, metric: Metric) -> list[str]:
    """Return the columns that are shown: those that were measured first, so that none is left out.

    A field of a struct is in its column.
    """
    measured = {one.partition(".")[0].lower() for one in metric.columns}
    ordered = sorted(frame.columns, key=lambda one: one.lower() not in measured)
    return ordered[:MOST_COLUMNS]


def _against(
    frame: DataFrame, metric: Metric, unmatched: Callable[[Metric], DataFrame]
) -> DataFrame:
    if metric.kind is MetricKind.REFERENTIAL_RATE:
        return unmatched(metric)
    rows = frame.where(F.expr(metric.where)) if metric.where else frame
    if metric.kind in GROUPED:
        return _duplicates(rows, metric)
    column, kind = column_of(rows, metric.columns[0])
    if metric.kind in {MetricKind.NULL_RATE, MetricKind.NULL_COUNT}:
        return rows.where(column.isNull())
    return rows.where(~hit(metric, column, kind))


def _duplicates(rows: DataFrame, metric: Metric) -> DataFrame:
    keys = [column_of(rows, one)[0] for one in metric.columns]
    with_keys = rows.withColumns({f"{_K}{n}": one for n, one in enumerate(keys)})
    names = [f"{_K}{n}" for n in range(len(keys))]
    twice = with_keys.dropna(subset=names).groupBy(*names).count().where("count > 1").drop("count")
    return with_keys.join(twice, names).orderBy(*names)


def _collected(texts: DataFrame) -> tuple[tuple[str | None, ...], ...]:
    return tuple(tuple(map(_cut, row)) for row in texts.collect())


def _cut(text: Any) -> str | None:
    return None if text is None else str(text)[:LONGEST_TEXT]
