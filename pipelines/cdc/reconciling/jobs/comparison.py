"""Compares rows of the source with those of a Hudi table in Spark, by ranges, then by rows.

Both sides are typed as the lake has its columns: texts of the source go through the casts of the
apply. A range is one of the hashes of keys, because only the server knows the order of its
collations. Of each range count and sum of the rows' digests are compared first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from pipelines.cdc.applying.domain.hudi_settings import VERSION, key_columns
from pipelines.cdc.applying.domain.messages import SchemaPlan
from pipelines.cdc.applying.jobs.kept import KeptFiles
from pipelines.cdc.applying.jobs.lines import changes_of, parsed
from pipelines.cdc.applying.jobs.rows import cast, key_text
from pipelines.cdc.applying.jobs.target import Target
from pipelines.cdc.reconciling.domain.verdicts import Pair
from portal.lake.paths import LakePath

ROWS_A_RANGE, MOST_RANGES = 2_000, 1 << 16
_NUMBER = 1
"""Rows of the source belong to no batch; without a number they would be no records."""


@dataclass
class Comparison:
    """One table in the lake, and how its rows are made comparable."""

    target: Target
    plan: SchemaPlan
    columns: Sequence[str]
    tombstones: KeptFiles
    n_lake: int = 0
    n_ranges: int = 0
    n_ranges_differing: int = 0
    _kept: list[DataFrame] = field(default_factory=list)

    def all_rows(
        self, files: Sequence[LakePath], *, n_rows: int, first_version: int
    ) -> Iterator[Pair]:
        """Compare everything; `first_version` is that of the first read."""
        self.n_ranges = max(1, min(n_rows // ROWS_A_RANGE, MOST_RANGES))
        source = self._source(files).persist()
        self._kept.append(source)
        differing = self._ranges(source, self._lake())
        self.n_ranges_differing = len(differing)
        if not differing:
            return iter(())
        # The lake is read again: what the first reading saw may have been cleaned away.
        is_differing = F.col("range").isin(differing)
        source, lake = source.where(is_differing), self._lake().where(is_differing)
        return self._pairs(source, lake, first_version)

    def some_rows(self, files: Sequence[LakePath]) -> Iterator[Pair]:
        """Compare the keys of which the files say something, rows or deletes."""
        self.n_ranges = max(self.n_ranges, 1)
        source = self._source(files).persist()
        self._kept.append(source)
        keys = source.select(*self._keys).distinct()
        lake = self._lake().join(F.broadcast(keys), self._keys, "left_semi")
        return self._pairs(source, lake, 0)

    def release(self) -> None:
        """Forget what is cached."""
        for one in self._kept:
            one.unpersist()
        self._kept = []

    @property
    def _keys(self) -> list[str]:
        return [f"k{n}" for n in range(len(self.target.order.key))]

    def _source(self, files: Sequence[LakePath]) -> DataFrame:
        order, spark = self.target.order, self.target.spark
        lines = spark.read.text([str(one) for one in files], lineSep="\n")
        records = parsed(lines.select(F.lit(_NUMBER).cast("bigint").alias("number"), "value"))
        changes = (
            changes_of(records, order.db, order.table)
            .withColumn("id", key_text(order))
            .withColumn("is_delete", F.col("op") == "d")
            .withColumn("is_torn", F.lit(None).cast("boolean"))
        )
        rows = cast(changes, order, [self.plan])
        names = key_columns(order)
        keys = [F.col("row")[name].alias(key) for name, key in zip(names, self._keys, strict=True)]
        content = digest([F.col("row")[name] for name in self.columns])
        return rows.select(
            "id",
            *keys,
            F.col("version").alias("read_at"),
            F.when(~F.col("is_delete"), content).alias("digest"),
            (F.size("unfit") > 0).alias("is_unfit"),
        ).withColumn("range", self._range())

    def _lake(self) -> DataFrame:
        order = self.target.order
        if self.target.is_there:
            rows = self.target.read()
        else:
            types = ", ".join(f"`{one.name}` {one.type}" for one in order.columns)
            rows = self.target.spark.createDataFrame([], f"{types}, {VERSION} BIGINT")
        keys = key_columns(order)
        return rows.select(
            *(F.col(f"`{name}`").alias(key) for name, key in zip(keys, self._keys, strict=True)),
            F.col(VERSION).alias("version"),
            digest([F.col(f"`{name}`") for name in self.columns]).alias("digest"),
        ).withColumn("range", self._range())

    def _range(self) -> Column:
        return F.pmod(F.xxhash64(*self._keys), F.lit(self.n_ranges)).cast("int")

    def _ranges(self, source: DataFrame, lake: DataFrame) -> list[int]:
        """Return the ranges that are not the same on both sides."""
        total = [F.count("*").alias("n"), F.expr("bit_xor(digest)").alias("sum")]
        unfit = F.count_if("is_unfit").alias("n_unfit")
        mine = {one["range"]: one for one in source.groupBy("range").agg(*total, unfit).collect()}
        theirs = {one["range"]: one for one in lake.groupBy("range").agg(*total).collect()}
        self.n_lake = sum(one["n"] for one in theirs.values())
        return sorted(
            one
            for one in mine.keys() | theirs.keys()
            if one not in mine
            or one not in theirs
            or mine[one]["n_unfit"]
            or (mine[one]["n"], mine[one]["sum"]) != (theirs[one]["n"], theirs[one]["sum"])
        )

    def _pairs(self, source: DataFrame, lake: DataFrame, first_version: int) -> Iterator[Pair]:
        """Join both sides and return the keys that are not the same; the lake is read by then."""
        single = lake.groupBy(*self._keys).agg(
            F.max("version").alias("version"),
            F.first("digest").alias("lake"),
            F.count("*").alias("n_lake"),
        )
        joined = source.join(single, self._keys, "full_outer")
        found = joined.select(
            F.coalesce("id", self._lake_id()).alias("id"),
            F.col("digest").alias("source"),
            "lake",
            F.coalesce("read_at", F.lit(first_version)).alias("read_at"),
            F.coalesce("version", F.lit(0)).alias("version"),
            F.coalesce("n_lake", F.lit(0)).alias("n_lake"),
            F.coalesce("is_unfit", F.lit("false").cast("boolean")).alias("is_unfit"),
        )
        is_same = F.col("source").eqNullSafe(F.col("lake")) & (F.col("n_lake") <= 1)
        pairs = found.where(~is_same | F.col("is_unfit")).persist()
        self._kept.append(pairs)
        if not pairs.count():
            return iter(())
        whole = self._with_tombstones(pairs).persist()
        self._kept.append(whole)
        whole.count()  # before the tombstones are put together in other files
        return map(_pair, whole.toLocalIterator())

    def _with_tombstones(self, pairs: DataFrame) -> DataFrame:
        """Add the newest delete of each key; looked up after the lake, whose deletes come later."""
        files = self.tombstones.files()
        if not files:
            return pairs.withColumn("dead", F.lit(0).cast("bigint"))
        dead = self.tombstones.read(files).groupBy("id").agg(F.max("version").alias("dead"))
        joined = pairs.join(dead, "id", "left")
        return joined.withColumn("dead", F.coalesce("dead", F.lit(0)))

    def _lake_id(self) -> Column:
        """Return a key of the lake as texts; `keys.key_row` makes them those of the changelog."""
        order = self.target.order
        types = {one.name: one.type for one in order.columns}
        texts = [
            _text(key, types[name]).alias(source)
            for key, name, source in zip(self._keys, key_columns(order), order.key, strict=True)
        ]
        return F.to_json(F.struct(*texts))


def digest(columns: Sequence[Column]) -> Column:
    """Return 64 bits of some values; NULLs count, which Spark's own hash leaves out."""
    parts = [part for one in columns for part in (one.isNull().cast("int"), one)]
    return F.xxhash64(*parts)


def _text(key: str, lake_type: str) -> Column:
    if lake_type == "binary":
        # Spark breaks long texts of base64 into lines.
        return F.regexp_replace(F.base64(key), "\\s", "")
    if lake_type == "boolean":
        return F.col(key).cast("int").cast("string")
    return F.col(key).cast("string")


def _pair(row: Row) -> Pair:
    return Pair(
        row["id"],
        row["source"],
        row["lake"],
        row["read_at"],
        max(row["version"], row["dead"]),
        row["n_lake"],
        row["is_unfit"],
    )
