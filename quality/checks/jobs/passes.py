"""Measures the metrics of one pass, and of one grouping, over all windows of a table."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from portal.spark.java_errors import JAVA_ERRORS
from quality.checks.domain.metrics import Metric, MetricKind
from quality.checks.domain.plan import GroupPass
from quality.checks.domain.states import State
from quality.checks.jobs.aggregates import Aggregates, Parts, column_of, state_of
from quality.checks.jobs.budget import Budget
from quality.checks.jobs.errors import Unmeasured, unmeasured

WINDOW = "lw_window"
Answers = dict[str, dict[str, State | Unmeasured]]
"""By metric key, by window; a window without rows has none."""
ROWS = Metric(kind=MetricKind.ROW_COUNT)
"""Counted in every pass, whether a rule asks for it or not."""


def one_pass(
    frame: DataFrame, window: Column | str, metrics: Sequence[Metric], budget: Budget
) -> tuple[Answers, dict[str, int]]:
    """Measure metrics in one aggregate; returns their states, and the rows by window.

    `window` is a row's window, or that of all rows where there is one.

    A metric that cannot be measured has that as its answer. Where the pass fails as it runs, its
    metrics are measured in halves, until those are found that fail.

    Raises:
        Unmeasured: Not even rows can be counted.
    """
    pass_ = Aggregates(frame)
    parts: dict[str, Parts] = {}
    answers: Answers = {}
    counted = pass_.add(ROWS)
    for one in metrics:
        try:
            parts[one.key] = pass_.add(one)
        except Unmeasured as error:
            answers[one.key] = {"": error}
    wanted = [one for one in metrics if one.key in parts]
    try:
        rows = budget.run(partial(_collect, frame, window, list(pass_.columns.values())))
    except JAVA_ERRORS as error:
        if not wanted:
            raise unmeasured(error) from error
        return _in_halves(frame, window, wanted, budget, answers, unmeasured(error))
    for one in wanted:
        answers[one.key] = {key: _state(one, parts[one.key], row) for key, row in rows.items()}
    return answers, {key: int(row[counted.names["n"]]) for key, row in rows.items()}


def _in_halves(
    frame: DataFrame,
    window: Column | str,
    metrics: Sequence[Metric],
    budget: Budget,
    answers: Answers,
    failed: Unmeasured,
) -> tuple[Answers, dict[str, int]]:
    if len(metrics) == 1:
        return {**answers, metrics[0].key: {"": failed}}, one_pass(frame, window, (), budget)[1]
    middle = len(metrics) // 2
    counts: dict[str, int] = {}
    for half in (metrics[:middle], metrics[middle:]):
        found, counts = one_pass(frame, window, half, budget)
        answers |= found
    return answers, counts


def grouped_pass(frame: DataFrame, window: Column, group: GroupPass, budget: Budget) -> Answers:
    """Measure what a grouping by columns gives; rows with a NULL among them do not count."""
    try:
        keys = [column_of(frame, one)[0].alias(f"k{n}") for n, one in enumerate(group.columns)]
        rows = frame.where(F.expr(group.where)) if group.where else frame
        named = [f"k{n}" for n in range(len(keys))]
        groups = (
            rows.select(window.alias(WINDOW), *keys)
            .dropna(subset=named)
            .groupBy(WINDOW, *named)
            .agg(F.count(F.lit(1)).alias("n"))
        )
        counts = [
            F.sum("n").alias("n_rows"),
            F.count(F.lit(1)).alias("n_groups"),
            F.count_if(F.col("n") == 1).alias("n_single"),
        ]
        found = budget.run(partial(_collect, groups, F.col(WINDOW), counts))
    except Unmeasured as error:
        return {one.key: {"": error} for one in group.metrics}
    except JAVA_ERRORS as error:
        return {one.key: {"": unmeasured(error)} for one in group.metrics}
    return {
        one.key: {key: _grouped(one.kind, row) for key, row in found.items()}
        for one in group.metrics
    }


def _grouped(kind: MetricKind, row: Mapping[str, Any]) -> State:
    n_rows, n_groups = int(row["n_rows"] or 0), int(row["n_groups"] or 0)
    numbers: dict[MetricKind, Callable[[], float]] = {
        MetricKind.DISTINCT_COUNT: lambda: n_groups,
        MetricKind.DUPLICATE_ROWS: lambda: n_rows - n_groups,
        MetricKind.UNIQUENESS: lambda: int(row["n_single"]) / n_rows,
    }
    if not n_rows:
        return State()
    return State(n=n_rows, n_values=n_groups, number=float(numbers[kind]()))


def _state(metric: Metric, parts: Parts, row: Mapping[str, Any]) -> State | Unmeasured:
    try:
        return state_of(metric, parts, row)
    except Unmeasured as error:
        return error


def _collect(
    frame: DataFrame, window: Column | str, columns: Sequence[Column]
) -> dict[str, Mapping[str, Any]]:
    if isinstance(window, str):
        # Spark takes longer to find a row's group than to count the row.
        return {window: frame.agg(*columns).collect()[0].asDict()}
    found = frame.groupBy(window.alias(WINDOW)).agg(*columns).collect()
    return {row[WINDOW]: row.asDict() for row in found if row[WINDOW] is not None}
