"""Applies changes to one table: quarantine, then tombstones, then the table, in this order.

Each step may be repeated. A crash between two of them leaves a batch whose number no commit names,
so it is applied again, and nothing of it happens twice: versions decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from pipelines.cdc.applying.domain.hudi_settings import VERSION, key_columns
from pipelines.cdc.applying.domain.messages import SchemaPlan, TableOrder
from pipelines.cdc.applying.domain.numbers import Numbers
from pipelines.cdc.applying.jobs.kept import KeptFiles
from pipelines.cdc.applying.jobs.present import compared
from pipelines.cdc.applying.jobs.replays import filled
from pipelines.cdc.applying.jobs.rows import cast, newest, target_rows
from pipelines.cdc.applying.jobs.target import Marks, Target
from pipelines.cdc.applying.jobs.tombstones import Tombstones
from pipelines.cdc.protecting.jobs.columns import pinned, protectors
from portal.safety.failpoints import Failpoints

MANY = 10_000
"""Changes from which on it pays to look first whether they are new and each of another key."""


@dataclass
class Counts:
    """What became of changes."""

    n_upserted: int = 0
    n_deleted: int = 0
    n_late: int = 0
    n_quarantined: int = 0
    n_aside: int = 0

    def add(self, other: "Counts") -> None:
        """Add what became of more changes."""
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class TableWriter:
    """The only writer of the rows of one table."""

    target: Target
    tombstones: Tombstones
    quarantine: KeptFiles
    aside: KeptFiles
    failpoints: Failpoints
    marks: Marks

    @property
    def order(self) -> TableOrder:
        """What is to be done with the table."""
        return self.target.order

    def apply(
        self, changes: DataFrame, schemas: Sequence[int], batches: Numbers, *, n: int
    ) -> Counts:
        """Apply `n` changes that were made under some schemas, all of which have plans.

        `batches` are those that the table has with them; equal changes change nothing.

        Raises:
            RuleViolation: `cdc.key_missing`, `cdc.key`, `cdc.key_changed`: nothing was done.
        """
        self._pinned()
        plans = [plan for number in schemas if (plan := self.order.plan(number))]
        is_large = n >= MANY
        kept = newest(changes, self.order, is_large=is_large)
        rows = cast(kept, self.order, plans).persist()
        try:
            found = totals(rows)
            if is_large and self._are_new(rows, found):
                return self._apply(rows, found, plans, batches, are_new=True)
            is_old = found["oldest"] is not None and found["oldest"] <= self.marks.version
            if not (is_old and self.target.is_there):
                return self._apply(rows, found, plans, batches)
            # What may be late or repeated is compared with the table; that reads it.
            with_table = compared(rows, self.target).persist()
            try:
                return self._apply(with_table, totals(with_table), plans, batches)
            finally:
                with_table.unpersist()
        finally:
            rows.unpersist()

    def _apply(
        self,
        rows: DataFrame,
        found: Row,
        plans: Sequence[SchemaPlan],
        batches: Numbers,
        *,
        are_new: bool = False,
    ) -> Counts:
        counts = Counts(n_quarantined=found["n_unfit"])
        if found["n_unfit"]:
            with self.failpoints.step("quarantine"):
                self._put_in_quarantine(rows.where("size(unfit) > 0"))
        good = rows.where("size(unfit) = 0")
        deletes, upserts = good.where("is_delete"), good.where("NOT is_delete")
        if found["n_deletes"]:
            with self.failpoints.step("tombstones"):
                self.tombstones.add(deletes, newest=found["last_delete"])
        if found["n_upserts"]:
            counts.n_aside = self._put_aside(upserts, plans)
        marks = self._marks(found, batches)
        self._commit(deletes, upserts, found, marks, counts, are_new=are_new)
        counts.n_late = found["n"] - counts.n_upserted - counts.n_deleted - counts.n_quarantined
        return counts

    def _commit(
        self,
        deletes: DataFrame,
        upserts: DataFrame,
        found: Row,
        marks: Marks,
        counts: Counts,
        *,
        are_new: bool,
    ) -> None:
        n_deletes, n_upserts = found["n_deletes"] if self.target.is_there else 0, found["n_upserts"]
        if "is_late" in deletes.columns:
            # Hudi's delete has no version, so a late one would take a newer row away.
            deletes, upserts = deletes.where("NOT is_late"), upserts.where("NOT is_late")
            n_deletes = deletes.count() if n_deletes else 0
            n_upserts = upserts.count() if n_upserts else 0
        if n_upserts and found["first_upsert"] <= self.tombstones.newest:
            upserts = self.tombstones.alive(upserts)
            n_upserts = upserts.count()
        if n_deletes:
            with self.failpoints.step("deletes"):
                rows = deletes.select(*target_rows(self.order, self._addressing), _version())
                self.target.delete(rows, None if n_upserts else marks)
        if n_upserts:
            with self.failpoints.step("upserts"):
                write = self.target.insert if are_new else self.target.upsert
                write(upserts.select(*target_rows(self.order), _version()), marks)
        if n_deletes or n_upserts:
            self.marks = marks
        if n_deletes:
            self.tombstones.compact(now_ms=int(datetime.now(UTC).timestamp() * 1_000))
        counts.n_deleted, counts.n_upserted = n_deletes, n_upserts

    def fill(self, columns: Sequence[str]) -> int:
        """Fill columns of the source from the values kept aside; returns how many rows changed.

        A row takes the value that has its own version: a newer row has its value already.
        """
        files = self.aside.files() if self.target.is_there else []
        live = {source: name for plan in self.order.schemas for source, name in plan.live.items()}
        wanted = {name: live[name] for name in columns if name in live}
        if not files or not wanted:
            return 0
        kept = self.aside.read(files).where(F.col("column").isin(*wanted))
        rows = filled(kept, self.target, wanted).persist()
        try:
            if unfit := rows.where("size(unfit) > 0").count():
                self._put_in_quarantine(rows.where("size(unfit) > 0"))
            good = rows.where("size(unfit) = 0")
            if n := good.count():
                with self.failpoints.step("fill"):
                    marks = self._next()
                    self.target.upsert(good.select(*target_rows(self.order), _version()), marks)
                    self.marks = marks
            return n + unfit
        finally:
            rows.unpersist()

    def evolve(self) -> None:
        """Give the table the columns of its order by a commit without rows."""
        if self.target.is_there and self.target.columns() != self.order.columns:
            types = ", ".join(f"`{one.name}` {one.type}" for one in self.order.columns)
            empty = self.target.spark.createDataFrame([], f"{types}, {VERSION} BIGINT")
            marks = self._next()
            self.target.upsert(empty, marks)
            self.marks = marks

    def _are_new(self, rows: DataFrame, found: Row) -> bool:
        """Whether all are rows of keys that the table does not have.

        Nothing of them is late, and they are written as files of their own: an upsert looks up each
        key and merges small files, which costs several times as much.
        """
        if found["n_inserts"] != found["n"]:
            return False
        keys = rows.where("size(unfit) = 0").select(*target_rows(self.order, self._key))
        return not (self.target.is_there and self.target.has_any(keys))

    @property
    def _key(self) -> set[str]:
        return set(key_columns(self.order))

    @property
    def _addressing(self) -> set[str]:
        return self._key | set(filter(None, (self.order.partition,)))

    def _next(self) -> Marks:
        """Return the marks of a commit that follows, without more batches."""
        number = self.marks.number + 1
        return replace(self.marks, number=number, keys=self._pinned(), foreign=())

    def _pinned(self) -> str:
        by_column = protectors(self.order.target, self.order.protections)
        return pinned(by_column, self.marks.keys)

    def _marks(self, found: Row, batches: Numbers) -> Marks:
        newest_one = found["newest"]
        together = replace(self._next(), batches=self.marks.batches | batches)
        if newest_one is None or newest_one["version"] <= self.marks.version:
            return together
        return replace(
            together,
            version=newest_one["version"],
            position=newest_one["position"],
            changed_at=newest_one["at"],
        )

    def _put_in_quarantine(self, rows: DataFrame) -> None:
        columns = ("id", "version", "schema", "at", "unfit", "number", "value")
        self.quarantine.add(rows.select(*columns))

    def _put_aside(self, upserts: DataFrame, plans: Sequence[SchemaPlan]) -> int:
        """Keep values of columns that nobody has decided on; NULLs too, of every row."""
        columns = sorted({name for plan in plans for name in plan.aside})
        if not columns:
            return 0
        pairs = [
            F.when(
                F.col("schema").isin([plan.number for plan in plans if name in plan.aside]),
                F.struct(F.lit(name).alias("column"), F.col("aside")[name].alias("text")),
            )
            for name in columns
        ]
        each = upserts.select(
            "id",
            _version(),
            "schema",
            "at",
            F.explode(F.array_compact(F.array(*pairs))).alias("pair"),
        )
        rows = (
            each.select("id", VERSION, "schema", "at", "pair.*")
            .withColumn("of", F.col("column"))
            .persist()
        )
        try:
            if n := rows.count():
                with self.failpoints.step("aside"):
                    self.aside.add(rows, by=("of",))
            return n
        finally:
            rows.unpersist()


def _version() -> Column:
    return F.col("version").alias(VERSION)


def totals(rows: DataFrame) -> Row:
    """Count rows by what becomes of them, in one pass."""
    is_fit = F.size("unfit") == 0
    is_delete, is_upsert = is_fit & F.col("is_delete"), is_fit & ~F.col("is_delete")
    version = F.col("version")
    newest_one = F.struct("version", "position", "at")
    (found,) = rows.agg(
        F.coalesce(F.sum("n_of_key"), F.lit(0)).alias("n"),
        F.count_if(~is_fit).alias("n_unfit"),
        F.count_if(is_delete).alias("n_deletes"),
        F.count_if(is_upsert).alias("n_upserts"),
        F.count_if(F.col("op").isin("r", "c")).alias("n_inserts"),
        F.min(F.when(is_fit, version)).alias("oldest"),
        F.max(F.when(is_delete, version)).alias("last_delete"),
        F.min(F.when(is_upsert, version)).alias("first_upsert"),
        F.max(F.when(is_fit, newest_one)).alias("newest"),
    ).collect()
    return found
