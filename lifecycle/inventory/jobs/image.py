"""Reads facts on the files below each directory from a dump of the name node's image.

The dump is `hdfs oiv -p Delimited` of a recent image, made with TZ=UTC: one line for each file and
directory, times in minutes. A scan takes from it what a walk would find, but only for a directory
whose own time, listed now, is still the one in the image; so an image that is old, of another
cluster or written in another time zone costs walks, never a wrong answer.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lifecycle.expiry.domain.rule import Terms
from lifecycle.inventory.jobs.expiry_columns import newest_near
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure

MAX_AGE = timedelta(days=2)
MINUTE_MS = 60_000
COLUMNS = ("image_own_ms", "image_ms", "image_read_ms", "image_files", "image_bytes")
_HEADER = "Path"
_N_FIELDS = 12
_PATH, _MODIFIED, _READ, _SIZE, _MODE = 0, 2, 3, 6, 9


@dataclass(frozen=True, slots=True)
class NamespaceImage:
    """A dump that is fit for use: facts by directory, and the newest change that it knows."""

    facts: DataFrame
    as_of: datetime


def open_image(spark: SparkSession, config: LakeConfig, *, now: datetime) -> NamespaceImage | str:
    """Read the lake's dump; a text instead says why none is used, empty if none is configured.

    `facts` has one row a directory: `location` with scheme and authority, and COLUMNS.

    Raises:
        ExternalFailure: `scan.image` when the dump is named but cannot be read.
    """
    if not config.namespace_image:
        return ""
    try:
        entries = _entries(spark, config)
        newest = entries.agg(F.max("modified_ms")).first()
    except (Py4JJavaError, PySparkException) as error:
        raise ExternalFailure(
            "scan.image",
            f"The dump of the name node's image at {config.namespace_image} cannot be read. "
            "Write it again, or take namespace_image out of lakes.json.",
            service="filesystem",
            retryable=True,
        ) from error
    if newest is None or newest[0] is None:
        return f"{config.namespace_image} has no line of `hdfs oiv -p Delimited`; it is not used."
    as_of = datetime.fromtimestamp(newest[0] / 1000, tz=UTC)
    if as_of < now - MAX_AGE:
        return f"The image's newest change is of {as_of:%Y-%m-%d %H:%M} UTC: too old to be used."
    return NamespaceImage(_by_directory(entries), as_of)


def _entries(spark: SparkSession, config: LakeConfig) -> DataFrame:
    """Return the dump's lines: path, is_dir, times in epoch milliseconds of the minute, size."""
    own = config.path("/")
    fields = F.split("value", "\t")
    lines = spark.read.text(config.namespace_image).select(fields.alias("f"))
    kept = lines.where((F.size("f") == _N_FIELDS) & (F.col("f")[_PATH] != _HEADER))
    return kept.select(
        F.concat(F.lit(f"{own.scheme}://{own.authority}"), F.col("f")[_PATH]).alias("path"),
        F.col("f")[_MODE].startswith("d").alias("is_dir"),
        _minute_ms(F.col("f")[_MODIFIED]).alias("modified_ms"),
        _minute_ms(F.col("f")[_READ]).alias("read_ms"),
        F.col("f")[_SIZE].cast("long").alias("size"),
    )


def _minute_ms(text: Column) -> Column:
    return F.unix_timestamp(text, "yyyy-MM-dd HH:mm") * 1000


def _by_directory(entries: DataFrame) -> DataFrame:
    """Sum up each directory's files, then each directory for all that it lies in."""
    parent = F.expr("left(path, length(path) - length(substring_index(path, '/', -1)) - 1)")
    files = (
        entries.where(~F.col("is_dir"))
        .groupBy(parent.alias("path"))
        .agg(
            F.max("modified_ms").alias("file_ms"),
            F.max("read_ms").alias("file_read_ms"),
            F.count(F.lit(1)).alias("files"),
            F.sum("size").alias("bytes"),
        )
    )
    folders = entries.where("is_dir").select("path", "modified_ms").join(files, "path", "left")
    # scheme://authority/a/b lies in itself, in scheme://authority/a and in the root.
    above = F.expr(
        "transform(sequence(4, size(split(path, '/'))),"
        " n -> array_join(slice(split(path, '/'), 1, n), '/'))"
    )
    spread = folders.withColumn("location", F.explode(above))
    return spread.groupBy("location").agg(
        F.max(F.when(F.col("path") == F.col("location"), F.col("modified_ms"))).alias(
            "image_own_ms"
        ),
        F.max(F.greatest("modified_ms", "file_ms")).alias("image_ms"),
        F.max("file_read_ms").alias("image_read_ms"),
        F.coalesce(F.sum("files"), F.lit(0)).alias("image_files"),
        F.coalesce(F.sum("bytes"), F.lit(0)).alias("image_bytes"),
    )


def is_unchanged(own_ms: Column) -> Column:
    """Whether a directory's own time, listed now, is the one that the image has."""
    minute = own_ms - own_ms % MINUTE_MS
    return F.coalesce(minute == F.col("image_own_ms"), F.lit(col=False))


def is_enough(own_ms: Column, terms: Terms) -> Column:
    """Whether the image answers for a directory: a walk would be made, and is spared."""
    return is_unchanged(own_ms) & F.coalesce(own_ms <= newest_near(terms), F.lit(col=False))


def walked_columns(own_ms: Column, *, access_times: bool) -> dict[str, Column]:
    """Return what a walk would give; a time within a minute counts as the minute's end.

    A read in the minute of the last change is no read: the image cannot tell the two apart.
    """
    later_read = F.col("image_read_ms") > F.col("image_ms")
    read = F.when(later_read, F.col("image_read_ms") + (MINUTE_MS - 1)).otherwise(
        F.col("image_read_ms")
    )
    has_reads = F.lit(access_times) & (F.col("image_files") > 0) & (F.col("image_read_ms") > 0)
    return {
        "mtime_ms": F.greatest(own_ms, F.col("image_ms") + (MINUTE_MS - 1)),
        "atime_ms": F.when(has_reads, read),
        "n_files": F.col("image_files"),
        "n_bytes": F.col("image_bytes"),
    }
