"""Samples a frame for how its rows spread over the columns of a layout.

The sample is bounded, and comes to the driver in the form in which values are compared
(`value_forms`): never null, with one number a row that says which columns are null.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from optimizer.iceberg.rewrite.domain.boundaries import BITS, N_IDS, Boundaries, ColumnBoundaries
from optimizer.iceberg.rewrite.domain.curves import Keys
from optimizer.iceberg.rewrite.domain.layouts import LayoutKind, refuse_missing
from optimizer.iceberg.rewrite.domain.row_keys import Nulls, RowKeys
from optimizer.iceberg.rewrite.domain.value_forms import Form, form_of, scale_of

SHARE = 0.02
FEWEST_ROWS = 200_000  # so that a quantile is off by a quarter of an id's share or so
ROWS_A_FILE = 300  # so that the cuts make files that differ by 6 % or so
MOST_ROWS = 500_000
_ARROW = {
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
}
_SEED = 6


@dataclass(frozen=True)
class Sample:
    """Some rows of a frame: for each column its form and values, and which of them are null."""

    columns: tuple[str, ...]
    forms: tuple[str, ...]
    values: tuple[NDArray[Any], ...]
    nulls: Nulls

    def boundaries(self, *, n_ids: int = N_IDS, bits: int = BITS) -> Boundaries:
        """Take the quantiles of each column."""
        found = []
        for number, (column, form) in enumerate(zip(self.columns, self.forms, strict=True)):
            values = self.values[number][(self.nulls >> number) & 1 == 0]
            found.append(
                ColumnBoundaries.of_sample(column, form, values, n_ids=n_ids, is_round=True)
            )
        return Boundaries(tuple(found), bits)

    def keys(self, kind: LayoutKind, boundaries: Boundaries) -> Keys:
        """Return the keys of the sample's rows, of which `cut_points` makes the files."""
        return RowKeys(kind, boundaries)(self.values, nulls=self.nulls)


def take_sample(
    df: DataFrame, columns: Sequence[str], *, n_rows: int | None = None, n_files: int = 1
) -> Sample:
    """Read about 2 % of the rows, more of few and less of very many; the same at every try.

    `n_rows` says how many rows the frame has, about; without it they are counted first.

    Raises:
        RuleViolation: `layout.missing`, `boundaries.type`.
    """
    use_arrow(df.sparkSession)
    forms = forms_of(df, columns)
    known = max(df.count() if n_rows is None else n_rows, 1)
    wanted = min(max(known * SHARE, FEWEST_ROWS, n_files * ROWS_A_FILE), MOST_ROWS)
    rows = df if wanted >= known else df.sample(wanted / known, seed=_SEED)
    found = rows.select(
        nulls_of(columns).alias("nulls"),
        *(compared(column, form).alias(f"v{n}") for n, (column, form) in enumerate(forms.items())),
    ).toPandas()
    values = tuple(found[f"v{number}"].to_numpy() for number in range(len(forms)))
    return Sample(tuple(forms), tuple(forms.values()), values, found["nulls"].to_numpy())


def use_arrow(spark: SparkSession) -> None:
    """Have rows come to Python as columns, 64k at a time; changes the session's settings."""
    for name, value in _ARROW.items():
        spark.conf.set(name, value)


def forms_of(df: DataFrame, columns: Sequence[str]) -> dict[str, str]:
    """Return the form of each column's values.

    Raises:
        RuleViolation: `layout.missing`, `boundaries.type`.
    """
    types = {field.name: field.dataType.simpleString() for field in df.schema.fields}
    refuse_missing(columns, types)
    return {column: form_of(types[column]) for column in columns}


def named(column: str) -> Column:
    """Return a column by its name, whatever characters the name has."""
    return F.col("`" + column.replace("`", "``") + "`")


def compared(column: str, form: str) -> Column:
    """Return a column's values in the form in which they are compared, something for null."""
    value, scale = named(column), scale_of(form)
    if form == Form.TEXT:
        return F.coalesce(value.cast("binary"), F.lit(b""))
    if form == Form.REAL:
        return F.coalesce(value.cast("double"), F.lit(0.0))
    if scale is not None:
        value = value * F.lit(10**scale).cast(f"decimal({scale + 1},0)")
    elif form == Form.DAYS:
        value = F.unix_date(value)
    elif form == Form.MICROS:
        value = F.unix_micros(value.cast("timestamp"))
    return F.coalesce(value.cast("bigint"), F.lit(0).cast("bigint"))


def nulls_of(columns: Sequence[str]) -> Column:
    """Return a number whose bit i says that column i is null."""
    bits = [named(column).isNull().cast("int") * (1 << i) for i, column in enumerate(columns)]
    return reduce(Column.__add__, bits)
