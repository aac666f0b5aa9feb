"""States of groups: computed from rows, and brought up to date by changes of rows.

A state has what an aggregate of a group can be computed from and changed by: the number of rows and
of values, sums, the least and the greatest value. All columns are in units of the rows themselves,
so that they are exact; sums of floating numbers are as exact as those are.
"""

from collections.abc import Callable, Iterator
from functools import reduce
from operator import ge, le, or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pipelines.commits.jobs.changes import WEIGHT
from pipelines.materialized.domain.kept_columns import GROUP, ROWS, state
from pipelines.materialized.jobs.columns import Kept, argument, with_group

DIRTY = "_lw_dirty"
IMPOSSIBLE = "_lw_impossible"
MORE = "_lw_more"
JUDGED = (DIRTY, IMPOSSIBLE, MORE)
"""Columns of merged states that are not kept."""
_NET = "_lw_net"
_OLD, _IN, _OUT = "_lw_old", "_lw_in", "_lw_out"
_ASKED = (T.StringType, T.DateType, T.IntegerType, T.LongType)
_MOST_VALUES = 100


def of_rows(kept: Kept, rows: DataFrame) -> DataFrame:
    """Return the states of the groups of projected rows, all of which count once."""
    made = [F.count(F.lit(1)).alias(ROWS)]
    made += [F.count(argument(n)).alias(state("count", n)) for n in kept.arguments]
    made += [F.sum(kept.added(n)).cast(kept.sum_type(n)).alias(state("sum", n)) for n in kept.sums]
    made += [F.min(argument(n)).alias(state("low", n)) for n in kept.lows]
    made += [F.max(argument(n)).alias(state("high", n)) for n in kept.highs]
    return with_group(rows.groupBy(*kept.keys).agg(*made), kept.keys)


def of_groups(kept: Kept, rows: DataFrame, groups: DataFrame, *, is_asked: bool) -> DataFrame:
    """Return the projected rows that are in some groups, of which `groups` has the dimensions.

    With `is_asked` the values of a dimension that has few are asked for as well: then just their
    partitions and files are read.
    """
    few = [one for one in kept.keys if isinstance(kept.schema[one].dataType, _ASKED)]
    if few and is_asked:
        found = groups.select(*few).collect()
        for one in few:
            values = {row[one] for row in found}
            if None not in values and len(values) <= _MOST_VALUES:
                rows = rows.where(F.col(one).isin(*values))
    named = groups.select(*(F.col(one).alias(_IN + one) for one in kept.keys))
    same = [F.col(one).eqNullSafe(F.col(_IN + one)) for one in kept.keys]
    return rows.join(F.broadcast(named), same, "left_semi")


def netted(kept: Kept, rows: DataFrame) -> DataFrame:
    """Return signed rows of which equal ones are put together, without those that cancel out."""
    by = [*kept.keys, *(argument(n) for n in kept.arguments)]
    totals = [F.sum(WEIGHT).alias(_NET)]
    for n in kept.sums:
        value = kept.added(n)
        signed = F.when(F.col(WEIGHT) > 0, value).otherwise(-value)
        totals.append(F.sum(signed).alias(state("sum", n)))
    found = rows.groupBy(*by).agg(*totals).where(F.col(_NET) != 0)
    return with_group(found, kept.keys)


def values(rows: DataFrame, n: int) -> DataFrame:
    """Return by how much the number of rows with a value of an argument changed, by group."""
    there = rows.where(F.col(argument(n)).isNotNull())
    return there.groupBy(GROUP, argument(n)).agg(F.sum(_NET).alias(ROWS))


def once(rows: DataFrame) -> DataFrame:
    """Return projected rows as if each were a change."""
    return rows.withColumnRenamed(WEIGHT, _NET)


def n_more(changes: DataFrame) -> int:
    """Return by how many rows netted changes are more than what was there."""
    return int(changes.agg(F.sum(_NET)).collect()[0][0] or 0)


