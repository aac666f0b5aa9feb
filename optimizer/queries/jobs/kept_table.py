"""The lake's Iceberg table of recorded queries: its columns, its making, and how it is known.

A table is ours if it says so of itself and has just our columns. Nothing is ever done to another.
"""

from datetime import UTC, datetime, time, timedelta

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructType,
    TimestampType,
)

from optimizer.iceberg.access.jobs.errors import GONE, NOT_ICEBERG, clear_errors
from optimizer.iceberg.access.jobs.iceberg import CATALOG, IcebergTable, open_table
from portal.lake.errors import PortalError, RuleViolation
from portal.lake.names import quoted

MARKER = "lakewarden.recorded-queries"
VERSION = "1"
_STRING, _LONG, _TRUTH, _TIME = StringType(), LongType(), BooleanType(), TimestampType()
_FILTER = StructType().add("column", _STRING).add("kind", _STRING)
_SCAN = (
    StructType()
    .add("db", _STRING)
    .add("table", _STRING)
    .add("filters", ArrayType(_FILTER))
    .add("n_bytes", _LONG)
    .add("n_files", _LONG)
    .add("share", DoubleType())
)
COLUMNS: tuple[tuple[str, DataType, str], ...] = (
    ("engine", _STRING, "spark, trino"),
    ("query_id", _STRING, "the engine's own"),
    ("ended_at", _TIME, "as the engine says, or took_at where that cannot be"),
    ("took_at", _TIME, "when the portal was told"),
    ("user", _STRING, "who asked, as the engine says"),
    ("application", _STRING, "with which program"),
    ("seconds", DoubleType(), "that it took; of n_queries together"),
    ("n_bytes", _LONG, "that it read; of n_queries together"),
    ("failed", _TRUTH, "whether it failed"),
    ("n_queries", _LONG, "more than 1: so many alike within a minute, in one row"),
    ("shape", _STRING, "digest of the text without constants"),
    ("text", _STRING, "without constants"),
    ("is_parsed", _TRUTH, "false: only its words were read"),
    ("hashes", ArrayType(_STRING), "of its constants, with a key of the portal"),
    ("constants", ArrayType(_STRING), "for each ? of the text, where policies allow it"),
    ("names_all_tables", _TRUTH, "whether tables names all that it reads"),
    ("tables", ArrayType(_SCAN), "what it read of each table at each place"),
    ("segment", _STRING, "the portal's file that it came in"),
)
_SETTINGS = {
    MARKER: VERSION,
    "format-version": "2",
    "write.metadata.delete-after-commit.enabled": "true",
}


def kept_schema() -> StructType:
    """Return the columns of the table."""
    found = StructType()
    for name, kind, _ in COLUMNS:
        found = found.add(name, kind)
    return found


def kept_sql(name: str) -> str:
    """Return the table's name, `db.table`, as Spark SQL takes it."""
    db, _, table = name.partition(".")
    return f"{CATALOG}.{quoted(db)}.{quoted(table)}"


def kept_table(spark: SparkSession, name: str) -> IcebergTable:
    """Open the table of recorded queries, or make it where there is none.

    Raises:
        RuleViolation: `queries.not_ours`, `queries.database`.
    """
    try:
        return known_table(spark, name)
    except PortalError as error:
        if error.code != GONE:
            raise
    listed = ", ".join(
        f"{quoted(column)} {kind.simpleString()} COMMENT {_literal(said)}"
        for column, kind, said in COLUMNS
    )
    said = ", ".join(f"{_literal(key)} = {_literal(value)}" for key, value in _SETTINGS.items())
    try:
        with clear_errors(name):
            spark.sql(
                f"CREATE TABLE {kept_sql(name)} ({listed}) USING iceberg "
                f"PARTITIONED BY (days(ended_at)) "
                f"COMMENT 'Queries that engines told of, kept by Lakewarden' TBLPROPERTIES ({said})"
            )
    except PortalError as error:
        if error.code != GONE:
            raise
        raise RuleViolation(
            "queries.database",
            f"The database of {name}, which lakes.json names in `recorded_queries`, does not "
            "exist. Create it, or name another.",
            table=name,
        ) from error
    return known_table(spark, name)


def known_table(spark: SparkSession, name: str) -> IcebergTable:
    """Open the table of recorded queries.

    Raises:
        StaleState: `iceberg.gone`. RuleViolation: `queries.not_ours`.
    """
    db, _, table = name.partition(".")
    try:
        found = open_table(spark, db, table)
    except PortalError as error:
        if error.code != NOT_ICEBERG:
            raise
        raise _not_ours(name, "it is no Iceberg table") from error
    if found.properties.get(MARKER) != VERSION:
        raise _not_ours(name, f"it has no property {MARKER} = {VERSION}")
    has = [(one.name, one.dataType.simpleString()) for one in spark.table(found.sql).schema]
    if has != [(one.name, one.dataType.simpleString()) for one in kept_schema()]:
        raise _not_ours(name, "it has other columns")
    return found


def days_remove(table: IcebergTable, *, before: datetime) -> bool:
    """Remove whole days of queries that ended before the day of an instant; False: there are none.

    No data file is read or written: files that hold other days too stop it.
    """
    day = datetime.combine(before.astimezone(UTC).date(), time(), UTC)
    micros = (day - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    java = table.again().java
    old = table.jvm.org.apache.iceberg.expressions.Expressions.lessThan("ended_at", micros)
    with clear_errors(table.name):
        files = java.newScan().filter(old).planFiles()
        try:
            if not files.iterator().hasNext():
                return False
        finally:
            files.close()
        java.newDelete().deleteFromRowFilter(old).commit()
    return True


def lately(table: IcebergTable, *, since: datetime, until: datetime) -> DataFrame:
    """Return the queries that ended in a time."""
    rows = table.spark.table(table.sql)
    return rows.where((F.col("ended_at") >= F.lit(since)) & (F.col("ended_at") < F.lit(until)))


def _not_ours(name: str, reason: str) -> RuleViolation:
    return RuleViolation(
        "queries.not_ours",
        f"{name} is not the table of recorded queries: {reason}. Nothing was written to it; name "
        "another table in `recorded_queries` of lakes.json.",
        table=name,
    )


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
