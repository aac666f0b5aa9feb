"""Measures what needs another table or a query of its own, one window at a time where it must."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from portal.lake.errors import PortalError
from portal.spark.java_errors import JAVA_ERRORS
from quality.checks.domain.messages import Task
from quality.checks.domain.metrics import Metric, MetricKind
from quality.checks.domain.reasons import Reason
from quality.checks.domain.statements import check_query, rendered, tables_of
from quality.checks.domain.states import State
from quality.checks.jobs.aggregates import column_of
from quality.checks.jobs.budget import Budget
from quality.checks.jobs.errors import Unmeasured, unmeasured
from quality.checks.jobs.passes import WINDOW
from quality.checks.jobs.tables import Table, Tables

_VIEW = "lw_checked_rows"
OfWindows = dict[str, State | Unmeasured]


@dataclass(frozen=True)
class Separate:
    """One task's metrics that one pass does not give."""

    spark: SparkSession
    task: Task
    tables: Tables
    table: Table
    frame: DataFrame
    windows: Sequence[str]
    budget: Budget

    def measure(self, metric: Metric) -> OfWindows:
        """Return a metric's states by window; what fails is the answer for all of them."""
        ways: dict[MetricKind, Callable[[Metric], OfWindows]] = {
            MetricKind.REFERENTIAL_RATE: self._referential,
            MetricKind.ROW_COUNT_DIFFERENCE: self._difference,
            MetricKind.CUSTOM_SQL: self._sql,
        }
        try:
            return ways[metric.kind](metric)
        except Unmeasured as error:
            return {"": error}
        except JAVA_ERRORS as error:
            return {"": unmeasured(error)}
        except PortalError as error:
            return {"": Unmeasured(Reason.FAILED, error.message)}

    def without_match(self, metric: Metric) -> DataFrame:
        """Return the rows whose value the other table does not have."""
        values, other = self._pair(metric)
        return values.join(other, values["lw_value"] == other["lw_other"], "left_anti")

    def _pair(self, metric: Metric) -> tuple[DataFrame, DataFrame]:
        column = column_of(self.frame, metric.columns[0])[0]
        rows = self.frame.where(F.expr(metric.where)) if metric.where else self.frame
        values = rows.withColumn("lw_value", column).where(F.col("lw_value").isNotNull())
        other = self._other(metric.other_table).windows(())
        of = column_of(other, metric.other_column)[0]
        return values, other.select(of.alias("lw_other")).distinct()

    def _referential(self, metric: Metric) -> OfWindows:
        values, other = self._pair(metric)
        other = other.withColumn("lw_found", F.lit(1))
        joined = values.join(other, values["lw_value"] == other["lw_other"], "left")
        counts = joined.groupBy(self.table.window_of().alias(WINDOW)).agg(
            F.count(F.lit(1)).alias("n"), F.count("lw_found").alias("n_hits")
        )
        return {
            row[WINDOW]: State(
                n=row["n"], n_values=row["n"], n_hits=row["n_hits"], number=row["n_hits"] / row["n"]
            )
            for row in self.budget.run(counts.collect)
        }

    def _difference(self, metric: Metric) -> OfWindows:
        table = self._other(metric.other_table, self.table.key)
        other = table.windows(self.windows)
        own = self.frame.where(F.expr(metric.where)) if metric.where else self.frame
        mine = self.budget.run(partial(_counts, own, self.table))
        theirs = self.budget.run(partial(_counts, other, table))
        return {
            one: State(n=mine.get(one, 0), number=float(mine.get(one, 0) - theirs.get(one, 0)))
            for one in self.windows
        }

    def _sql(self, metric: Metric) -> OfWindows:
        allowed = {self.task.db, *self.task.databases}
        try:
            check_query(metric.sql, databases=allowed)
        except ValueError as error:
            raise Unmeasured(Reason.REFUSED, str(error)) from error
        views = {}
        for number, name in enumerate(tables_of(metric.sql)):
            views[name] = f"lw_checked_other_{number}"
            self._other(name).windows(()).createOrReplaceTempView(views[name])
        query = rendered(metric.sql, rows=_VIEW, names=views)
        try:
            return {one: self._of_query(query, one) for one in self.windows}
        finally:
            for view in (_VIEW, *views.values()):
                self.spark.catalog.dropTempView(view)

    def _of_query(self, query: str, window: str) -> State | Unmeasured:
        rows = self.frame.where(self.table.window_of() == F.lit(window))
        rows.createOrReplaceTempView(_VIEW)
        try:
            found = self.budget.run(
                lambda: self.spark.sql(query).limit(2).collect(), most=self.task.sql_seconds
            )
        except Unmeasured as error:
            return error
        except JAVA_ERRORS as error:
            return unmeasured(error)
        if len(found) != 1:
            return Unmeasured(Reason.FAILED, "The query does not return exactly one row.")
        return _number(found[0][0])

    def _other(self, name: str, key: str = "") -> Table:
        db, _, table = name.partition(".")
        if db not in {self.task.db, *self.task.databases}:
            raise Unmeasured(Reason.REFUSED, f"The database {db} is not one that it may read.")
        return self.tables.open(db, table, key)


def _number(value: Any) -> State | Unmeasured:
    if value is None:
        return State(n=1)
    try:
        return State(n=1, number=float(value))
    except (TypeError, ValueError):
        # Not the value: whoever sees the result may not see the table that it is from.
        return Unmeasured(Reason.WRONG_TYPE, "The query returns something that is no number.")


def _counts(frame: DataFrame, table: Table) -> dict[str, int]:
    found = frame.groupBy(table.window_of().alias(WINDOW)).agg(F.count(F.lit(1)).alias("n"))
    return {row[WINDOW]: row["n"] for row in found.collect()}
