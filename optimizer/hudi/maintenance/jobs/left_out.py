"""Reads the rows of log blocks that readers leave out, and what there is of their keys today.

Nothing is written here. A block is read by Hudi's own reader in the driver, with the table's schema
of today; the rows then are a DataFrame like any other.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from optimizer.hudi.inspect.domain.facts import LogBlock
from optimizer.hudi.inspect.jobs.keys import has_keys
from optimizer.hudi.inspect.jobs.slices import LogFile
from optimizer.hudi.maintenance.domain.recovery import COMES_BACK, Today
from optimizer.hudi.tables.jobs.table import OpenedTable
from portal.lake.errors import RuleViolation

_KEY_GENERATOR = "hoodie.table.keygenerator.type"
_PLAIN_KEYS = frozenset({"SIMPLE", "SIMPLE_AVRO", "NON_PARTITION", "NON_PARTITION_AVRO"})
MOST_ROWS = 100_000
KEY, PARTITION = "_hoodie_record_key", "_hoodie_partition_path"
TODAY = "_lakewarden_today"
_ORDER = "_lakewarden_order"
_COMMIT, _SEQUENCE = "_hoodie_commit_time", "_hoodie_commit_seqno"
_RECORD = "org.apache.hudi.common.model.HoodieRecord"
_INDEXED = "org.apache.hudi.common.model.SerializableIndexedRecord"
_WITH_META = True


@dataclass(frozen=True)
class LeftOut:
    """The newest left-out row of each key, what the table holds of it today, and the counts."""

    rows: DataFrame
    n_rows: dict[LogBlock, int]
    digest: str
    today: dict[Today, int]
    sample: list[str]


def ordering_field(table: OpenedTable) -> str:
    """Return the field by whose value the newer of two rows is told.

    Raises:
        RuleViolation: `hudi.no_order`, there is none, or another rule decides.
    """
    fields = [str(one) for one in table.config.getOrderingFields()]
    mode = str(table.config.getRecordMergeMode())
    if mode != "EVENT_TIME_ORDERING" or len(fields) != 1:
        raise RuleViolation(
            "hudi.no_order",
            f"{table.name}: its rows are merged by {mode} with {len(fields)} ordering fields. Only "
            "by EVENT_TIME_ORDERING with one can a newer row of today be told from an older one.",
        )
    return fields[0]


def check_keys(table: OpenedTable) -> None:
    """Refuse a table whose keys an upsert of ours might make otherwise than its writer.

    Raises:
        RuleViolation: `hudi.other_keys`.
    """
    made_by = table.written.get(_KEY_GENERATOR, "")
    has_fields = bool(str(table.config.getRecordKeyFieldProp() or ""))
    if made_by not in _PLAIN_KEYS or not has_fields or not has_keys(table):
        raise RuleViolation(
            "hudi.other_keys",
            f"{table.name}: its keys are made by {made_by or 'an unknown generator'}. Rows are "
            "brought back only where they are plain fields of the row that stand in it.",
        )


def read_left_out(
    table: OpenedTable, blocks: Iterable[LogBlock], logs: Iterable[LogFile]
) -> LeftOut:
    """Read the rows of some blocks and compare them with the table of today.

    Raises:
        RuleViolation: `hudi.no_order`, `hudi.other_keys`, `hudi.too_many_rows`,
            `hudi.partial_rows`.
    """
    ordering = ordering_field(table)
    check_keys(table)
    schema = table.hudi.common.table.TableSchemaResolver(table.java).getTableSchema(_WITH_META)
    by_name = {one.name: one for one in logs}
    records, n_rows = table.jvm.java.util.ArrayList(), {}
    for one in blocks:
        found = _records(table, by_name[one.log_file], one, schema)
        records.addAll(found)
        n_rows[one] = int(found.size())
        if records.size() > MOST_ROWS:
            raise RuleViolation(
                "hudi.too_many_rows",
                f"{table.name}: more than {MOST_ROWS:,} rows are left out; a list is for fewer.",
            )
    rows = _compared(table, _newest(_frame(table, records, schema), ordering), ordering)
    # Kept as read: computed again after the rows came back, each would be equal to itself.
    rows = rows.localCheckpoint()
    return LeftOut(rows, n_rows, _digest(n_rows, rows), _counted(rows), _sampled(rows))


def _records(table: OpenedTable, log: LogFile, one: LogBlock, schema: Any) -> Any:
    """Return Java's list of the records of one block."""
    of = table.hudi.common
    file = of.model.HoodieLogFile(table.hudi.storage.StoragePath(log.path), log.n_bytes)
    reader = of.table.log.HoodieLogFormat.newReader(table.java.getStorage(), file, schema)
    step = table.columns.step
    avro = getattr(table.jvm, f"{_RECORD}$HoodieRecordType").valueOf("AVRO")
    try:
        while reader.hasNext():
            block = reader.next()
            place = block.getBlockContentLocation().get()
            if int(place.getContentPositionInLogFile()) != one.position:
                continue
            if block.containsPartialUpdates():
                raise RuleViolation(
                    "hudi.partial_rows",
                    f"{table.name}: {one.log_file} holds parts of rows, which are no rows alone.",
                )
            found = block.getRecordIterator(avro)
            try:
                stream = of.util.CollectionUtils.toStream(found)
                return table.listed(
                    stream.map(step(_RECORD, "getData")).map(step(_INDEXED, "getData"))
                )
            finally:
                found.close()
    finally:
        reader.close()
    return table.jvm.java.util.ArrayList()


