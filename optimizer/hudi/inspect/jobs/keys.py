"""Finds record keys of a Hudi table that are in more than one file group of a partition.

This reads the keys of the whole table as an engine does that lists files itself.
"""

from pyspark.sql import functions as F

from optimizer.hudi.inspect.domain.facts import DuplicateKey
from optimizer.hudi.tables.jobs.table import OpenedTable

_KEY, _PARTITION, _FILE = "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"
_MOST = 100


def has_keys(table: OpenedTable) -> bool:
    """Whether its rows carry the keys that Hudi gives them."""
    return bool(table.config.populateMetaFields())


def duplicate_keys(table: OpenedTable) -> tuple[DuplicateKey, ...]:
    """Return some of them, at most a hundred."""
    rows = (
        table.spark.read.format("hudi")
        .option("hoodie.metadata.enable", "false")
        .load(table.location)
        .select(
            F.col(_KEY).alias("key"),
            F.col(_PARTITION).alias("partition"),
            F.regexp_extract(_FILE, r"^\.?([^_]+)", 1).alias("file_id"),
        )
        .groupBy("key", "partition")
        .agg(F.array_sort(F.collect_set("file_id")).alias("file_ids"))
        .where(F.size("file_ids") > 1)
        .limit(_MOST)
        .collect()
    )
    found = (
        DuplicateKey(
            key=row["key"], partition=row["partition"] or "", file_ids=tuple(row["file_ids"])
        )
        for row in rows
    )
    return tuple(sorted(found, key=lambda one: (one.partition, one.key)))
