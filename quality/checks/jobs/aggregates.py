"""Turns metrics into the aggregates of one pass, and the pass's answer into states.

Equal aggregates stand in the pass once, however many metrics need them. Sums are exact: of whole
numbers as two halves that cannot overflow, of decimals as Spark adds them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from pyspark import SparkContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from portal.spark.java_errors import JAVA_ERRORS
from quality.checks.domain.metrics import Metric, MetricKind
from quality.checks.domain.reasons import Reason
from quality.checks.domain.states import State
from quality.checks.jobs.errors import Unmeasured, unmeasured

_EXACT = Context(prec=80)
_HALF = 32
_DIGITS_OF_LONG = 18
_LARGEST = 2**63 - 1
_WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
_FLOATING = (T.FloatType, T.DoubleType)
_NUMBERS = (*_WHOLE, *_FLOATING, T.DecimalType)
_TIMES = (T.DateType, T.TimestampType, T.TimestampNTZType)
_K = MetricKind
_ACCURACY = 10_000
"""Of quantiles: the rank is right to one in so many."""
_DISTINCT_ERROR = 0.02


@dataclass(frozen=True, slots=True)
class Parts:
    """Which aggregate of a pass is which field of a metric's state."""

    names: Mapping[str, str]
    scale: int = 0
    """Numbers are whole, counted in units of ten to the power of minus this."""


@dataclass
class Aggregates:
    """The distinct aggregates of one pass over a frame."""

    frame: DataFrame
    columns: dict[str, Column] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    def add(self, metric: Metric) -> Parts:
        """Add what a metric needs.

        Raises:
            Unmeasured: A column is not there or of the wrong type, or the filter cannot be read.
        """
        rows = self._filter(metric.where)
        wanted, scale = {}, 0
        if metric.columns:
            column, kind = self._column(metric)
            wanted, scale = _wanted(metric, (column, kind)), _scale(metric, kind)
        named = {"n": F.count_if(rows) if rows is not None else F.count(F.lit(1))}
        for part, (function, value) in wanted.items():
            named[part] = function(value if rows is None else F.when(rows, value))
        return Parts({part: self._named(one) for part, one in named.items()}, scale)

    def _named(self, column: Column) -> str:
        text = str(column._jc.toString())
        name = self._names.setdefault(text, f"a{len(self._names)}")
        self.columns.setdefault(name, column.alias(name))
        return name

    def _filter(self, where: str) -> Column | None:
        if not where:
            return None
        try:
            condition = F.expr(where)
            self.frame.where(condition)  # analyzed here, so that it fails for this metric alone
        except JAVA_ERRORS as error:
            raise unmeasured(error) from error
        return condition

    def _column(self, metric: Metric) -> tuple[Column, T.DataType]:
        name = metric.columns[0]
        return column_of(self.frame, name)


def column_of(frame: DataFrame, name: str) -> tuple[Column, T.DataType]:
    """Return a column by its name with its type; `a.b` is a field of a struct.

    Raises:
        Unmeasured: It is not there.
    """
    column = F.col(".".join(f"`{one}`" for one in name.split(".")))
    if name in frame.columns:
        return column, frame.schema[name].dataType
    try:
        return column, frame.select(column).schema[0].dataType
    except JAVA_ERRORS as error:
        raise Unmeasured(Reason.COLUMN_GONE, f"There is no column {name}.") from error


def _wanted(metric: Metric, of: tuple[Column, T.DataType]) -> dict[str, Any]:
    """Return aggregate and value by field of the state."""
    column, kind = of
    values = {"n_values": (F.count, column)}
    match metric.kind:
        case _K.NULL_RATE | _K.NULL_COUNT:
            return values
        case _K.REGEX_RATE | _K.RANGE_RATE | _K.IN_SET_RATE:
            return {**values, "n_hits": (F.count_if, hit(metric, column, kind))}
        case _K.FRESHNESS:
            return {**values, "high": (F.max, _instant(metric, column, kind))}
        case _K.MIN_LENGTH | _K.MAX_LENGTH:
            length = F.length(column.cast("string"))
            which = (F.min, length) if metric.kind is _K.MIN_LENGTH else (F.max, length)
            return {**values, "low" if metric.kind is _K.MIN_LENGTH else "high": which}
        case _K.APPROX_DISTINCT_COUNT:
            return {**values, "number": (_approx_distinct, column)}
        case _:
            return {**values, **_of_numbers(metric, column, kind)}


