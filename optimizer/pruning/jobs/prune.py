"""The program `prune`: plans the tables of a query with their file indexes, and reads no data.

Each place where the query reads a table is planned by itself, as Spark plans a SELECT with the
conditions that both engines read alike, at one snapshot, through the catalog that uses indexes.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from py4j.java_gateway import JavaPackage
from pyspark.sql import SparkSession

from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import (
    IcebergTable,
    iceberg_session_settings,
    open_table,
    use_iceberg,
)
from optimizer.pruning.domain.queries import Narrowed, Query, TableUse
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.lake.names import quoted
from portal.spark.job import JobContext

INDEXED = "indexed"
CATALOG_CLASS = "lakewarden.indexes.IndexedSparkCatalog"


@dataclass
class Planned:
    """What became of one use of a table: its files, and why each index was used or was not."""

    number: int
    table: str
    alias: str
    snapshot: int | None = None
    condition: str = ""
    n_files: int = 0
    n_bytes: int = 0
    n_kept: int = 0
    kept_bytes: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    unused: Mapping[str, int] = field(default_factory=dict)
    whole: str = ""
    """Why the query reads the table as before; empty where it was narrowed."""


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Narrow the query of the request; gives it back with what was planned for each table."""
    use_iceberg(spark, job.config)
    use_indexes(spark, job.config)
    query = Query(job.params["sql"], job.params["dialect"])
    most = int(job.params["max_files"])
    tables = {use.name: open_table(spark, use.db, use.table) for use in query.uses}
    types = {name: types_of(spark, table) for name, table in tables.items()}
    planned: list[Planned] = []
    answers: dict[int, Narrowed] = {}
    for use in query.uses:
        job.check_control()
        job.progress("plan", use.number, len(query.uses), use.name)
        found, kept = plan_use(spark, tables[use.name], use, query.condition(use, types))
        if not found.whole and found.n_kept > most:
            found.whole = f"{found.n_kept:,} files would be listed; the limit is {most:,}"
        if not found.whole and found.snapshot is not None:
            answers[use.number] = Narrowed(found.snapshot, kept)
        planned.append(found)
    return {"sql": query.narrowed(answers), "tables": [asdict(one) for one in planned]}


def use_indexes(spark: SparkSession, config: LakeConfig) -> None:
    """Set the catalog up that uses file indexes; twice is harmless.

    Raises:
        ExternalFailure: `iceberg.jar`, the indexed catalog is not on the class path.
    """
    jvm: Any = spark.sparkContext._jvm
    if isinstance(jvm.lakewarden.indexes.IndexedSparkCatalog, JavaPackage):
        raise ExternalFailure(
            "iceberg.jar",
            "Spark was started without the indexed catalog: put indexed-catalog.jar into "
            f"`spark_jars` of the lake {config.lake}.",
            service="spark",
            retryable=False,
        )
    prefix = f"spark.sql.catalog.{INDEXED}"
    spark.conf.set(prefix, CATALOG_CLASS)
    settings = iceberg_session_settings(config)
    for key in ("type", "uri", "cache-enabled"):
        spark.conf.set(f"{prefix}.{key}", settings[f"spark.sql.catalog.lake.{key}"])


def types_of(spark: SparkSession, table: IcebergTable) -> dict[str, str]:
    """Return the type of each column in Spark's words, by its lower-case name."""
    schema = spark.table(table.sql).schema
    return {one.name.lower(): one.dataType.simpleString() for one in schema.fields}


def plan_use(
    spark: SparkSession, table: IcebergTable, use: TableUse, condition: str
) -> tuple[Planned, list[str]]:
    """Plan one use; gives what was found, and the files that are kept."""
    found = Planned(use.number, use.name, use.alias, condition=condition)
    snapshot = use.snapshot or table.snapshot_id
    found.snapshot = snapshot or None
    if use.whole:
        found.whole = use.whole
    elif not snapshot:
        found.whole = "it has no rows yet"
    elif not condition:
        found.whole = "nothing is asked of its columns that Spark and the engine read alike"
    if found.whole:
        return found, []
    name = f"{INDEXED}.{quoted(use.db)}.{quoted(use.table)}"
    jvm: Any = spark.sparkContext._jvm
    with clear_errors(use.name):
        # The condition was written by `conditions.py`, from constants and quoted names alone.
        version = f"VERSION AS OF {snapshot}"
        text = " ".join(["SELECT * FROM", name, version, "WHERE", condition])
        frame = spark.sql(text)._jdf
        scans = jvm.lakewarden.indexes.Planning.of(frame)
        if scans.size() != 1:
            found.n_files = max(table_files(table, snapshot), 0)
            if not is_empty(frame):
                found.whole = "Spark did not plan it through the indexed catalog"
            return found, []
        scan = dict(scans.get(0))
    kept = sorted(str(path) for path in scan["kept"])
    found.n_files, found.n_bytes = int(scan["files"]), int(scan["bytes"])
    found.n_kept, found.kept_bytes = len(kept), int(scan["kept_bytes"])
    found.dropped = {str(key): int(n) for key, n in dict(scan["dropped"]).items()}
    found.unused = {str(key): int(n) for key, n in dict(scan["unused"]).items()}
    if len(kept) == table_files(table, snapshot):
        found.whole = "no file can be left out"
    return found, kept


def is_empty(frame: Any) -> bool:
    """Whether Spark saw that nothing can match, so that no scan is left in the plan."""
    leaves = frame.queryExecution().optimizedPlan().collectLeaves()
    names = [leaves.apply(n).getClass().getSimpleName() for n in range(leaves.size())]
    return names == ["LocalRelation"]


def table_files(table: IcebergTable, snapshot: int) -> int:
    """Return how many data files a snapshot has, -1 where its writer does not say."""
    summary = table.java.snapshot(snapshot).summary() or {}
    return int(summary.get("total-data-files") or -1)
