"""Reads the metastore's own database by JDBC, with partitions split by PART_ID.

One Thrift call a partition would take hours, one IN list of all ids breaks the packet limit. Small
things (databases, tables, their parameters) come to the driver, partitions never do.
"""

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from lifecycle.core.domain.enrollment import LEVEL_KEYS, TTL_KEYS
from portal.catalog.domain.events import UUID
from portal.connectors import metastore_db as sql
from portal.connectors.lake_config import LakeConfig
from portal.lake.formats import PROVIDER
from portal.lake.readiness import FLAG
from portal.spark.registered import named_tables

ROWS_PER_SLICE = 62_500
_MAX_SLICES = 400
_NAMES_PER_SAMPLE = 2_000
PARAMETERS = frozenset(
    {
        *(key.lower() for key in (*LEVEL_KEYS, *TTL_KEYS, sql.DDL_TIME, FLAG, PROVIDER)),
        "transactional",
        "table_type",
        "metadata_location",
        "last_commit_time_sync",
        "hoodie.table.name",
        "storage_handler",
        UUID,
    }
)


@dataclass(frozen=True, slots=True)
class PartitionCounts:
    """How many partitions each table has, and between which ids they lie."""

    of_table: Mapping[int, int]
    low: int
    high: int

    @property
    def total(self) -> int:
        """How many partitions there are."""
        return sum(self.of_table.values())


class MetastoreReader:
    """Reads one lake's metastore database."""

    def __init__(self, spark: SparkSession, config: LakeConfig) -> None:
        database = config.metastore_db
        password = os.environ.get(sql.PASSWORD_VARIABLE) or database.password()
        self._spark = spark
        self._dialect = sql.dialect_of(database)
        self._options = sql.jdbc_options(database, password=password)

    def databases(self) -> list[Row]:
        """Return db_id, db, owner, location."""
        return self._read(sql.DATABASES).collect()

    def tables(self, only: Iterable[tuple[str, str]] | None = None) -> list[Row]:
        """Return every table and view with its storage, or `only` some; see `parameters`, too."""
        rows = self._read(sql.TABLES)
        return (rows if only is None else rows.where(named_tables(only))).collect()

    def parameters(self, of: Collection[int] | None = None) -> Mapping[int, dict[str, str]]:
        """Give, by table id, the parameters that the rules look at; `of` some tables, or all."""
        names = ", ".join(f"'{name}'" for name in sorted(PARAMETERS))
        found: defaultdict[int, dict[str, str]] = defaultdict(dict)
        rows = self._read(sql.TABLE_PARAMETERS.replace("{names}", names))
        if of is not None:
            rows = rows.where(F.col("tbl_id").isin(list(of)))
        for row in rows.collect():
            found[row["tbl_id"]][row["param"]] = row["val"] or ""
        return found

    def partition_counts(self) -> PartitionCounts:
        """Count the partitions of each table and find the ids between which they are split."""
        rows = self._read(sql.PARTITION_COUNTS).collect()
        return PartitionCounts(
            {int(row["tbl_id"]): int(row["n"]) for row in rows},
            low=min((int(row["low"]) for row in rows), default=0),
            high=max((int(row["high"]) for row in rows), default=0),
        )

    def partition_name_sample(self, tbl_id: int, n_partitions: int) -> list[str]:
        """Return some two thousand partition names of one big table, sorted, to split it by."""
        step = max(1, n_partitions // _NAMES_PER_SAMPLE)
        query = sql.PARTITION_NAME_SAMPLE.replace("{tbl_id}", str(tbl_id))
        rows = self._read(query.replace("{step}", str(step))).collect()
        return sorted(row["part_name"] or "" for row in rows)

    def partitions(self, counts: PartitionCounts) -> DataFrame:
        """Return all partitions, in slices of PART_ID read side by side; nothing runs yet."""
        n_slices = min(_MAX_SLICES, max(1, counts.total // ROWS_PER_SLICE))
        return self._read(
            sql.PARTITIONS,
            partitionColumn="part_id",
            lowerBound=str(counts.low),
            upperBound=str(counts.high + 1),
            numPartitions=str(n_slices),
        )

    def _read(self, template: str, **options: str) -> DataFrame:
        query = f"({self._dialect.sql(template)}) q"
        reader = self._spark.read.format("jdbc").options(**self._options, **options)
        return reader.option("dbtable", query).load()