def _of_numbers(metric: Metric, column: Column, kind: T.DataType) -> dict[str, Any]:
    if metric.kind in {_K.MIN, _K.MAX} and isinstance(kind, _TIMES):
        column, kind = _micros(column), T.LongType()
        part = "low" if metric.kind is _K.MIN else "high"
        return {f"{part}_micros": (F.min if metric.kind is _K.MIN else F.max, column)}
    if not isinstance(kind, _NUMBERS):
        raise Unmeasured(Reason.WRONG_TYPE, f"{metric.columns[0]} is {kind.simpleString()}.")
    found: dict[str, Any] = {}
    if _is_counted(kind) and metric.kind is not _K.QUANTILE:
        column, kind = _unscaled(column), T.LongType()
    if isinstance(kind, _FLOATING):
        bad = _is_bad(column)
        found["n_bad"] = (F.count_if, bad)
        column = F.when(~bad, column.cast("double"))
    match metric.kind:
        case _K.MIN:
            found["low"] = (F.min, column)
        case _K.MAX:
            found["high"] = (F.max, column)
        case _K.QUANTILE:
            found["number"] = (_quantile(metric.q or 0.0), column.cast("double"))
        case _:
            found |= _sums(column, kind)
            if metric.kind is _K.STDDEV:
                found["variance"] = (F.var_pop, column.cast("double"))
    return found


def _is_counted(kind: T.DataType) -> bool:
    """Return whether decimals are counted as whole numbers of their last digit, which is faster."""
    return isinstance(kind, T.DecimalType) and kind.precision <= _DIGITS_OF_LONG


def _scale(metric: Metric, kind: T.DataType) -> int:
    """Return in which digit the numbers of a metric's aggregates are counted."""
    is_number = metric.kind in {_K.MIN, _K.MAX, _K.SUM, _K.MEAN, _K.STDDEV}
    return kind.scale if is_number and isinstance(kind, T.DecimalType) and _is_counted(kind) else 0


def _unscaled(column: Column) -> Column:
    """Return a decimal's digits as a whole number; Spark's own sums of short decimals do so too."""
    context: Any = SparkContext._active_spark_context
    sql = context._jvm.org.apache.spark.sql
    digits = sql.catalyst.expressions.UnscaledValue(column._jc.expr())
    return Column(sql.Column(digits))


def _sums(column: Column, kind: T.DataType) -> dict[str, Any]:
    if not isinstance(kind, T.LongType):
        return {"total": (F.sum, column)}
    return {
        "total_high": (F.sum, F.shiftright(column, _HALF)),
        "total_low": (F.sum, column.bitwiseAND(F.lit((1 << _HALF) - 1))),
    }


def hit(metric: Metric, column: Column, kind: T.DataType) -> Column:
    """Return whether a value is what the metric counts; NULL for NULL.

    Raises:
        Unmeasured: `wrong_type`.
    """
    if metric.kind is _K.REGEX_RATE:
        return column.cast("string").rlike(metric.pattern)
    if metric.kind is _K.IN_SET_RATE:
        return column.isin([F.lit(one).cast(kind) for one in metric.values])
    if not isinstance(kind, _NUMBERS):
        raise Unmeasured(Reason.WRONG_TYPE, f"{metric.columns[0]} is {kind.simpleString()}.")
    low: Any = None if metric.low is None else Decimal(repr(metric.low))
    high: Any = None if metric.high is None else Decimal(repr(metric.high))
    if _is_counted(kind) or isinstance(kind, _WHOLE):
        # Compared as whole numbers, decimals by their last digit: with the bounds in the range.
        scale = kind.scale if isinstance(kind, T.DecimalType) else 0
        column = _unscaled(column) if isinstance(kind, T.DecimalType) else column
        low = None if low is None else _whole(low, scale, ROUND_CEILING)
        high = None if high is None else _whole(high, scale, ROUND_FLOOR)
    found = ~F.isnan(column) if isinstance(kind, _FLOATING) else column.isNotNull()
    if low is not None:
        found &= column >= F.lit(low)
    if high is not None:
        found &= column <= F.lit(high)
    return F.when(column.isNotNull(), found)


