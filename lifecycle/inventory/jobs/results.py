"""Writes scan results beside items: tables, databases, ranges, examples, findings and totals.

The items are read once more, narrowly, for the runs of one class; tables, databases and totals are
sums over runs, so nothing else touches a million rows.
"""

from collections.abc import Iterable
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.jobs.items import ITEM_COLUMNS
from lifecycle.inventory.jobs.tables import POLICY_SOURCE, Catalog, Table
from lifecycle.rules.domain.conformity import Finding, Reason
from portal.lake.places import DEFAULT_CATALOG
from portal.spark.registered import RegisteredPlaces

_FALLS_DUE = (
    *(ExpiryClass.CLEAN_NOW, ExpiryClass.SOON, ExpiryClass.STILL_READ, ExpiryClass.NOT_NOW),
)
_FINDING = """kind string, db string, tbl string, part_name string, location string,
reasons array<string>, related array<string>, hint string, waived array<string>,
excepted_until date"""
_TABLE = """torder int, db string, tbl string, tbl_id long, owner string, tbl_type string,
format string, uuid string, create_time long, location string, level int, ttl int,
policy_source string, enrolled boolean, reasons array<string>, unsupported_reason string"""
_DATABASE = "db string, owner string, location string, reasons array<string>"


def build_runs(items: DataFrame) -> DataFrame:
    """Return one row for each unbroken run of one class in a table, in order."""
    return (
        items.groupBy("torder", "key", "run", "cls", "db", "tbl", "tbl_id")
        .agg(
            F.min("part_name").alias("first_part"),
            F.max("part_name").alias("last_part"),
            F.count(F.lit(1)).alias("n"),
            F.count(F.when(F.col("part_id") != 0, 1)).alias("n_partitions"),
            F.sum("n_bytes").alias("n_bytes"),
            F.sum("n_files").alias("n_files"),
            F.min("due_on").alias("due_first"),
            F.max("due_on").alias("due_last"),
            F.min("updated_ms").alias("oldest_updated_ms"),
            F.max("updated_ms").alias("newest_updated_ms"),
            F.count(F.when(F.col("missing"), 1)).alias("n_missing"),
            F.count(F.when(F.col("outside") & F.col("parts_waived_until").isNull(), 1)).alias(
                "n_outside"
            ),
            F.count("fs_error").alias("n_fs_errors"),
        )
        .orderBy("torder", "first_part")
    )


def ranges(runs: DataFrame) -> DataFrame:
    """Return the contiguous partition ranges of each table and class."""
    names = ["db", "tbl", "tbl_id", "cls", "first_part", "last_part", "n", "n_bytes", "n_files"]
    return runs.select(*names, "due_first", "due_last")


def examples(items: DataFrame) -> DataFrame:
    """Return the first rows of each table and class: at most 1,000, 50 of those left alone."""
    return items.where("is_example").select(*ITEM_COLUMNS)


def tables(runs: DataFrame, catalog: Catalog, spark: SparkSession) -> DataFrame:
    """Return one row a table: what it is, and how much of it stands in each class."""
    falls_due = F.col("cls").isin([cls.value for cls in _FALLS_DUE])
    sums = runs.groupBy("torder").agg(
        F.sum("n_partitions").alias("n_partitions"),
        *_by_class("n", "n_"),
        *_by_class("n_bytes", "bytes_"),
        F.min("oldest_updated_ms").alias("oldest_updated_ms"),
        F.max("newest_updated_ms").alias("newest_updated_ms"),
        F.min(F.when(falls_due, F.col("due_first"))).alias("next_due_on"),
        F.sum("n_files").alias("n_files"),
        F.sum("n_bytes").alias("n_bytes"),
    )
    known = spark.createDataFrame([_table_row(table) for table in catalog.tables], _TABLE)
    joined = known.join(sums, "torder", "left")
    counts = ["n_partitions", *(f"n_{cls.value.lower()}" for cls in ExpiryClass)]
    return joined.fillna(0, counts).orderBy("torder").drop("torder")


def databases(table_rows: DataFrame, catalog: Catalog, spark: SparkSession) -> DataFrame:
    """Return one row a database."""
    counts = ["n_partitions", "n_clean_now", "n_soon", "bytes_clean_now", "bytes_soon"]
    sums = table_rows.groupBy("db").agg(
        F.count(F.lit(1)).alias("n_tables"), *(F.sum(name).alias(name) for name in counts)
    )
    rows = [
        (
            *(db.name, db.owner, "" if db.location is None else str(db.location)),
            [reason.value for reason in catalog.findings.databases[db.name].reasons],
        )
        for db in catalog.databases
    ]
    known = spark.createDataFrame(rows, _DATABASE)
    return known.join(sums, "db", "left").fillna(0, ["n_tables", *counts]).orderBy("db")