def merged(kept: Kept, changes: DataFrame, old: DataFrame) -> DataFrame:
    """Return the new states of groups that netted changes concern.

    `MORE` is 1 for a group that is new and -1 for one that goes.
    `DIRTY` says that a least or greatest value went and none is known to take its place,
    `IMPOSSIBLE` that more went than there was, or that a sum has too many digits.
    """
    delta = changes.groupBy(GROUP, *kept.keys).agg(*_deltas(kept))
    parts = [ROWS, *_parts(kept)]
    was = old.select(GROUP, *(F.col(name).alias(_OLD + name) for name in parts))
    both = delta.join(was, GROUP, "left")
    both = both.withColumns(dict(_counted(kept)))
    extremes = dict(_extremes(kept))
    dirty = reduce(or_, _dirty(kept), F.expr("false"))
    impossible = reduce(or_, _impossible(kept), F.col(ROWS) < 0)
    both = both.withColumns({DIRTY: (F.col(ROWS) > 0) & dirty, IMPOSSIBLE: impossible, **extremes})
    # What came and went in between has nothing to be deleted.
    was_there, is_there = F.col(_OLD + ROWS).isNotNull(), F.col(ROWS) > 0
    more = (is_there.cast("int") - was_there.cast("int")).alias(MORE)
    there = (F.col(ROWS) != 0) | was_there
    return both.where(there).select(GROUP, *kept.keys, *parts, DIRTY, IMPOSSIBLE, more)


def _dirty(kept: Kept) -> Iterator[Column]:
    for n in kept.lows:
        yield _is_lost("low", n, le)
    for n in kept.highs:
        yield _is_lost("high", n, ge)
    for n in kept.sums:
        if isinstance(kept.sum_type(n), T.DoubleType):
            # From infinity nothing can be taken away.
            total = F.coalesce(F.col(state("sum", n)), F.lit(0.0))
            yield F.isnan(total) | (F.abs(total) == F.lit(float("inf")))


def _impossible(kept: Kept) -> Iterator[Column]:
    for n in kept.arguments:
        yield F.col(state("count", n)) < 0
    for n in kept.sums:
        yield (F.col(state("count", n)) > 0) & F.col(state("sum", n)).isNull()


def _parts(kept: Kept) -> list[str]:
    return [
        *(state("count", n) for n in kept.arguments),
        *(state("sum", n) for n in kept.sums),
        *(state("low", n) for n in kept.lows),
        *(state("high", n) for n in kept.highs),
    ]


def _deltas(kept: Kept) -> Iterator[Column]:
    net = F.col(_NET)
    yield F.sum(net).alias(ROWS)
    for n in kept.arguments:
        is_there = F.when(F.col(argument(n)).isNotNull(), net).otherwise(0)
        yield F.sum(is_there).alias(state("count", n))
    for n in kept.sums:
        name = state("sum", n)
        yield F.sum(name).cast(kept.sum_type(n)).alias(name)
    for kind, numbers, least in (("low", kept.lows, F.min), ("high", kept.highs, F.max)):
        for n in numbers:
            value = F.col(argument(n))
            yield least(F.when(net > 0, value)).alias(_IN + state(kind, n))
            yield least(F.when(net < 0, value)).alias(_OUT + state(kind, n))


def _counted(kept: Kept) -> Iterator[tuple[str, Column]]:
    """Yield the new counts and sums."""
    for name in (ROWS, *(state("count", n) for n in kept.arguments)):
        yield name, F.coalesce(F.col(_OLD + name), F.lit(0)) + F.col(name)
    for n in kept.sums:
        name, of, n_values = state("sum", n), kept.sum_type(n), F.col(state("count", n))
        n_old = F.coalesce(F.col(_OLD + state("count", n)), F.lit(0))
        # A sum that is NULL although there are values had too many digits.
        none = F.lit(0).cast(of)
        old = F.coalesce(F.col(_OLD + name), F.when(n_old == 0, none))
        new = F.coalesce(F.col(name), F.when(n_values == 0, none))
        yield name, (old + new).cast(of)


def _extremes(kept: Kept) -> Iterator[tuple[str, Column]]:
    """Yield the new least and greatest values of groups that are not dirty."""
    for kind, numbers, best in (("low", kept.lows, F.least), ("high", kept.highs, F.greatest)):
        for n in numbers:
            name = state(kind, n)
            found = best(F.col(_OLD + name), F.col(_IN + name))
            yield name, F.when(F.col(state("count", n)) > 0, found)


def _is_lost(kind: str, n: int, as_good: Callable[[Column, Column], Column]) -> Column:
    name = state(kind, n)
    old, new, gone = (F.col(one + name) for one in (_OLD, _IN, _OUT))
    is_hit = F.coalesce(as_good(gone, old), F.expr("false"))
    has_another = F.coalesce(as_good(new, old), F.expr("false"))
    return (F.col(state("count", n)) > 0) & is_hit & ~has_another