def _whole(bound: Decimal, scale: int, rounding: str) -> int:
    """Return a bound as a whole number that a long can hold."""
    whole = int(_EXACT.scaleb(bound, scale).to_integral_value(rounding))
    return max(-_LARGEST, min(whole, _LARGEST))


def _is_bad(column: Column) -> Column:
    return F.isnan(column) | (F.abs(column) == F.lit(float("inf")))


def _quantile(q: float) -> Callable[[Column], Column]:
    return lambda column: F.percentile_approx(column, q, _ACCURACY)


def _approx_distinct(column: Column) -> Column:
    return F.approx_count_distinct(column, _DISTINCT_ERROR)


def _instant(metric: Metric, column: Column, kind: T.DataType) -> Column:
    if isinstance(kind, T.StringType):
        column = F.try_to_timestamp(column)
    elif not isinstance(kind, _TIMES):
        raise Unmeasured(Reason.WRONG_TYPE, f"{metric.columns[0]} is {kind.simpleString()}.")
    return _micros(column)


def _micros(column: Column) -> Column:
    return F.unix_micros(column.cast("timestamp"))


def state_of(metric: Metric, parts: Parts, row: Mapping[str, Any]) -> State:
    """Return the state of a metric from a row of the pass.

    Raises:
        Unmeasured: A sum does not fit into Spark's decimals.
    """
    got = {part: row[name] for part, name in parts.names.items()}
    unit = Decimal(1).scaleb(-parts.scale)
    n, n_values = int(got["n"] or 0), int(got.get("n_values") or 0)
    is_null = metric.kind in {_K.NULL_RATE, _K.NULL_COUNT}
    total = _total(got, unit)
    n_bad = int(got.get("n_bad") or 0)
    if {"total", "total_high"} & set(got) and n_values > n_bad and not total:
        raise Unmeasured(Reason.FAILED, "The sum has more digits than a decimal can hold.")
    # Values that are no numbers take part in nothing; the value says that they are there.
    n_good = n_values - n_bad
    variance, number = got.get("variance"), got.get("number")
    return State(
        n=n,
        n_values=n_good if "n_bad" in got else n_values,
        n_hits=n - n_values if is_null else int(got.get("n_hits") or 0),
        n_bad=n_bad,
        total=total,
        deviations=float(variance) * float(unit) ** 2 * n_good if variance is not None else 0.0,
        low=_extreme(got.get("low"), got.get("low_micros"), unit),
        high=_extreme(
            None if metric.kind is _K.FRESHNESS else got.get("high"),
            got.get("high") if metric.kind is _K.FRESHNESS else got.get("high_micros"),
            unit,
        ),
        number=None if number is None else float(number),
    )


def _total(got: Mapping[str, Any], unit: Decimal) -> str:
    if got.get("total_high") is not None:
        whole = (int(got["total_high"]) << _HALF) + int(got["total_low"])
        return str(_EXACT.multiply(Decimal(whole), unit))
    return "" if got.get("total") is None else _text(got["total"])


def _extreme(value: Any, micros: Any, unit: Decimal) -> str:
    if micros is not None:
        return str(Decimal(int(micros)) / 1_000_000)
    if value is None:
        return ""
    return str(value * unit) if isinstance(value, int) else _text(value)


def _text(value: Any) -> str:
    if isinstance(value, datetime | date):
        raise TypeError(value)
    return repr(value) if isinstance(value, float) else str(value)
