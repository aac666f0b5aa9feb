"""Spark program that inspects Iceberg tables' metadata and measures the health of their files.

Many tables in one application, one after the other, and never their data. A table that cannot be
looked at is an entry in `failed` and stops nothing; results are Parquet in the spool:
`partitions/<table id>` from Spark, `tables`, `commits` and `writes` from the driver.
"""

import time
from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from optimizer.core.jobs.result_parts import ResultPart
from optimizer.iceberg.access.jobs.errors import (
    GONE,
    NOT_ICEBERG,
    REPLACED,
    UNREACHABLE,
    clear_errors,
)
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, open_table, use_iceberg
from optimizer.iceberg.access.jobs.write_ids import IN_NAME
from optimizer.iceberg.inspect.domain.problems import inspection_problem
from optimizer.iceberg.inspect.jobs.facts import commits_since, table_facts
from optimizer.iceberg.inspect.jobs.files import Asked, partition_rows
from portal.lake.errors import PortalError
from portal.spark.java_errors import JAVA_ERRORS, causes_of
from portal.spark.job import JobContext

_DELETED = 2

_TIME = pa.timestamp("us", tz="UTC")
_SUMS = ("n_files", "n_bytes", "n_rows", "n_pos_delete_files", "n_eq_delete_files", "n_outside")
_TABLE_FIELDS: list[tuple[str, Any]] = [
    *((name, pa.int64()) for name in ("table_id", "snapshot_id", "sequence")),
    *((name, _TIME) for name in ("committed_at", "oldest_at")),
    *((name, pa.int64()) for name in ("format_version", "n_manifests", "n_snapshots")),
    *((name, pa.int64()) for name in ("n_partitions", *_SUMS, "target_bytes")),
    *((name, pa.string()) for name in ("columns", "partition_spec", "layout")),
]
_COMMIT_FIELDS: list[tuple[str, Any]] = [
    *((name, pa.int64()) for name in ("table_id", "snapshot_id", "parent_id", "sequence")),
    ("at", _TIME),
    ("operation", pa.string()),
    ("is_ours", pa.bool_()),
    *((name, pa.int64()) for name in ("n_added", "n_removed", "bytes_added", "bytes_removed")),
    *((name, pa.int64()) for name in ("n_deletes_added", "n_changed_partitions")),
]
_WRITE_FIELDS: list[tuple[str, Any]] = [
    ("table_id", pa.int64()),
    ("write_id", pa.string()),
    ("is_used", pa.bool_()),
]
_OWN_WORDS = frozenset({GONE, REPLACED, NOT_ICEBERG, UNREACHABLE})
_PROGRESS_SECONDS = 2.0


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Look at every table of the request."""
    use_iceberg(spark, job.config)
    return _Looks(spark, job).run()


class _Looks:
    def __init__(self, spark: SparkSession, job: JobContext) -> None:
        self.spark, self.job = spark, job
        self.tables = ResultPart(job.spool, "tables", pa.schema(_TABLE_FIELDS))
        self.commits = ResultPart(job.spool, "commits", pa.schema(_COMMIT_FIELDS))
        self.writes = ResultPart(job.spool, "writes", pa.schema(_WRITE_FIELDS))
        self.failed: list[dict[str, Any]] = []

    def run(self) -> dict[str, Any]:
        asked = list(self.job.params.get("tables", ()))
        notified_at = time.monotonic()
        for n, row in enumerate(asked):
            self.job.check_control()
            if not n or time.monotonic() - notified_at >= _PROGRESS_SECONDS:
                self.job.progress("look", n, len(asked), f"{row['db']}.{row['table']}")
                notified_at = time.monotonic()
            self._look(row)
        self.tables.flush()
        self.commits.flush()
        self.writes.flush()
        self.job.progress("look", len(asked), len(asked))
        return {
            "tables": len(asked) - len(self.failed),
            "failed": self.failed,
            "requested_at": self.job.now.isoformat(),
        }

    def _look(self, row: Mapping[str, Any]) -> None:
        name, key = f"{row['db']}.{row['table']}", int(row["table_id"])
        try:
            table = open_table(self.spark, row["db"], row["table"], uuid=str(row.get("uuid") or ""))
            with clear_errors(name):
                facts = table_facts(table) | self._count(table, row)
                since = row.get("looked_snapshot_id")
                commits = [one | {"table_id": key} for one in commits_since(table, since)]
        except PortalError as error:
            code, reason = _problem(name, error)
            self.job.log(f"{name}: {code}: {reason}")
            self.failed.append({"table_id": key, "code": code, "reason": reason})
            return
        asked = {"target_bytes": int(row["target_bytes"]), "layout": str(row.get("layout") or "")}
        self.tables.extend([facts | asked | {"table_id": key}])
        self.commits.extend(commits)
        self._search(table, key, [str(one) for one in row.get("old_writes") or ()])

    def _search(self, table: IcebergTable, key: int, asked: list[str]) -> None:
        """Say of old writes whether any file of theirs is left; on doubt one is."""
        if not asked:
            return
        try:
            with clear_errors(table.name):
                used = writes_in_use(table, asked)
        except PortalError as error:
            code, reason = _problem(table.name, error)
            self.job.log(f"{table.name}: files of old writes were not searched: {code}: {reason}")
            used = set(asked)
        self.writes.extend(
            {"table_id": key, "write_id": one, "is_used": one in used} for one in asked
        )

    def _count(self, table: IcebergTable, row: Mapping[str, Any]) -> dict[str, Any]:
        """Write the table's partitions, and give their sums."""
        if table.snapshot is None:
            return dict.fromkeys(("n_partitions", *_SUMS), 0)
        asked = Asked(int(row["target_bytes"]), frozenset(map(str, row.get("write_ids") or ())))
        return _written(
            partition_rows(table, asked),
            str(self.job.spool.results.child("partitions", str(int(row["table_id"])))),
        )


def _written(rows: DataFrame, place: str) -> dict[str, Any]:
    """Write rows, and sum them up on the way."""
    sums = Observation()
    n_rows = F.count(F.lit(1)).alias("n_partitions")
    rows.observe(sums, n_rows, *(F.sum(name).alias(name) for name in _SUMS)).write.parquet(place)
    return {name: int(value or 0) for name, value in sums.get.items()}


def _problem(name: str, error: PortalError) -> tuple[str, str]:
    """Say why a table could not be looked at, and what to do."""
    if error.code in _OWN_WORDS:
        return error.code, error.message
    causes = causes_of(error.__cause__) if isinstance(error.__cause__, JAVA_ERRORS) else []
    return inspection_problem(name, causes, error.message)


def writes_in_use(table: IcebergTable, write_ids: Collection[str]) -> set[str]:
    """Return those that stand in the name of a file of any snapshot, on any branch.

    Raises:
        PortalError: the table went, or another lies under its name by now.
    """
    entries = table.spark.read.format("iceberg").load(f"{table.sql}.all_entries")
    name = F.substring_index("data_file.file_path", "/", -1)
    in_name = F.explode(F.regexp_extract_all(name, F.lit(IN_NAME), F.lit(1)))
    found = entries.where(F.col("status") != _DELETED).select(in_name.alias("write_id"))
    rows = found.where(F.col("write_id").isin(sorted(write_ids))).distinct().collect()
    # Read by its name: what was found counts only if the name still means this table.
    table.again()
    return {row["write_id"] for row in rows}
