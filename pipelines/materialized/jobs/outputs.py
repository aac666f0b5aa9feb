"""Turns states of groups into the rows of a materialization's table."""

from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pipelines.materialized.domain.aggregates import Measure
from pipelines.materialized.domain.kept_columns import GROUP, ROWS, state
from pipelines.materialized.jobs.columns import Kept, key

_LONG = T.LongType()


def rows_of(kept: Kept, states: DataFrame) -> DataFrame:
    """Return rows of the columns of the SELECT, followed by the states that they are of."""
    of = kept.definition
    keys = {one.name: F.col(key(n)) for n, one in enumerate(of.keys)}
    measures = {one.name: _value(kept, one, states.sparkSession) for one in of.measures}
    named = {**keys, **measures}
    own = [name for name in states.columns if name not in kept.keys and name != GROUP]
    return states.select(GROUP, *(named[name].alias(name) for name in of.names), *own)


def _value(kept: Kept, measure: Measure, spark: SparkSession) -> Column:
    n = measure.argument
    match measure.kind:
        case "count_all":
            return F.col(ROWS)
        case "count":
            return F.col(state("count", n))
        case "sum":
            return _present(n, F.col(state("sum", n)).cast(_sum_of(kept.type_of(n))))
        case "avg":
            return _present(n, _mean(kept, n, spark))
        case "min":
            return F.col(state("low", n))
        case "max":
            return F.col(state("high", n))
        case _:
            return F.col(state("distinct", n))


def _present(n: int, value: Column) -> Column:
    """Return a value that is NULL for a group without values."""
    return F.when(F.col(state("count", n)) > 0, value)


def _sum_of(of: T.DataType) -> T.DataType:
    if isinstance(of, T.DecimalType):
        return T.DecimalType(min(38, of.precision + 10), of.scale)
    return T.DoubleType() if isinstance(of, T.FloatType | T.DoubleType) else _LONG


def _mean(kept: Kept, n: int, spark: SparkSession) -> Column:
    """Return a mean as Spark divides it: of decimals with four digits more, rounded once."""
    of, total, count = kept.type_of(n), F.col(state("sum", n)), F.col(state("count", n))
    if not isinstance(of, T.DecimalType):
        return total.cast("double") / count
    context: Any = spark.sparkContext
    jvm = context._jvm
    types = jvm.org.apache.spark.sql.types
    precision, scale = min(38, of.precision + 4), min(38, of.scale + 4)
    wanted = types.DecimalType(precision, scale)
    is_null_on_overflow = True  # as Spark without ANSI
    expression = jvm.org.apache.spark.sql.catalyst.expressions.DecimalDivideWithOverflowCheck(
        total.cast(_sum_of(of))._jc.expr(),
        count.cast("decimal(20,0)")._jc.expr(),
        wanted,
        None,
        is_null_on_overflow,
    )
    return Column(jvm.org.apache.spark.sql.Column(expression))
