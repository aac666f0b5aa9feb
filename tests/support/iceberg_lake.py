"""A small Iceberg lake on a stack's metastore: tables, writers, and what lies on the disk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from threading import RLock
from typing import Any

from pyspark.sql import SparkSession

from optimizer.iceberg.access.jobs.iceberg import IcebergTable, open_table, use_iceberg
from optimizer.iceberg.execution.jobs import optimize as rewrite
from portal.connectors.lake_config import LakeConfig
from portal.spark.job import JobContext
from tests.support.scan_spark import activate, job_for

Row = tuple[int, str, str | None]
_TARGET = 1 << 20
_names = count(1)
DAYS = ("2026-05-01", "2026-05-02")


@dataclass
class IcebergLake:
    """One database of Iceberg tables with columns id, dt, word."""

    spark: SparkSession
    config: LakeConfig
    db: str
    root: Path

    @classmethod
    def make(cls, spark: SparkSession, config: LakeConfig, *, db: str, root: str) -> "IcebergLake":
        use_iceberg(spark, config)
        activate(spark)
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS lake.{db} LOCATION '{root}'")
        return cls(spark, config, db, Path(root.removeprefix("file:")))

    def table(
        self, *, version: int = 2, by: str = "dt", name: str = "", **settings: str
    ) -> "WrittenTable":
        name = name or f"t{next(_names)}"
        given = {
            "format-version": str(version),
            "write.delete.mode": "merge-on-read",
            "write.merge.mode": "merge-on-read",
            "write.update.mode": "merge-on-read",
            **{key.replace("__", "."): value for key, value in settings.items()},
        }
        said = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        partitioned = f"PARTITIONED BY ({by})" if by else ""
        self.spark.sql(
            f"CREATE TABLE lake.{self.db}.{name} (id BIGINT, dt STRING, word STRING) "
            f"USING iceberg {partitioned} TBLPROPERTIES ({said})"
        )
        return WrittenTable(self, name)

    def task(self, table: "WrittenTable", n: int = 1, **changed: Any) -> dict[str, Any]:
        return {
            "task": n,
            "db": self.db,
            "table": table.name,
            "uuid": table.opened.uuid,
            "kind": "MINOR",
            "partitions": None,
            "target_bytes": _TARGET,
            "layout": "",
            "boundaries": None,
            "max_group_bytes": 64 * _TARGET,
            "max_commits": 1,
            "min_files": 2,
            **changed,
        }

    def job(self, tasks: Sequence[dict[str, Any]]) -> JobContext:
        return job_for(
            self.spark, self.config, {"tasks": list(tasks)}, now=datetime(2026, 5, 1, tzinfo=UTC)
        )

    def interrupted(self, *tasks: dict[str, Any]) -> "Interrupted":
        """Return the job of some tasks, for something to happen in its middle."""
        job = self.job(tasks)
        return Interrupted(
            job.run, job.epoch, job.config, job.params, job.now, job.spool, job.spark
        )

    def optimize(self, *tasks: dict[str, Any]) -> list[dict[str, Any]]:
        results: list[dict[str, Any]] = rewrite.run(self.spark, self.job(tasks))["results"]
        return results


@dataclass(frozen=True)
class WrittenTable:
    """A table of the lake, as its writers and readers see it."""

    lake: IcebergLake
    name: str

    @property
    def sql(self) -> str:
        return f"lake.{self.lake.db}.{self.name}"

    @property
    def opened(self) -> IcebergTable:
        return open_table(self.lake.spark, self.lake.db, self.name)

    def append(self, rows: Sequence[Row]) -> None:
        """Write the rows as one commit, one file a partition."""
        frame = self.lake.spark.createDataFrame(list(rows), "id BIGINT, dt STRING, word STRING")
        frame.coalesce(1).sortWithinPartitions("dt").writeTo(self.sql).append()

    def say(self, statement: str, **values: object) -> None:
        """Run SQL; {t} is the table."""
        self.lake.spark.sql(statement.format(t=self.sql, **values))

    def add_field(self, field: str) -> None:
        """Have what is written from now on be partitioned by a column too."""
        self.opened.java.updateSpec().addField(field).commit()

    def add_branch(self, branch: str) -> None:
        """Have a branch stand at the current snapshot."""
        self.opened.java.manageSnapshots().createBranch(branch).commit()

    def rows(self, **options: Any) -> list[Any]:
        """Return the rows in order; `snapshot_id` or `branch` may be named."""
        read = self.lake.spark.read
        for key, value in options.items():
            read = read.option(key.replace("_", "-"), str(value))
        found = read.table(self.sql).collect()
        return sorted(found, key=repr)

    def files(self, what: str = "data_files") -> list[Any]:
        return self.lake.spark.table(f"{self.sql}.{what}").collect()

    def snapshots(self) -> list[Any]:
        found = self.lake.spark.table(f"{self.sql}.snapshots")
        return found.orderBy("committed_at", "snapshot_id").collect()

    def summary(self) -> dict[str, str]:
        return dict(self.opened.snapshot.summary())  # type: ignore[union-attr]  # a written table

    def unknown_files(self) -> set[str]:
        """Return the data files, delete files and markers on the disk that no snapshot names."""
        place = Path(self.opened.location.removeprefix("file:"))
        known = {
            row["file_path"].removeprefix("file:")
            for what in ("all_data_files", "all_delete_files")
            for row in self.files(what)
        }
        found = {
            str(path)
            for folder in ("data", "_lakewarden")
            for path in (place / folder).rglob("*")
            if path.is_file() and not path.name.startswith(".")
        }
        return found - known


class Interrupted(JobContext):
    """A job in whose middle something happens: the n-th time that it asks whether to go on."""

    asked, at, every = 0, 0, False
    one_at_a_time = RLock()

    def happen(self, n: int, what: Callable[[], object], *, every: bool = False) -> "Interrupted":
        self.at, self.what, self.every = n, what, every
        return self

    def check_control(self) -> None:
        with self.one_at_a_time:
            self.asked += 1
            if self.asked == self.at or (self.every and self.asked > self.at):
                self.what()
        self._control_read = float("-inf")
        super().check_control()


def small_files(table: WrittenTable, n: int) -> WrittenTable:
    """Append n times six rows of two days."""
    for k in range(n):
        table.append([(10 * k + i, DAYS[i % 2], f"w{k}.{i}" if i % 3 else None) for i in range(6)])
    return table
