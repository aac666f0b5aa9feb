"""Builds a judged, sorted Parquet row for every partition and every unpartitioned table.

One pass: read by JDBC, one shuffle into ordered buckets, then list, walk and judge in place.
Cheap bounds first: a fresh DDL time settles a row without touching files; a parent's listing gives
directories' own times; only what both clocks call old is walked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lifecycle.core.domain.enrollment import LIFECYCLE_LEVEL
from lifecycle.expiry.domain.rule import Directory, ExpiryClass, Terms
from lifecycle.inventory.jobs.expiry_columns import (
    is_near,
    metastore_ms,
    newest_near,
    with_judgement,
)
from lifecycle.inventory.jobs.files import FileFunctions
from lifecycle.inventory.jobs.holds import Holds
from lifecycle.inventory.jobs.image import NamespaceImage, is_enough, walked_columns
from lifecycle.inventory.jobs.spread import Spread
from lifecycle.inventory.jobs.tables import POLICY_SOURCE, Table
from lifecycle.rules.domain.conformity import Reason

ITEM_COLUMNS = (
    *("db", "tbl", "tbl_id", "tbl_type", "part_id", "part_name", "location"),
    *("level", "ttl", "policy_source", "ddl_time", "create_time", "mtime_ms", "atime_ms"),
    *("updated_ms", "winner", "due_ms", "due_on", "cls", "rule", "detail", "n_files", "n_bytes"),
    *("ready", "shared_with"),
)
# What later steps of the scan need of a row; readers of the result do not.
WORK_COLUMNS = (
    *("torder", "key", "run", "is_example", "standard", "outside", "missing", "fs_error"),
    *("n_pieces", "parts_waived_until"),
)
ALL_COLUMNS = (*ITEM_COLUMNS, *WORK_COLUMNS)
_ROWS = """torder int, part_id long, part_name string, create_time long, ddl_time long,
ready boolean, location string, readable boolean, standard boolean, key int"""
_TABLES = """torder int, tbl_id long, db string, tbl string, tbl_type string, root string,
level int, ttl int, problem string, unsupported string, reasons array<string>,
parts_waived_until date, table_hold string,
first_bucket int, splits array<string>"""
_NOT_READY = r"(?is)^\s*false\s*\z"
# A page shows the first of them; the rest is read from the items on demand.
_FEW_EXAMPLES = 50
_MANY_EXAMPLES = 1_000
_SETTLED = (
    ExpiryClass.NOT_NOW,
    ExpiryClass.NOT_ENROLLED,
    ExpiryClass.UNSUPPORTED,
    ExpiryClass.KEEP_FOREVER,
)


@dataclass(frozen=True, slots=True)
class ItemSources:
    """What the rows are made of."""

    spark: SparkSession
    tables: Sequence[Table]
    partitions: DataFrame
    spread: Spread
    holds: Holds
    files: FileFunctions
    terms: Terms
    image: NamespaceImage | None = None


def build_items(sources: ItemSources) -> DataFrame:
    """Return every row judged, in order within ordered partitions; nothing runs yet."""
    tables = _tables_frame(sources)
    rows = _partition_rows(sources, tables).unionByName(_table_rows(sources))
    if sources.image is not None:
        rows = rows.join(sources.image.facts, "location", "left")
    spread = rows.repartition(sources.spread.n_buckets, "key")
    known = spread.join(F.broadcast(tables.drop("first_bucket")), "torder")
    held = sources.holds.join_to(known)
    ordered = held.sortWithinPartitions("torder", "part_name")
    looked = _with_files(_with_path_rule(ordered), sources)
    judged = with_judgement(looked, sources.terms)
    full = judged.withColumns(
        {
            "policy_source": F.when(F.col("level").isNotNull(), F.lit(POLICY_SOURCE)).otherwise(""),
            "shared_with": F.lit(None).cast("string"),
            "n_pieces": F.size("splits") + 1,
        }
    )
    return numbered(full, sources.files).select(*ALL_COLUMNS)


def in_order(rows: DataFrame, n_buckets: int) -> DataFrame:
    """Spread rows into their buckets and sort each: files of the result are in order then."""
    return rows.repartition(n_buckets, "key").sortWithinPartitions("torder", "part_name")


def numbered(items: DataFrame, files: FileFunctions) -> DataFrame:
    """Number the runs of one class and choose the examples; `items` must be in order."""
    few = F.col("cls").isin([cls.value for cls in _SETTLED])
    limit = F.when(few, F.lit(_FEW_EXAMPLES)).otherwise(F.lit(_MANY_EXAMPLES))
    with_runs = items.withColumn("_run", files.runs(F.col("torder"), F.col("cls")))
    return with_runs.withColumns(
        {
            "run": F.col("_run.run"),
            # A table that is cut into pieces has its examples cut alike.
            "is_example": F.col("_run.rank") * F.col("n_pieces") <= limit,
        }
    )


def _tables_frame(sources: ItemSources) -> DataFrame:
    rows = []
    for table in sources.tables:
        share = sources.spread.shares[table.order]
        rows.append(
            (
                *(table.order, table.tbl_id, table.db, table.name, table.tbl_type),
                None if table.location is None else str(table.location),
                *(table.policy.level, table.policy.ttl, table.policy.problem),
                table.unsupported,
                [reason.value for reason in table.finding.reasons],
                table.finding.parts_waived_until,
                sources.holds.of_table(table),
                *(share.bucket, list(share.splits)),
            )
        )
    return sources.spark.createDataFrame(rows, _TABLES)


def _partition_rows(sources: ItemSources, tables: DataFrame) -> DataFrame:
    place = tables.select("tbl_id", "torder", "root", "first_bucket", "splits")
    read = sources.partitions.join(F.broadcast(place), "tbl_id")
    named = read.withColumns(
        {
            "part_name": F.coalesce("part_name", F.lit("")),
            "canonical": sources.files.canonical(F.col("location")),
        }
    )
    n_before = F.size(F.filter("splits", lambda split: split <= F.col("part_name")))
    return named.select(
        "torder",
        "part_id",
        "part_name",
        F.col("create_time").cast("long"),
        _epoch_seconds(F.col("ddl")).alias("ddl_time"),
        (~F.coalesce("flag", F.lit("")).rlike(_NOT_READY)).alias("ready"),
        F.coalesce("canonical", "location", F.lit("")).alias("location"),
        F.col("canonical").isNotNull().alias("readable"),
        F.coalesce(
            F.col("canonical") == F.concat(F.col("root"), F.lit("/"), F.col("part_name")),
            F.lit(col=False),
        ).alias("standard"),
        _key(F.col("first_bucket") + n_before, sources.spread).alias("key"),
    )


def _table_rows(sources: ItemSources) -> DataFrame:
    """Return one row for each table without partition keys."""
    keys, shares = sources.spread.keys, sources.spread.shares
    rows = [
        (
            *(table.order, 0, "", table.create_time, table.ddl_time, table.ready),
            table.raw_location if table.location is None else str(table.location),
            *(table.location is not None, True, keys[shares[table.order].bucket]),
        )
        for table in sources.tables
        if not table.is_partitioned
    ]
    return sources.spark.createDataFrame(rows, _ROWS)


def _key(bucket: Column, spread: Spread) -> Column:
    return F.element_at(F.array(*[F.lit(key) for key in spread.keys]), bucket + 1)


def _epoch_seconds(text: Column) -> Column:
    number = F.when(text.rlike(r"^[0-9]{1,10}\z"), text.cast("long"))
    return F.when(number != 0, number)


def _with_path_rule(items: DataFrame) -> DataFrame:
    """Judge whether a partition lies below its table, as `partition_conforms` does.

    `parts_waived_until` stays only where an exception of the table silences this partition.
    """
    below = F.col("location").startswith(F.concat(F.col("root"), F.lit("/")))
    outside = (F.col("part_id") != 0) & (~F.col("readable") | F.coalesce(~below, F.lit(col=False)))
    # A location that cannot be read is never waived.
    waived = F.col("parts_waived_until").isNotNull() & F.col("readable")
    own = F.array(F.lit(Reason.PART_PATH_NOT_IN_TBL.value))
    judged = items.withColumn("outside", outside).withColumn(
        "parts_waived_until", F.when(F.col("outside") & waived, F.col("parts_waived_until"))
    )
    counts = F.col("outside") & F.col("parts_waived_until").isNull()
    return judged.withColumn(
        "nonconforming",
        F.when(counts, F.concat("reasons", own)).otherwise(F.col("reasons")),
    )


def _with_files(items: DataFrame, sources: ItemSources) -> DataFrame:
    """Add what the files say, touching as few of them as the clocks allow."""
    terms, files = sources.terms, sources.files
    judged_by_age = (
        (F.col("unsupported") == "")
        & (F.col("problem") == "")
        & F.coalesce(F.col("level") == LIFECYCLE_LEVEL, F.lit(col=False))
        & F.col("ttl").isNotNull()
        & (F.size("nonconforming") == 0)
        & F.col("ready")
        & (F.col("hold") == "")
    )
    old = judged_by_age & F.coalesce(is_near(metastore_ms() + 1, terms), F.lit(col=True))
    # A table's own directory is always looked for: one listing of its database tells of them all.
    own_directory = (F.col("part_id") == 0) & (F.col("unsupported") == "") & F.col("readable")
    wanted = F.when(old | own_directory, F.col("location"))
    if sources.image is not None:
        return _with_image(items, sources, wanted=wanted, old=old)
    seen = items.withColumn("_seen", files.look(wanted, F.when(old, newest_near(terms))))
    return seen.withColumns(_seen_columns())


def _with_image(
    items: DataFrame, sources: ItemSources, *, wanted: Column, old: Column
) -> DataFrame:
    """Look at each directory's own time; walk only those that the image does not answer for."""
    terms, files = sources.terms, sources.files
    own = items.withColumn("_own", files.look(wanted, F.lit(None).cast("long")))
    own_ms = F.col("_own.mtime_ms")
    enough = F.coalesce(old & is_enough(own_ms, terms), F.lit(col=False))
    spared = own.withColumn("_spared", enough)
    walk = ~F.col("_spared")
    seen = spared.withColumn(
        "_seen", files.look(F.when(walk, wanted), F.when(walk & old, newest_near(terms)))
    )
    from_image = walked_columns(own_ms, access_times=files.access_times) | {
        "directory": F.lit(Directory.WALKED.value)
    }
    return seen.withColumns(
        {
            name: F.when(F.col("_spared"), from_image[name]).otherwise(column)
            if name in from_image
            else column
            for name, column in _seen_columns().items()
        }
    )


def _seen_columns() -> dict[str, Column]:
    """Return what `_seen` tells of a directory."""
    directory = (
        F.when(F.col("_seen.missing"), F.lit(Directory.MISSING.value))
        .when(F.col("_seen.walked"), F.lit(Directory.WALKED.value))
        .otherwise(F.lit(Directory.NOT_LOOKED.value))
    )
    return {
        "missing": F.coalesce(F.col("_seen.missing"), F.lit(col=False)),
        "directory": directory,
        "mtime_ms": F.col("_seen.mtime_ms"),
        "atime_ms": F.col("_seen.atime_ms"),
        "n_files": F.col("_seen.n_files"),
        "n_bytes": F.col("_seen.n_bytes"),
        "fs_error": F.col("_seen.error"),
    }
