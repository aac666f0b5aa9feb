"""Decides the order in which a table's rows are written, and brings them into it.

The boundaries are those of earlier writes where there are any, so that new files can be compared
with old ones; else they come from a sample of the whole table, never of one group of its files.
Where a group holds nearly all rows of the table, the same sample also says where its files are cut.

A curve's key is computed once a row, by an Arrow function over batches of 64k rows. Spark's
`repartitionByRange` would compute it twice, in a pass of its own that samples the keys; here the
sample that is there anyhow gives the cuts, and a row's place among the files comes with its key.
Only the layout's columns go through Python: the row itself never leaves the JVM.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import pandas_udf

from optimizer.cubes.domain.definition import Join
from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.rewrite.domain.boundaries import Boundaries
from optimizer.iceberg.rewrite.domain.curves import Keys
from optimizer.iceberg.rewrite.domain.layouts import Layout, LayoutKind, refuse_columns
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
from optimizer.iceberg.rewrite.jobs.joined_values import JoinedValues, joined_values
from portal.lake.errors import RuleViolation

# From this share of the table's rows on, a sample of the table is one of the group as well.
_NEARLY_ALL = 0.9
_PLACED = "__lakewarden_placed"
_PLACE, _KEY = f"{_PLACED}.place", f"{_PLACED}.key"

Batches = Iterator[tuple[pd.Series, ...]]
Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Arrangement:
    """A layout with the boundaries of its columns; a plain sort has none."""

    layout: Layout
    boundaries: Boundaries
    sample: Sample | None = field(default=None, repr=False)
    n_table_rows: int = 0
    """Rows in the files of the table that was sampled, deleted ones too; 0: nobody said."""
    joined: JoinedValues | None = field(default=None, repr=False)
    """Where the layout names columns of joined tables."""

    def __call__(self, rows: DataFrame, n_files: int, n_rows: int, /) -> DataFrame:
        """Return the same rows in order, spread over so many files; `n_rows` of them, about."""
        is_whole = 0 < _NEARLY_ALL * self.n_table_rows <= n_rows
        found = clustered(
            self.joined.added(rows) if self.joined else rows,
            layout=self.layout,
            boundaries=self.boundaries,
            n_files=n_files,
            n_rows=n_rows,
            sample=self.sample if is_whole else None,
        )
        return self.joined.removed(found) if self.joined else found


def arrangement_of(
    table: IcebergTable,
    layout: Layout,
    *,
    stored: Mapping[str, Any] | None,
    target_bytes: int = 0,
    joins: Iterable[Join] = (),
) -> Arrangement:
    """Return the order of a table's rows; `stored` are boundaries of before.

    `target_bytes` says into about how many files the table may be cut. `joins` are those of the
    table's cubes, for columns of joined tables.

    Raises:
        RuleViolation: `layout.missing`, `layout.type`, `layout.join`: a column that cannot order
            rows.
        PortalError: the table, or a joined one, cannot be read for a sample.
    """
    rows = table.spark.table(table.sql)
    joined = joined_values(table, layout, joins)
    if joined:
        rows = joined.added(rows)
    refuse_columns(layout, {one.name: one.dataType.simpleString() for one in rows.schema})
    if layout.kind is LayoutKind.SORT:
        return Arrangement(layout, Boundaries(()), joined=joined)
    if stored:
        return Arrangement(layout, Boundaries.from_dict(stored), joined=joined)
    n_files = table.totals().get("n_bytes", 0) // target_bytes if target_bytes else 1
    with clear_errors(table.name):
        # The summary's number of rows may be wrong: whoever samples by it might fetch the table.
        sample = take_sample(rows, layout.columns, n_files=n_files)
    return Arrangement(layout, sample.boundaries(), sample, table.n_rows, joined)


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
