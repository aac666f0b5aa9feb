"""The wide table of the bench on advice: laid out, indexed and given cubes by the product's jobs.

Bytes are counted in three ways: as Iceberg's own planFiles leaves them, as the indexed catalog
leaves them of what a query's plan reads (of cubes too), and as the JVM reads them from files.
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.advice_log import Query, columns
from bench.cube import bytes_read
from bench.index_scan import build
from bench.layout import DB, task_limits
from optimizer.advice.jobs import layout
from optimizer.iceberg.access.jobs.iceberg import open_table
from optimizer.iceberg.execution.jobs import optimize
from optimizer.iceberg.rewrite.jobs.planning import TaskColumns
from optimizer.pruning.jobs.prune import INDEXED, use_indexes
from portal.connectors.lake_config import LakeConfig
from tests.support.scan_spark import job_for


class WideTable:
    """The table, made in the order of its load."""

    def __init__(
        self, spark: SparkSession, config: LakeConfig, name: str, *, rows: int, files: int
    ) -> None:
        self.spark, self.config, self.name = spark, config, name
        self.jvm: Any = spark.sparkContext._jvm
        self.limits = task_limits()
        self.sql, self.indexed = f"lake.{DB}.{name}", f"{INDEXED}.{DB}.{name}"
        selected = [one.format(n=rows) for one in columns()]
        spark.range(0, rows, 1, files).selectExpr(*selected).writeTo(self.sql).using(
            "iceberg"
        ).tableProperty("write.distribution-mode", "none").create()
        use_indexes(spark, config)
        table = open_table(spark, DB, name)
        self.first, self.uuid = table.snapshot_id, table.uuid
        self.n_files, self.n_bytes = files, self.size(self.sql)

    def size(self, table: str) -> int:
        """Return the bytes of a table's data files."""
        listed = self.spark.table(f"{table}.files").selectExpr("sum(file_size_in_bytes) AS n")
        row = listed.first()
        return int(row["n"]) if row else 0

    # -- what the product's jobs do to it --------------------------------------------------

    def looked(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Have the job of advice look at the table."""
        row = {
            **{"id": 1, "db": DB, "table": self.name, "uuid": self.uuid},
            **{"target_bytes": self.n_bytes // self.n_files, **asked},
        }
        job = job_for(self.spark, self.config, {"tables": [row]}, now=datetime.now(UTC))
        with redirect_stdout(sys.stderr):
            (found,) = layout.run(self.spark, job)["tables"]
        if "problem" in found:
            raise SystemExit(f"{self.name}: {found['problem']}")
        return dict(found)

    def back(self) -> None:
        """Go back to the order of the load."""
        at = f"table => '{DB}.{self.name}', snapshot_id => {self.first}"
        self.spark.sql(f"CALL lake.system.rollback_to_snapshot({at})").collect()

    def lay_out(self, wanted: str) -> None:
        """Have the rows put into an order, from that of the load."""
        self.back()
        self._task("CLUSTER", layout=wanted)

    def zorder(self, names: Sequence[str]) -> None:
        """Have Iceberg lay the table out by its own Z-order."""
        self.back()
        options = f"'rewrite-all','true','target-file-size-bytes','{self.n_bytes // self.n_files}'"
        how = f"strategy => 'sort', sort_order => 'zorder({','.join(names)})'"
        call = f"table => '{DB}.{self.name}', {how}, options => map({options})"
        self.spark.sql(f"CALL lake.system.rewrite_data_files({call})").collect()

    def index(self, names: Sequence[str]) -> None:
        """Have indexes of some columns built."""
        with redirect_stdout(sys.stderr):
            build(self.spark, self.config, self.name, names)

    def forget_indexes(self) -> None:
        """Take all indexes away."""
        location = open_table(self.spark, DB, self.name).location
        shutil.rmtree(Path(location.removeprefix("file:")) / "_lakewarden")

    def add_cubes(self, definitions: Sequence[Mapping[str, Any]]) -> None:
        """Have cubes built; those that are there stay."""
        self._task("CUBE", cubes=list(definitions))

    def use_cubes(self, *, on: bool) -> None:
        """Let queries be answered from cubes, or not."""
        self.spark.conf.set("spark.lakewarden.cubes.enabled", str(on).lower())

    def _task(self, kind: str, **asked: Any) -> None:
        task = {
            **{"task": 1, "db": DB, "table": self.name, "uuid": self.uuid, "kind": kind},
            **{"partitions": None, "target_bytes": self.n_bytes // self.n_files},
            **{"layout": "", "boundaries": None, "write_ids": [], **self.limits, **asked},
        }
        job = job_for(self.spark, self.config, {"tasks": [task]}, now=datetime.now(UTC))
        with redirect_stdout(sys.stderr):
            (result,) = optimize.run(self.spark, job)["results"]
        if result["outcome"] != "DONE":
            raise SystemExit(f"{kind} {asked}: {result['outcome']} {result['reason']}")

    # -- bytes -----------------------------------------------------------------------------

    def planned(self, queries: Sequence[Query]) -> list[int]:
        """Return the bytes that Iceberg's own planning leaves each query."""
        table = open_table(self.spark, DB, self.name)
        steps = TaskColumns(table.columns)
        make = self.jvm.org.apache.iceberg.expressions.Expressions
        found = []
        for query in queries:
            scan = table.java.newScan().ignoreResiduals()
            for column, operation, value in query.where:
                given = self._listed(value) if isinstance(value, list) else value
                scan = scan.filter(getattr(make, operation)(column, given))
            planned = scan.planFiles()
            tasks = table.listed(planned)
            planned.close()
            found.append(
                sum(table.columns.numbers(tasks, steps.file, steps.length)) if tasks.size() else 0
            )
        return found

    def _listed(self, values: Sequence[Any]) -> Any:
        found = self.jvm.java.util.ArrayList()
        for one in values:
            found.add(one)
        return found

    def told(self, queries: Sequence[Query]) -> list[tuple[int, bool]]:
        """Return the bytes that indexes leave of a query's plan, and whether a cube answers it."""
        found = []
        for query in queries:
            frame = self.spark.sql(query.sql(self.indexed))._jdf
            scans = [dict(one) for one in self.jvm.lakewarden.indexes.Planning.of(frame)]
            read = (str(one["kept"][0]) for one in scans if one["kept"])
            is_cube = any(f"/{self.name}__cube_" in location for location in read)
            found.append((sum(int(one["kept_bytes"]) for one in scans), is_cube))
        return found

    def read(self, queries: Sequence[Query]) -> tuple[list[float], list[Any]]:
        """Run queries; return the bytes that each reads from files, metadata too, and its rows."""
        n_bytes, answers = [], []
        for query in queries:
            before = bytes_read(self.spark)
            rows = self.spark.sql(query.sql(self.indexed)).collect()
            n_bytes.append(bytes_read(self.spark) - before)
            answers.append(sorted(map(tuple, rows)))
        return n_bytes, answers
