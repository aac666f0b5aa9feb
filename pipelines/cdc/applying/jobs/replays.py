"""Joins values that were kept aside with the rows of a table that have the same version."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipelines.cdc.applying.domain.casts import cast_sql
from pipelines.cdc.applying.domain.hudi_settings import VERSION, key_columns
from pipelines.cdc.applying.domain.messages import TableOrder
from pipelines.cdc.applying.jobs.target import Target
from pipelines.cdc.protecting.engine.ciphers import Protector
from pipelines.cdc.protecting.jobs.columns import protected, protectors


def filled(kept: DataFrame, target: Target, wanted: Mapping[str, str]) -> DataFrame:
    """Return rows with the columns `wanted` (the lake's name by the source's) filled.

    Rows have the form of `rows.cast`: `row`, `version`, and `unfit` where a value does not fit.
    """
    order = target.order
    by_target = {name: n for n, name in enumerate(wanted.values())}
    by_column = protectors(order.target, order.protections)
    values = (
        kept.withColumnRenamed("id", "_lw_id")
        .groupBy("_lw_id", VERSION)
        .agg(
            *(
                F.first(F.when(F.col("column") == name, F.col("text")), ignorenulls=True).alias(
                    f"_lw_v{n}"
                )
                for n, name in enumerate(wanted)
            )
        )
    )
    for name, at in by_target.items():
        text = protected(F.col(f"_lw_v{at}"), by_column.get(name), row="_lw_id", version=VERSION)
        values = values.withColumn(f"_lw_v{at}", text)
    names = list(key_columns(order))
    values = _with_key(values, order, by_column)
    now = target.read()
    joined = now.join(values.withColumnRenamed(VERSION, "_lw_kept"), names, "inner")
    joined = joined.where(F.col(VERSION) == F.col("_lw_kept"))
    there = set(now.columns)
    fields: list[Column] = []
    unfit: list[Column] = []
    for column in order.columns:
        n = by_target.get(column.name)
        if n is None:
            old = F.col(_quoted(column.name)) if column.name in there else F.lit(None)
            fields.append(old.cast(column.type).alias(column.name))
            continue
        value = F.expr(cast_sql(f"_lw_v{n}", column.type))
        fields.append(value.alias(column.name))
        unfit.append(
            F.when(
                F.col(f"_lw_v{n}").isNotNull() & value.isNull(),
                F.struct(
                    F.lit("type").alias("reason"),
                    F.lit(column.name).alias("column"),
                    F.col(f"_lw_v{n}").alias("text"),
                ),
            )
        )
    key = F.to_json(F.struct(*(F.col(_quoted(name)).cast("string") for name in names)))
    return joined.select(
        key.alias("id"),
        F.col(VERSION).alias("version"),
        F.lit(0).cast("bigint").alias("schema"),
        F.lit(0).cast("bigint").alias("at"),
        F.lit(0).cast("bigint").alias("number"),
        F.lit("").alias("value"),
        F.struct(*fields).alias("row"),
        F.array_compact(F.array(*unfit)).alias("unfit"),
    )


def _with_key(
    values: DataFrame, order: TableOrder, by_column: Mapping[str, Protector]
) -> DataFrame:
    """Add the key's columns as the target has them."""
    types = {column.name: column.type for column in order.columns}
    shape = ", ".join(f"{_quoted(name)} STRING" for name in order.key)
    read = values.withColumn("_lw_k", F.from_json("_lw_id", f"STRUCT<{shape}>"))
    for n, source in enumerate(order.key):
        read = read.withColumn(f"_lw_k{n}", F.col("_lw_k")[source])
    for n, name in enumerate(key_columns(order)):
        text = protected(F.col(f"_lw_k{n}"), by_column.get(name), row="_lw_id", version=VERSION)
        read = read.withColumn(f"_lw_k{n}", text)
        read = read.withColumn(name, F.expr(cast_sql(f"_lw_k{n}", types[name])))
    return read.drop("_lw_id", "_lw_k", *(f"_lw_k{n}" for n in range(len(order.key))))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
