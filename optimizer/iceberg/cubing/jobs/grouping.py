"""Groups rows into a cube's states, and merges states of groups that are equal."""

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from optimizer.cubes.domain.definition import Definition, StateColumn
from optimizer.cubes.domain.types import Function, is_float, is_whole
from portal.lake.names import quoted

UNIT, STAR, HAS, ROWS = "unit", "star", "has", "rows"
MISSING = "_lakewarden_missing"
_MATCHED = "_lakewarden_matched"
_LOW, _HIGH, _MINUS = "_lakewarden_low_", "_lakewarden_high_", "_lakewarden_minus_"
_SKETCH_BITS = 12


def joined(
    definition: Definition, fact: DataFrame, dimensions: Mapping[str, DataFrame]
) -> DataFrame:
    """Return the fact rows with their partners; `MISSING` is 1 where one has none."""
    rows = fact.alias("fact")
    matched: list[Column] = []
    for one in definition.joins:
        marker = f"{_MATCHED}_{one.alias}"
        other = dimensions[one.alias].withColumn(marker, F.lit(1)).alias(one.alias)
        on = [F.expr(f"{_quoted(left)} = {one.alias}.{quoted(right)}") for left, right in one.on]
        condition = on[0]
        for more in on[1:]:
            condition = condition & more
        rows = rows.join(F.broadcast(other), condition, "left")
        matched.append(F.col(f"{one.alias}.{marker}").isNotNull())
    whole = F.lit(1) == 1
    for found in matched:
        whole = whole & found
    return rows.withColumn(MISSING, F.when(whole, 0).otherwise(1))


def grouped(definition: Definition, rows: DataFrame) -> DataFrame:
    """Return the cube's base rows of joined rows that have a `unit`, with what bounds need."""
    keys = [F.expr(one.expression).alias(one.name) for one in definition.dimensions]
    states = [_state(one).alias(one.name) for one in definition.states()]
    return rows.groupBy(F.col(UNIT), *keys).agg(
        F.count(F.lit(1)).alias(ROWS),
        F.sum(MISSING).alias(MISSING),
        *states,
        *_bound_columns(definition),
    )


def merged(definition: Definition, rows: DataFrame, *masks: str) -> DataFrame:
    """Return rows of the cube merged by unit, the masks named, and the dimensions."""
    keys = [UNIT, *masks, *(one.name for one in definition.dimensions)]
    states = [_merge(one).alias(one.name) for one in definition.states()]
    return rows.groupBy(*keys).agg(F.sum(ROWS).alias(ROWS), *states)


def bounds_of(definition: Definition) -> list[Column]:
    """Return the aggregates over base rows that tell the bounds of each measure."""
    found = []
    for one in definition.measures:
        if _is_bounded(one.type):
            found.append(F.min(_LOW + one.name).alias(_LOW + one.name))
            found.append(F.max(_HIGH + one.name).alias(_HIGH + one.name))
        if is_float(one.type):
            found.append(F.max(_MINUS + one.name).alias(_MINUS + one.name))
    return found


def bound(row: Mapping[str, object], name: str) -> tuple[int | None, bool]:
    """Return greatest absolute value and negative zero of a measure from such aggregates."""
    ends = [row.get(_LOW + name), row.get(_HIGH + name)]
    numbers = [abs(one) for one in ends if isinstance(one, int)]
    return (max(numbers) if numbers else None), bool(row.get(_MINUS + name))


def cube_columns(definition: Definition) -> Sequence[str]:
    """Return the columns of the cube's table, in order."""
    return (
        UNIT,
        STAR,
        HAS,
        *(one.name for one in definition.dimensions),
        ROWS,
        *(one.name for one in definition.states()),
    )


def _bound_columns(definition: Definition) -> list[Column]:
    found = []
    for one in definition.measures:
        value = F.expr(one.expression)
        if _is_bounded(one.type):
            found.append(F.min(value).cast("bigint").alias(_LOW + one.name))
            found.append(F.max(value).cast("bigint").alias(_HIGH + one.name))
        if is_float(one.type):
            # -0 equals 0, but its angle does not.
            minus = (value == 0) & (F.atan2(value.cast("double"), F.lit(-1.0)) < 0)
            found.append(F.max(minus).alias(_MINUS + one.name))
    return found


def _is_bounded(of: str) -> bool:
    return is_whole(of)


def _state(state: StateColumn) -> Column:
    value = F.expr(state.measure.expression)
    match Function(state.function):
        case Function.COUNT:
            return F.count(value)
        case Function.SUM:
            return F.sum(value).cast(state.type)
        case Function.MIN:
            return F.min(value)
        case Function.MAX:
            return F.max(value)
        case Function.DISTINCT:
            return F.array_sort(F.collect_set(value))
        case Function.SKETCH:
            return F.hll_sketch_agg(value, F.lit(_SKETCH_BITS))


def _merge(state: StateColumn) -> Column:
    value = F.col(state.name)
    match Function(state.function):
        case Function.COUNT:
            return F.sum(value)
        case Function.SUM:
            return F.sum(value).cast(state.type)
        case Function.MIN:
            return F.min(value)
        case Function.MAX:
            return F.max(value)
        case Function.DISTINCT:
            return F.array_sort(F.array_distinct(F.flatten(F.collect_list(value))))
        case Function.SKETCH:
            return F.hll_union_agg(value)


def _quoted(reference: str) -> str:
    alias, _, name = reference.partition(".")
    return f"{alias}.{quoted(name)}"
