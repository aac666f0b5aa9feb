"""Measures one table: one pass for what can be in it, then the rest, for all its windows.

With earlier states only rows of newer commits are read for the metrics that can be merged, if those
commits did nothing but add rows; else everything is read, and the result says why.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice

from pyspark.sql import Column, DataFrame, SparkSession

from portal.spark.java_errors import JAVA_ERRORS
from portal.spark.job import JobContext
from quality.checks.domain.messages import (
    Earlier,
    Measured,
    MetricValue,
    Sample,
    Samples,
    Task,
    WindowValues,
)
from quality.checks.domain.metrics import SAMPLED, Metric, MetricKind, schema_differences
from quality.checks.domain.plan import MetricPlan, plan_metrics
from quality.checks.domain.states import State, merge, value_of
from quality.checks.jobs.budget import Budget
from quality.checks.jobs.errors import NotIncremental, Unmeasured
from quality.checks.jobs.passes import ROWS, WINDOW, Answers, grouped_pass, one_pass
from quality.checks.jobs.samples import sample
from quality.checks.jobs.separate import Separate
from quality.checks.jobs.tables import Table, Tables

_MOST_TOUCHED = 100


@dataclass
class Measurement:
    """One task while it is measured."""

    spark: SparkSession
    task: Task
    tables: Tables
    table: Table
    budget: Budget
    windows: list[str]
    now: datetime
    answers: Answers = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)
    rows_read: int = 0
    n_passes: int = 0
    is_incremental: bool = False
    note: str = ""

    @classmethod
    def of(
        cls, spark: SparkSession, job: JobContext, tables: Tables, task: Task
    ) -> tuple[Measured, Samples]:
        """Measure a task.

        Raises:
            Unmeasured: The table is not there, or its rows cannot be counted.
            PortalError: What the metastore says, or that the run was cancelled.
        """
        if task.format == "hudi" and task.location:
            table = tables.at(f"{task.db}.{task.table}", task.location, task.partition_key)
        else:
            table = tables.open(task.db, task.table, task.partition_key)
        budget = Budget(spark, task.budget_seconds, check=job.check_control)
        windows = [one.value for one in task.windows]
        self = cls(spark, task, tables, table, budget, windows, job.now)
        return self._measure()

    def _measure(self) -> tuple[Measured, Samples]:
        metrics = {one.key: one for one in (ROWS, *self.task.metrics)}
        full = {key: list(self.windows) for key in metrics}
        if self.task.earlier is not None:
            full = self._merged(self.task.earlier, metrics)
        for windows in {tuple(one): one for one in full.values() if one}.values():
            wanted = [metrics[key] for key, one in full.items() if one == windows]
            self._full(windows, plan_metrics(wanted))
        found = tuple(self._window(one, metrics) for one in self.windows)
        measured = Measured(
            self.task.id,
            "done",
            self.now,
            windows=found,
            commit=self.table.rows.commit if self.table.rows.is_settled() else "",
            is_incremental=self.is_incremental,
            note=self.note,
            rows_read=self.rows_read,
            n_passes=self.n_passes,
        )
        return measured, Samples(self.task.id, tuple(self._samples(metrics, found)))

    def _full(self, windows: list[str], plan: MetricPlan) -> None:
        """Measure metrics over all rows of some windows."""
        frame, window = self.table.windows(windows), self.table.window_of()
        for one in plan.schema:
            self._of_schema(frame, one)
        if plan.one_pass:
            answers, counts = one_pass(frame, self._window_of(windows), plan.one_pass, self.budget)
            self._add(answers)
            self.rows_read += sum(counts.values())
        for group in plan.grouped:
            self._add(grouped_pass(frame, window, group, self.budget))
        separate = self._separate(frame, windows)
        self._add({one.key: dict(separate.measure(one)) for one in plan.single})
        self.n_passes += plan.n_passes

    def _window_of(self, windows: Sequence[str]) -> Column | str:
        return windows[0] if len(windows) == 1 else self.table.window_of()

    def _add(self, answers: Answers) -> None:
        for key, one in answers.items():
            self.answers.setdefault(key, {}).update(one)

    def _separate(self, frame: DataFrame, windows: Sequence[str]) -> Separate:
        return Separate(self.spark, self.task, self.tables, self.table, frame, windows, self.budget)

    def _merged(self, earlier: Earlier, metrics: Mapping[str, Metric]) -> dict[str, list[str]]:
        """Measure newer rows and merge them; returns what is left: windows by metric key."""
        mergeable = {key: one for key, one in metrics.items() if one.is_mergeable}
        try:
            self._add_touched(self.table.newer(earlier.commit, ()))
            states = earlier.states
            known = [one for one in self.windows if mergeable.keys() <= states.get(one, {}).keys()]
            if not known:
                raise NotIncremental("There are no earlier states of its windows.")
            newer = self.table.newer(earlier.commit, known)
            found, counts = one_pass(
                newer, self._window_of(known), tuple(mergeable.values()), self.budget
            )
        except NotIncremental as error:
            self.note = str(error)
            return {key: list(self.windows) for key in metrics}
        for key, one in mergeable.items():
            self.answers[key] = _with_earlier(one, found[key], states)
        self.is_incremental = True
        self.rows_read += sum(counts.values())
        self.n_passes += 1
        rest = [one for one in self.windows if one not in known]
        return {key: rest if key in mergeable else list(self.windows) for key in metrics}

    def _add_touched(self, newer: DataFrame) -> None:
        if not (self.task.touched and self.task.partition_key):
            return
        values = newer.select(self.table.window_of().alias(WINDOW)).distinct()
        found = self.budget.run(values.limit(_MOST_TOUCHED).collect)
        touched = sorted(row[WINDOW] for row in found if row[WINDOW] is not None)
        self.windows += [one for one in touched if one not in self.windows]

    def _of_schema(self, frame: DataFrame, metric: Metric) -> None:
        columns = {one.name: one.dataType.simpleString() for one in frame.schema}
        found = schema_differences(metric, columns)
        self.details[metric.key] = "; ".join(found)
        state = State(n=len(columns), number=float(len(found)))
        self.answers[metric.key] = dict.fromkeys(self.windows, state)

    def _window(self, window: str, metrics: Mapping[str, Metric]) -> WindowValues:
        values = tuple(self._value(one, window) for one in metrics.values())
        rows = self.answers[ROWS.key].get(window)
        return WindowValues(window, rows.n if isinstance(rows, State) else 0, values)

    def _value(self, metric: Metric, window: str) -> MetricValue:
        answers = self.answers[metric.key]
        found = answers.get(window, answers.get("", State()))
        if isinstance(found, Unmeasured):
            return MetricValue(metric.key, None, found.reason, found.detail)
        ends = {one.value: one.end for one in self.task.windows}
        value = value_of(metric, found, reference=ends.get(window) or self.now)
        return MetricValue(
            metric.key,
            value.value,
            value.reason,
            self.details.get(metric.key, ""),
            found if metric.is_mergeable else None,
        )

    def _samples(
        self, metrics: Mapping[str, Metric], found: Sequence[WindowValues]
    ) -> Iterable[Sample]:
        """Return rows of the asked metrics that any row speaks against, of so many at most."""
        asked = islice(self._sampled(metrics, found), self.task.most_sampled)
        return chain.from_iterable(self._sample(metric, window) for metric, window in asked)

    def _sampled(
        self, metrics: Mapping[str, Metric], found: Sequence[WindowValues]
    ) -> Iterable[tuple[Metric, str]]:
        for key in self.task.sample:
            metric = metrics.get(key)
            if metric is None or metric.kind not in SAMPLED:
                continue
            for window in found:
                if window.n_rows and self._has_hits(metric, window):
                    yield metric, window.window

    def _has_hits(self, metric: Metric, window: WindowValues) -> bool:
        value = next((one.value for one in window.values if one.key == metric.key), None)
        if value is None:
            return False
        is_good_share = metric.kind not in {
            MetricKind.NULL_RATE, MetricKind.NULL_COUNT, MetricKind.DUPLICATE_ROWS,
        }  # fmt: skip
        return value < 1 if is_good_share else value > 0

    def _sample(self, metric: Metric, window: str) -> Sequence[Sample]:
        rows = self.table.windows([window])
        of = self._separate(rows, [window])
        try:
            return [
                sample(
                    rows, metric, window=window, most=self.task.most_samples,
                    budget=self.budget, unmatched=of.without_match,
                )
            ]  # fmt: skip
        except (Unmeasured, *JAVA_ERRORS) as error:
            self.details[metric.key] = f"No rows were sampled: {error}"
            return []


def _with_earlier(
    metric: Metric,
    found: Mapping[str, State | Unmeasured],
    earlier: Mapping[str, Mapping[str, State]],
) -> dict[str, State | Unmeasured]:
    failed = found.get("")
    if isinstance(failed, Unmeasured):
        return {"": failed}
    merged: dict[str, State | Unmeasured] = {}
    for window, states in earlier.items():
        new, old = found.get(window, State()), states.get(metric.key)
        if old is not None:
            merged[window] = new if isinstance(new, Unmeasured) else merge(metric, old, new)
    return merged