def others(places: RegisteredPlaces) -> DataFrame:
    """Return one row for each place that a scan does not judge; it can only refuse.

    A database of another catalog is named with its catalog, so that it is nobody else's.
    """
    foreign = ~F.col("catalog").isin("", DEFAULT_CATALOG)
    db = F.when(foreign, F.concat_ws(".", "catalog", "db")).otherwise(F.col("db"))
    return places.outside(DEFAULT_CATALOG).select(db.alias("db"), "tbl", "part_name", "location")


def findings(items: DataFrame, catalog: Catalog, spark: SparkSession) -> DataFrame:
    """Return one row for everything that does not conform, waived or not, partitions too."""
    places = {db.name: str(db.location or "") for db in catalog.databases}
    rows = [
        _finding_row("DATABASE", found, places[found.db])
        for found in catalog.findings.databases.values()
        if found.breaches
    ]
    rows += [
        _finding_row("TABLE", table.finding, table.raw_location)
        for table in catalog.tables
        if table.finding.breaches
    ]
    own = F.array(F.lit(Reason.PART_PATH_NOT_IN_TBL.value))
    none = F.array().cast("array<string>")
    is_excepted = F.col("parts_waived_until").isNotNull()
    hint = F.when(
        F.col("location").contains("://"),
        F.lit("The partition is outside its table; move it, then set its location."),
    ).otherwise(F.lit("The location cannot be read as a path; set it to the plain absolute path."))
    partitions = items.where("outside").select(
        F.lit("PARTITION").alias("kind"),
        "db",
        "tbl",
        "part_name",
        "location",
        F.when(is_excepted, none).otherwise(own).alias("reasons"),
        F.array(F.concat("db", F.lit("."), "tbl")).alias("related"),
        hint.alias("hint"),
        F.when(is_excepted, own).otherwise(none).alias("waived"),
        F.col("parts_waived_until").alias("excepted_until"),
    )
    return spark.createDataFrame(rows, _FINDING).unionByName(partitions)


def totals(runs: DataFrame) -> dict[str, Any]:
    """Return the sums over the whole lake, by class."""
    found: dict[str, Any] = {"classes": {}, "n_items": 0, "n_partitions": 0}
    sums = ("n", "n_bytes", "n_files", "n_partitions", "n_missing", "n_outside", "n_fs_errors")
    rows: Iterable[Row] = (
        runs.groupBy("cls").agg(*(F.sum(name).alias(name) for name in sums)).collect()
    )
    extra = dict.fromkeys(("n_missing", "n_outside", "n_fs_errors"), 0)
    for row in rows:
        found["classes"][row["cls"]] = {
            "n": row["n"],
            "bytes": row["n_bytes"] or 0,
            "files": row["n_files"] or 0,
        }
        found["n_items"] += row["n"]
        found["n_partitions"] += row["n_partitions"]
        extra = {name: count + row[name] for name, count in extra.items()}
    return found | extra


def _by_class(source: str, prefix: str) -> list[Any]:
    return [
        F.sum(F.when(F.col("cls") == cls.value, F.col(source))).alias(prefix + cls.value.lower())
        for cls in ExpiryClass
    ]


def _table_row(table: Table) -> tuple[Any, ...]:
    policy = table.policy
    return (
        *(table.order, table.db, table.name, table.tbl_id, table.owner, table.tbl_type),
        *(table.format, table.uuid, table.create_time),
        table.raw_location if table.location is None else str(table.location),
        *(policy.level, policy.ttl, "" if policy.level is None else POLICY_SOURCE),
        *(policy.enrolled, [reason.value for reason in table.finding.reasons]),
        table.unsupported,
    )


def _finding_row(kind: str, finding: Finding, location: str) -> tuple[Any, ...]:
    reasons = [reason.value for reason in finding.reasons]
    names = (finding.db, finding.table, "")
    waived = [reason.value for reason in finding.waived]
    said = (list(finding.related), finding.hint)
    return (kind, *names, location, reasons, *said, waived, finding.excepted_until)