def _frame(table: OpenedTable, records: Any, schema: Any) -> DataFrame:
    spark: Any = table.spark
    rdd = spark.sparkContext._jsc.parallelize(records).rdd()
    made = table.hudi.AvroConversionUtils.createDataFrame(
        rdd, schema.toString(), spark._jsparkSession
    )
    return DataFrame(made, spark)


def _newest(rows: DataFrame, ordering: str) -> DataFrame:
    """Return of several rows of one key the one that a reader would have seen."""
    newest = [F.col(ordering).desc_nulls_last(), F.col(_COMMIT).desc(), F.col(_SEQUENCE).desc()]
    place = F.row_number().over(Window.partitionBy(KEY, PARTITION).orderBy(*newest))
    return rows.withColumn(_ORDER, place).where(F.col(_ORDER) == 1).drop(_ORDER)


def _compared(table: OpenedTable, rows: DataFrame, ordering: str) -> DataFrame:
    read = table.spark.read.format("hudi").option("hoodie.metadata.enable", "false")
    now = read.load(table.location).select(
        F.col(KEY).alias("_key"),
        F.col(PARTITION).alias("_place"),
        F.col(ordering).alias("_now"),
    )
    wanted = rows.select(F.col(KEY).alias("_key")).distinct()
    now = now.join(wanted, "_key", "left_semi")
    named = (F.col("_key").alias(KEY), F.col("_place").alias(PARTITION))
    own = now.select(*named, "_now", F.lit(1).alias("_is_there"))
    others = now.groupBy("_key").agg(F.collect_set("_place").alias("_places"))
    joined = (
        rows.join(own, [KEY, PARTITION], "left")
        .join(others, F.col(KEY) == F.col("_key"), "left")
        .withColumn(TODAY, _today(F.col(ordering), F.col("_now")))
    )
    return joined.drop("_now", "_is_there", "_key", "_places")


def _today(row: Column, now: Column) -> Column:
    is_there = F.col("_is_there").isNotNull()
    return (
        F.when(~is_there & F.col("_places").isNotNull(), Today.ELSEWHERE.value)
        .when(row.isNull() | (is_there & now.isNull()), Today.UNKNOWN.value)
        .when(~is_there, Today.ABSENT.value)
        .when(now < row, Today.OLDER.value)
        .when(now == row, Today.EQUAL.value)
        .otherwise(Today.NEWER.value)
    )


def _digest(n_rows: dict[LogBlock, int], rows: DataFrame) -> str:
    """Return what tells two readings apart: blocks, rows with all their values, today's words."""
    whole = F.sha2(F.to_json(F.struct(*[F.col(name) for name in sorted(rows.columns)])), 256)
    lines = [str(row[0]) for row in rows.select(whole).collect()]
    lines += [f"{one.group} {one.log_file} {one.position} {n}" for one, n in n_rows.items()]
    return sha256("\n".join(sorted(lines)).encode()).hexdigest()


def _counted(rows: DataFrame) -> dict[Today, int]:
    counts = {row[TODAY]: row["count"] for row in rows.groupBy(TODAY).count().collect()}
    return {one: int(counts.get(one.value, 0)) for one in Today}


def _sampled(rows: DataFrame) -> list[str]:
    back = rows.where(F.col(TODAY).isin([one.value for one in COMES_BACK]))
    found = back.orderBy(PARTITION, KEY).limit(50).collect()
    return [f"{row[PARTITION]} {row[KEY]} ({row[TODAY]} today)".strip() for row in found]
