"""A Hudi table as its writer sees it: what its last commit says, its columns, and how to commit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from py4j.java_gateway import JavaPackage
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.cdc.applying.domain.hudi_settings import (
    BATCHES,
    CHANGED_AT,
    CHANGING,
    KEYS,
    NEWEST,
    NUMBER,
    OWNER,
    PART,
    POSITION,
    UNFINISHED,
    VERSION,
    evolving,
    key_columns,
    sync_settings,
    write_settings,
)
from pipelines.cdc.applying.domain.messages import Column, TableOrder
from pipelines.cdc.applying.domain.numbers import Numbers
from portal.lake.errors import ExternalFailure, RuleViolation
from portal.spark.java_errors import root_cause

_KRYO = "org.apache.spark.serializer.KryoSerializer"
_TEXT = 300


@dataclass(frozen=True)
class Marks:
    """What a commit says of itself: which batches the table has with it, and the newest change."""

    number: int = 0
    """Counts the commits of change capture: one that is missing was rolled back."""
    batches: Numbers = field(default_factory=Numbers)
    version: int = 0
    position: str = ""
    changed_at: int = 0
    keys: str = ""
    """JSON of the ids of keys by which equal values look equal, by column."""
    foreign: tuple[str, ...] = ()
    """Instants since then at which somebody else changed rows."""

    def as_options(self) -> dict[str, str]:
        """Return them as settings of a write."""
        return {
            NUMBER: str(self.number),
            BATCHES: str(self.batches),
            NEWEST: str(self.version),
            POSITION: self.position,
            CHANGED_AT: str(self.changed_at),
            KEYS: self.keys,
        }


@dataclass(frozen=True)
class Target:
    """One Hudi table; `metastore` is the address at which its metastore is found."""

    spark: SparkSession
    order: TableOrder
    metastore: str

    @property
    def is_there(self) -> bool:
        """Whether the table has been created."""
        hadoop = self._jvm.org.apache.hadoop.fs
        path = hadoop.Path(f"{self.order.location}/.hoodie/hoodie.properties")
        return bool(path.getFileSystem(self._context._jsc.hadoopConfiguration()).exists(path))

    def marks(self) -> Marks:
        """Return what the newest commit of this program says; those of services say nothing.

        Raises:
            RuleViolation: `cdc.foreign_table`, the table was made by something else, or by another
                pipeline.
        """
        if not self.is_there:
            return Marks()
        common = self._jvm.org.apache.hudi.common.table
        storage = self._jvm.org.apache.hudi.hadoop.fs.HadoopFSUtils.getStorageConf(
            self._context._jsc.hadoopConfiguration()
        )
        client = common.HoodieTableMetaClient.builder().setConf(storage)
        java = client.setBasePath(self.order.location).build()
        timeline = java.getActiveTimeline().getCommitsTimeline().filterCompletedInstants()
        instants = timeline.getReverseOrderedInstants().iterator()
        n = 0
        foreign: list[str] = []
        while instants.hasNext():
            n += 1
            instant = instants.next()
            metadata = common.timeline.TimelineUtils.getCommitMetadata(instant, timeline)
            batches = metadata.getMetadata(BATCHES)
            if batches is not None:
                self._check_owner(metadata.getMetadata(OWNER))
                return Marks(
                    int(metadata.getMetadata(NUMBER)),
                    Numbers.parse(str(batches)),
                    int(metadata.getMetadata(NEWEST)),
                    str(metadata.getMetadata(POSITION)),
                    int(metadata.getMetadata(CHANGED_AT)),
                    str(metadata.getMetadata(KEYS) or ""),
                    tuple(foreign),
                )
            is_changing = str(metadata.getOperationType()) in CHANGING
            if is_changing and not metadata.getMetadata(PART):
                foreign.append(str(instant.requestedTime()))
        if n:
            raise RuleViolation(
                "cdc.foreign_table",
                f"{self.order.location} is a Hudi table that change capture did not make, or whose "
                "commits it cannot find any more. Give the pipeline another location, or drop it.",
            )
        return Marks()

    def _check_owner(self, owner: object) -> None:
        if owner and self.order.owner and str(owner) != self.order.owner:
            raise RuleViolation(
                "cdc.foreign_table",
                f"{self.order.location} is a table of the pipeline with the folder {owner}, whose "
                "changes are numbered by another log. Give this pipeline another database, or drop "
                "the table with its data.",
            )

    def columns(self) -> tuple[Column, ...]:
        """Return the columns that the table has now; none before it is created."""
        if not self.is_there:
            return ()
        fields = self.read().schema.fields
        own = [one for one in fields if not one.name.startswith("_hoodie_") and one.name != VERSION]
        return tuple(Column(one.name, one.dataType.simpleString()) for one in own)

    def read(self) -> DataFrame:
        """Read the table as it is now."""
        reader = self.spark.read.format("hudi").option("hoodie.schema.on.read.enable", "true")
        return reader.load(self.order.location)

    def upsert(self, rows: DataFrame, marks: Marks) -> None:
        """Commit rows of the target's columns and a version, all of new columns with them."""
        self._write(rows, "upsert", marks.as_options())

    def insert(self, rows: DataFrame, marks: Marks) -> None:
        """Commit rows whose keys the table does not have, without a look for them."""
        self._write(rows, "bulk_insert", marks.as_options())

    def has_any(self, keys: DataFrame) -> bool:
        """Whether the table has any of some keys.

        Footers say which files can have keys between the least and the greatest of them: those of a
        full load, which reads its table in the order of the keys, are in few.
        """
        names = list(key_columns(self.order))
        first = F.col(f"`{names[0]}`")
        (ends,) = keys.agg(F.min(first).alias("least"), F.max(first).alias("greatest")).collect()
        between = first.between(F.lit(ends["least"]), F.lit(ends["greatest"]))
        there = self.read().where(between).select(*(F.col(f"`{name}`") for name in names))
        return not there.join(keys, names, "left_semi").isEmpty()

    def delete(self, rows: DataFrame, marks: Marks | None) -> None:
        """Commit the deletion of keys; without marks where an upsert of the same batch follows."""
        self._write(rows, "delete", marks.as_options() if marks else {PART: "deletes"})

    def _write(self, rows: DataFrame, operation: str, marks: Mapping[str, str]) -> None:
        settings = write_settings(
            self.order, parallelism=max(1, self.spark.sparkContext.defaultParallelism // 2)
        )
        # What comes after a commit is for the last of a batch.
        settings |= UNFINISHED if PART in marks else sync_settings(self.order, self.metastore)
        if self.is_there:
            settings = evolving(settings)
        owner = {OWNER: self.order.owner} if self.order.owner else {}
        settings |= {**marks, **owner, "hoodie.datasource.write.operation": operation}
        rows.write.format("hudi").options(**settings).mode("append").save(self.order.location)

    @property
    def _context(self) -> Any:
        return self.spark.sparkContext

    @property
    def _jvm(self) -> Any:
        return self._context._jvm


def read_old_dates(spark: SparkSession) -> None:
    """Have dates before 1582 and moments before 1900 read as they are: Hudi writes them so.

    Spark refuses such files otherwise, as they do not say by which calendar they were written.
    """
    for reader in ("parquet.datetime", "parquet.int96", "avro.datetime"):
        spark.conf.set(f"spark.sql.{reader}RebaseModeInRead", "CORRECTED")


def check_hudi(spark: SparkSession, *, lake: str) -> None:
    """Make sure that the session can write Hudi tables.

    Raises:
        ExternalFailure: `hudi.jar`, `hudi.serializer`.
    """
    jvm: Any = spark.sparkContext._jvm
    if isinstance(jvm.org.apache.hudi.common.table.HoodieTableMetaClient, JavaPackage):
        code, text = "hudi.jar", "put hudi-spark3.5-bundle_2.12-<version>.jar into `spark_jars`"
    elif spark.sparkContext.getConf().get("spark.serializer") != _KRYO:
        code = "hudi.serializer"
        text = (
            f"put spark.serializer={_KRYO} and spark.kryo.registrator="
            "org.apache.spark.HoodieSparkKryoRegistrar into `spark_conf`"
        )
    else:
        return
    raise ExternalFailure(
        code,
        f"Hudi tables cannot be written: {text} of the lake {lake}.",
        service="spark",
        retryable=False,
    )


def java_text(error: Exception) -> str:
    """Return class and first line of the innermost cause of a Java error."""
    cause = root_cause(error)
    if cause is None:
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0][:_TEXT]}"
    name, message = cause
    return f"{name.rpartition('.')[2]}: {message.strip().partition(chr(10))[0][:_TEXT]}"
