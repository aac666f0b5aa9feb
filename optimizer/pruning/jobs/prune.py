"""The program `prune`: plans the tables of a query with their file indexes.

It reads no data but the keys of small tables that the query joins and filters (`join_keys.py`).

Each place where the query reads a table is planned by itself, as Spark plans a SELECT with the
conditions that both engines read alike, at one snapshot, through the catalog that uses indexes.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
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
from optimizer.pruning.domain.queries import Narrowed, Query
from optimizer.pruning.domain.uses import Names, TableUse
from optimizer.pruning.jobs.join_keys import MOST_KEYS, Joined, JoinKeys, join_keys
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure, RuleViolation
from portal.lake.names import quoted
from portal.spark.job import JobContext

INDEXED = "indexed"
NOT_OURS = "there is no Iceberg table of this name for you in this lake"
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
    keys: list[str] = field(default_factory=list)
    """What joins asked of its files, and why the table is pinned for another one's sake."""
    whole: str = ""
    """Why the query reads the table as before; empty where it was narrowed."""


@dataclass(frozen=True)
class Pruned:
    """The query to be run instead, and what became of each use of a table."""

    sql: str
    tables: list[Planned]


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Narrow the query of the request; gives it back with what was planned for each table."""
    use_iceberg(spark, job.config)
    use_indexes(spark, job.config)
    params = job.params
    names = Names(catalog=params.get("catalog", ""), schema=params.get("schema", ""))
    query = Query(params["sql"], params["dialect"], names)

    def on_use(use: TableUse) -> None:
        job.check_control()
        job.progress("plan", use.number, len(query.uses), use.name)

    known = params.get("tables", [use.name for use in query.uses])
    most = int(params["max_files"])
    found = narrow(spark, query, known, most=most, on_use=on_use, most_keys=MOST_KEYS)
    return {"sql": found.sql, "tables": [asdict(one) for one in found.tables]}


def narrow(
    spark: SparkSession,
    query: Query,
    known: Collection[str],
    *,
    most: int,
    on_use: Callable[[TableUse], None],
    most_keys: int = 0,
) -> Pruned:
    """Narrow a query; tables that are not `known` are read as before, and are not opened.

    With `most_keys` up to so many keys of a joined table are read to narrow another one; both are
    then pinned to the snapshots that were looked at.
    """
    uses = [use for use in query.uses if use.name in known]
    tables = {use.name: open_table(spark, use.db, use.table) for use in uses}
    snapshots = {use.number: use.snapshot or tables[use.name].snapshot_id for use in uses}
    seen = {
        use.number: columns_at(spark, tables[use.name], use, snapshots[use.number]) for use in uses
    }
    types = {number: types for number, (types, _) in seen.items()}
    pinned = {
        use.number: replace(
            use,
            snapshot=snapshots[use.number] or None,
            whole=use.whole or seen[use.number][1],
        )
        for use in uses
    }
    conditions = {use.number: query.condition(use, types) for use in uses}
    opened = {use.number: tables[use.name] for use in uses}
    joined = Joined(INDEXED, pinned, opened, conditions, types)
    keys = join_keys(spark, query, joined, most=most_keys) if most_keys else {}
    planned: list[Planned] = []
    answers: dict[int, Narrowed] = {}
    for use in query.uses:
        if use.name not in known:
            planned.append(Planned(use.number, use.name, use.alias, whole=NOT_OURS))
            continue
        on_use(use)
        asked = keys.get(use.number, [])
        condition = " AND ".join(
            part for part in (conditions[use.number], *(one.condition for one in asked)) if part
        )
        found, kept = plan_use(spark, tables[use.name], pinned[use.number], condition)
        # A list of keys may be long; the words say how many there are.
        found.condition, found.keys = conditions[use.number], [one.words for one in asked]
        if not found.whole and found.n_kept > most:
            found.whole = f"{found.n_kept:,} files would be listed; the limit is {most:,}"
        if not found.whole and found.snapshot is not None:
            answers[use.number] = Narrowed(found.snapshot, kept)
        planned.append(found)
    _pin_partners(answers, planned, keys)
    try:
        return Pruned(query.narrowed(answers), planned)
    except RuleViolation as error:
        for one in planned:
            one.whole = one.whole or error.message
        return Pruned(query.sql, planned)


def _pin_partners(
    answers: dict[int, Narrowed], planned: list[Planned], keys: Mapping[int, list[JoinKeys]]
) -> None:
    """Pin the tables whose keys narrowed another one: the answer is right for that snapshot."""
    partners = {one.other for number in answers for one in keys.get(number, ()) if one.condition}
    for number in sorted(partners - answers.keys()):
        found = planned[number]
        if found.snapshot is not None:
            answers[number] = Narrowed(found.snapshot, None)
            found.keys.append("read at this snapshot, whose keys narrow another table")


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


def columns_at(
    spark: SparkSession, table: IcebergTable, use: TableUse, snapshot: int
) -> tuple[dict[str, str], str]:
    """Return each column's type in Spark's words, and why the use cannot be pinned to a snapshot.

    An engine that is given a snapshot reads the columns that the table had then. So a query that
    names none can be pinned only where the columns have not changed since.
    """
    if not snapshot:
        return {}, ""
    if table.java.snapshot(snapshot) is None:
        return {}, f"it has no snapshot {snapshot}"
    jvm: Any = spark.sparkContext._jvm
    then = jvm.org.apache.iceberg.util.SnapshotUtil.schemaFor(table.java, snapshot)
    fields = jvm.org.apache.iceberg.spark.SparkSchemaUtil.convert(then).fields()
    types = {str(one.name()).lower(): str(one.dataType().simpleString()) for one in fields}
    changed = use.snapshot is None and not then.sameSchema(table.java.schema())
    return types, "its columns changed after its last commit" if changed else ""


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
