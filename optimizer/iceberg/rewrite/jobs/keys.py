"""Brings a frame's rows into the order of a layout, spread over n files.

A curve's key is computed once a row, by an Arrow function over batches of 64k rows. Spark's
`repartitionByRange` would compute it twice, in a pass of its own that samples the keys; here the
sample that is there anyhow gives the cuts, and a row's place among the files comes with its key.
Only the layout's columns go through Python: the row itself never leaves the JVM.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import pandas_udf

from optimizer.iceberg.rewrite.domain.boundaries import Boundaries
from optimizer.iceberg.rewrite.domain.curves import Keys
from optimizer.iceberg.rewrite.domain.layouts import Layout, LayoutKind
from optimizer.iceberg.rewrite.domain.row_keys import RowKeys, cut_points, places_of
from optimizer.iceberg.rewrite.jobs.boundary_sample import (
    Sample,
    compared,
    forms_of,
    named,
    nulls_of,
    take_sample,
    use_arrow,
)
from portal.lake.errors import RuleViolation

_PLACED = "__lakewarden_placed"
_PLACE, _KEY = f"{_PLACED}.place", f"{_PLACED}.key"

Batches = Iterator[tuple[pd.Series, ...]]
Ints = NDArray[np.int32]


def clustered(
    df: DataFrame,
    *,
    layout: Layout,
    boundaries: Boundaries,
    n_files: int,
    n_rows: int | None = None,
    sample: Sample | None = None,
) -> DataFrame:
    """Return the same rows in the order of the layout: n partitions that follow each other.

    With one column a curve is a sort. `sample` is a sample of this very frame, for the cuts;
    without it one is taken, and without `n_rows` its rows are counted first. Changes the
    session's Arrow settings.

    Raises:
        RuleViolation: `boundaries.other`, `layout.missing`, `boundaries.type`.
    """
    if layout.kind is LayoutKind.SORT or len(layout.columns) == 1:
        columns = [named(column) for column in layout.columns]
        return df.repartitionByRange(n_files, *columns).sortWithinPartitions(*columns)
    forms = forms_of(df, layout.columns)
    _check_fit(boundaries, layout, forms)
    use_arrow(df.sparkSession)
    keys, cuts = RowKeys(layout.kind, boundaries), np.empty(0, dtype=np.int64)
    if n_files > 1:
        sample = sample or take_sample(df, layout.columns, n_rows=n_rows, n_files=n_files)
        cuts = cut_points(sample.keys(layout.kind, boundaries), n_files=n_files)
    place = placer(keys, cuts, numbers_for(df.sparkSession, n_files))
    make: Any = pandas_udf  # its types do not know of iterators over several columns
    arrow_function = make(place, "place int, key bigint")
    values = [compared(column, form) for column, form in forms.items()]
    placed = df.withColumn(_PLACED, arrow_function(nulls_of(layout.columns), *values))
    return placed.repartition(n_files, _PLACE).sortWithinPartitions(_KEY).drop(_PLACED)


def placer(keys: RowKeys, cuts: Keys, numbers: Ints) -> Callable[[Batches], Iterator[pd.DataFrame]]:
    """Make the Arrow function: null bits and values of many rows to their places and keys."""

    def place(batches: Batches) -> Iterator[pd.DataFrame]:
        for nulls, *values in batches:
            found = keys([value.to_numpy() for value in values], nulls=nulls.to_numpy())
            yield pd.DataFrame({"place": numbers[places_of(found, cuts)], "key": found})

    return place


def numbers_for(spark: SparkSession, n_files: int) -> Ints:
    """Return for each place a number that Spark's hash partitioning sends to just that place."""
    found: dict[int, int] = {}
    first, asked = 0, 16 * n_files + 64
    while len(found) < n_files:
        numbers = spark.range(first, first + asked).select(F.col("id").cast("int").alias("n"))
        for number, place in numbers.select("n", F.expr(f"pmod(hash(n), {n_files})")).collect():
            found.setdefault(place, number)
        first += asked
    return np.array([found[place] for place in range(n_files)], dtype=np.int32)


def _check_fit(boundaries: Boundaries, layout: Layout, forms: dict[str, str]) -> None:
    """Refuse boundaries of other columns, or of a column that has become another type."""
    of = {one.column: one.form for one in boundaries.columns}
    if list(of.items()) != list(forms.items()):
        raise RuleViolation(
            "boundaries.other",
            f"The boundaries are those of {of}, but {layout} has {forms}. Take a new sample for "
            "this layout.",
            layout=str(layout),
        )
