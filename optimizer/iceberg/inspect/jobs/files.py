"""Counts the files of each partition of a table in Spark, from metadata only.

Reads the entries of the snapshot's manifests. Nothing that grows with files comes to the driver:
what leaves Spark is one row a partition.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from optimizer.core.domain.sizes import BUCKETS
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.access.jobs.locations import bare_column, places_of
from optimizer.iceberg.access.jobs.write_ids import OF_LOCATION
from optimizer.iceberg.inspect.domain.stats import BIG_ABOVE, SMALL_BELOW
from optimizer.iceberg.inspect.jobs.partition_paths import path_column, specs_of
from optimizer.iceberg.maintenance.domain.orphans import bare

_DELETED = 2
_DATA, _POSITION, _EQUALITY = 0, 1, 2
_REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a table's files are measured against."""

    target_bytes: int
    write_ids: frozenset[str] = frozenset()


def partition_rows(table: IcebergTable, asked: Asked) -> DataFrame:
    """Return one row for each partition (and spec) that has files in the table's snapshot."""
    files = _files(table)
    by_partition = Window.partitionBy("spec_id", "partition")
    # Data files first, the smallest of them first of all.
    ranked = files.withColumn("rank", F.row_number().over(by_partition.orderBy("content", "size")))
    return ranked.groupBy("spec_id", "partition").agg(*_counts(asked))


def _is_outside(table: IcebergTable) -> Column:
    """Return whether a file lies in none of the table's own places, by add_files or snapshot."""
    places = {bare(place).rstrip("/") + "/" for place in places_of(table)}
    path = bare_column(F.col("data_file.file_path"))
    return ~reduce(or_, [path.startswith(place) for place in sorted(places)])


def _files(table: IcebergTable) -> DataFrame:
    """Return the live files of the snapshot: data files and delete files."""
    entries = _metadata(table, "entries", snapshot_id=table.snapshot_id)
    united = "partition" in entries.select("data_file.*").columns
    partition = (
        path_column(specs_of(table), spec_id=F.col("data_file.spec_id"), partition="_united")
        if united
        else F.lit("")
    )
    if united:
        entries = entries.withColumn("_united", F.col("data_file.partition"))
    files = entries.where(F.col("status") != _DELETED).select(
        "snapshot_id",
        F.col("data_file.spec_id").alias("spec_id"),
        partition.alias("partition"),
        F.col("data_file.content").alias("content"),
        (F.upper("data_file.file_format") == "PUFFIN").alias("is_dv"),
        F.col("data_file.record_count").alias("n_rows"),
        F.col("data_file.file_size_in_bytes").alias("size"),
        F.regexp_extract("data_file.file_path", OF_LOCATION, 1).alias("write_id"),
        _is_outside(table).alias("is_outside"),
    )
    return files.join(F.broadcast(_commits(table)), "snapshot_id", "left")


def _commits(table: IcebergTable) -> DataFrame:
    """Return when each snapshot that is kept was committed, and whether it only rewrote files."""
    return _metadata(table, "snapshots").select(
        "snapshot_id",
        F.unix_micros("committed_at").alias("at_us"),
        F.coalesce(F.col("operation") == _REPLACE, F.expr("false")).alias("is_rewrite"),
    )


def _metadata(table: IcebergTable, name: str, *, snapshot_id: int | None = None) -> DataFrame:
    reader = table.spark.read.format("iceberg")
    if snapshot_id is not None:
        reader = reader.option("snapshot-id", snapshot_id)
    return reader.load(f"{table.sql}.{name}")


def _counts(asked: Asked) -> list[Column]:
    target = asked.target_bytes
    size, rows = F.col("size"), F.col("n_rows")
    data, position = F.col("content") == _DATA, F.col("content") == _POSITION
    equality = F.col("content") == _EQUALITY
    small = data & (size < SMALL_BELOW * target)
    is_below = data & (size < target)
    laid_out = data & _is_one_of(asked.write_ids)
    return [
        _n(data).alias("n_files"),
        _sum(data, size).alias("n_bytes"),
        _sum(data, rows).alias("n_rows"),
        _n(small).alias("n_small"),
        _sum(small, size).alias("small_bytes"),
        _n(data & (size > BIG_ABOVE * target)).alias("n_big"),
        _sum(data & (F.col("rank") <= 2), size).alias("two_smallest_bytes"),
        _n(position).alias("n_pos_delete_files"),
        _sum(position, rows).alias("n_pos_deleted_rows"),
        _n(equality).alias("n_eq_delete_files"),
        _sum(equality, rows).alias("n_eq_deleted_rows"),
        _n(position & F.col("is_dv")).alias("n_dvs"),
        F.coalesce(
            F.avg(F.when(is_below, F.pow((F.lit(target) - size) / target, F.lit(2.0)))), F.lit(0.0)
        ).alias("squared_error"),
        _n(laid_out).alias("n_laid_out"),
        _sum(laid_out, size).alias("laid_out_bytes"),
        F.max(F.when(~F.col("is_rewrite"), F.col("at_us"))).alias("newest_commit_us"),
        F.max(F.when(F.col("is_rewrite"), F.col("at_us"))).alias("newest_rewrite_us"),
        _n(F.col("is_outside")).alias("n_outside"),
        F.array(*(_n(data & _in_bucket(size, n)) for n in range(len(BUCKETS)))).alias("sizes"),
    ]


def _in_bucket(size: Column, n: int) -> Column:
    bucket = BUCKETS[n]
    found = size >= bucket.low
    return found if bucket.high is None else found & (size < bucket.high)


def _is_one_of(write_ids: Collection[str]) -> Column:
    return F.col("write_id").isin(sorted(write_ids)) if write_ids else F.expr("false")


def _n(condition: Column) -> Column:
    return F.count(F.when(condition, 1))


def _sum(condition: Column, value: Column) -> Column:
    return F.coalesce(F.sum(F.when(condition, value)), F.lit(0)).cast("long")
