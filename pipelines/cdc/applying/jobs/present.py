"""Compares changes with the rows that a table has now: for changes that may come late or again."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipelines.cdc.applying.domain.hudi_settings import VERSION, key_columns
from pipelines.cdc.applying.domain.messages import TableOrder
from pipelines.cdc.applying.jobs.target import Target
from pipelines.cdc.protecting.domain.protections import Protection

_CONFLICT = "conflict"


def compared(rows: DataFrame, target: Target) -> DataFrame:
    """Add `is_late`, and to `unfit` that a row of the same version has other values.

    A column that is NULL in the table and not in the change is no contradiction: it became live
    after the row was written. Nor is a text of another key, so encrypted columns are not compared.
    """
    names = list(key_columns(target.order))
    keys = rows.where("size(unfit) = 0").select(*(F.col("row")[name].alias(name) for name in names))
    now = target.read().join(keys.distinct(), names, "left_semi")
    there = [one.name for one in target.order.columns if one.name in now.columns]
    found = now.select(
        *(F.col(name).alias(f"_lw_k{n}") for n, name in enumerate(names)),
        F.col(VERSION).alias("_lw_present"),
        F.struct(*there).alias("_lw_row"),
    )
    told = [name for name in there if name not in _encrypted(target.order)]
    is_same = [rows["row"][name] == found[f"_lw_k{n}"] for n, name in enumerate(names)]
    joined = rows.join(found, is_same, "left")
    is_torn = (F.col("_lw_present") == F.col("version")) & (
        F.col("is_delete") | F.array_contains(F.array(*map(_differs, told)), value=True)
    )
    conflict = F.struct(
        F.lit(_CONFLICT).alias("reason"),
        F.lit("").alias("column"),
        F.lit(None).cast("string").alias("text"),
    )
    unfit = F.when(is_torn, F.array(conflict)).otherwise(F.col("unfit"))
    is_late = F.coalesce(F.col("_lw_present") > F.col("version"), F.lit("false").cast("boolean"))
    columns = [name for name in rows.columns if name != "unfit"]
    return joined.select(*columns, unfit.alias("unfit"), is_late.alias("is_late"))


def _encrypted(order: TableOrder) -> set[str]:
    """Return columns in which one value has many texts."""
    said = order.protections.items()
    return {name for name, text in said if not Protection.parse(text).is_deterministic}


def _differs(name: str) -> Column:
    """Whether both have a value and it is not the same."""
    old, new = F.col("_lw_row")[name], F.col("row")[name]
    return F.coalesce(old != new, F.col("is_delete"))
