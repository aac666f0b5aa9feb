"""Decides the order in which a table's rows are written, and the boundaries of column ids.

The boundaries are those of earlier writes where there are any, so that new files can be compared
with old ones; else they come from a sample of the whole table, never of one group of its files.
Where a group holds nearly all rows of the table, the same sample also says where its files are cut.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame

from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.rewrite.domain.boundaries import Boundaries
from optimizer.iceberg.rewrite.domain.layouts import Layout, LayoutKind, refuse_columns
from optimizer.iceberg.rewrite.jobs.boundary_sample import Sample, take_sample
from optimizer.iceberg.rewrite.jobs.keys import clustered

# From this share of the table's rows on, a sample of the table is one of the group as well.
_NEARLY_ALL = 0.9


@dataclass(frozen=True)
class Arrangement:
    """A layout with the boundaries of its columns; a plain sort has none."""

    layout: Layout
    boundaries: Boundaries
    sample: Sample | None = field(default=None, repr=False)
    n_table_rows: int = 0
    """Rows in the files of the table that was sampled, deleted ones too; 0: nobody said."""

    def __call__(self, rows: DataFrame, n_files: int, n_rows: int, /) -> DataFrame:
        """Return the same rows in order, spread over so many files; `n_rows` of them, about."""
        is_whole = 0 < _NEARLY_ALL * self.n_table_rows <= n_rows
        return clustered(
            rows,
            layout=self.layout,
            boundaries=self.boundaries,
            n_files=n_files,
            n_rows=n_rows,
            sample=self.sample if is_whole else None,
        )


def arrangement_of(
    table: IcebergTable,
    layout: Layout,
    *,
    stored: Mapping[str, Any] | None,
    target_bytes: int = 0,
) -> Arrangement:
    """Return the order of a table's rows; `stored` are boundaries of before.

    `target_bytes` says into about how many files the table may be cut.

    Raises:
        RuleViolation: `layout.missing`, `layout.type`: a column that cannot order rows.
        PortalError: the table cannot be read for a sample.
    """
    rows = table.spark.table(table.sql)
    refuse_columns(layout, {one.name: one.dataType.simpleString() for one in rows.schema})
    if layout.kind is LayoutKind.SORT:
        return Arrangement(layout, Boundaries(()))
    if stored:
        return Arrangement(layout, Boundaries.from_dict(stored))
    n_files = table.totals().get("n_bytes", 0) // target_bytes if target_bytes else 1
    with clear_errors(table.name):
        # The summary's number of rows may be wrong: whoever samples by it might fetch the table.
        sample = take_sample(rows, layout.columns, n_files=n_files)
    return Arrangement(layout, sample.boundaries(), sample, table.n_rows)
