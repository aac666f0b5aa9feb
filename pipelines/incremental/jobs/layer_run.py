"""Advances one layer: reads what changed of its source, transforms it, and writes its target.

The target's commit names the positions of the sources, so a program that died is followed by one
that does the same again or goes on. Rows that go are one commit and rows that are written another;
the first of the two still names the positions of before.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.commits.domain.marks import Written
from pipelines.commits.domain.positions import Kind, Position
from pipelines.commits.jobs.changes import WEIGHT, Changes
from pipelines.commits.jobs.target import Target
from pipelines.incremental.domain.definitions import check_key
from pipelines.incremental.domain.messages import Advanced, Field, LayerOrder, Mode, State
from pipelines.incremental.domain.target_settings import target_settings
from pipelines.incremental.jobs.differences import (
    Differences,
    Greatest,
    in_range,
    met_others,
    of_all,
    of_changes,
    of_versions,
)
from pipelines.incremental.jobs.edges import Read, n_commits_since, newest_event, reads_of
from pipelines.incremental.jobs.transforms import transformed
from portal.connectors.lake_config import LakeConfig
from portal.lake.counts import count_words
from portal.lake.errors import RuleViolation
from portal.safety.failpoints import Failpoints

Schemas = Mapping[str, tuple[Field, ...]]
NEW = "The target has no rows yet."
MET = "Rows got keys that the target has of other rows."
_META = "_hoodie_"
_KEPT_AS = {"int": ("tinyint", "smallint")}
"""Types of Spark that Hudi keeps as another one."""
_MOST_COMMITS = 2
"""Of one advance."""


@dataclass(frozen=True)
class Came:
    """What came of an advance."""

    state: State = "done"
    mode: Mode = "changes"
    reason: str = ""
    code: str = ""
    counts: tuple[int, int] = (0, 0)
    n_commits: int = 0
    event_time: datetime | None = None


@dataclass
class LayerRun:
    """One layer of a run."""

    spark: SparkSession
    config: LakeConfig
    order: LayerOrder
    modules: tuple[str, ...]
    failpoints: Failpoints
    tell: Callable[[str], None]
    """Takes what is done next, for who waits for it."""
    _began: float = field(default_factory=time.monotonic)

    def advance(self) -> Advanced:
        """Bring the target to where its sources are; returns what was done.

        Raises:
            PortalError: why it cannot be done; nothing of it is written then, or all.
        """
        said = self.target.written(may_be_foreign=bool(self.order.full))
        schemas = {name: self._schema(one) for name, one in self.reads.items()}
        words = {name: self.reads[name].held(schema) for name, schema in schemas.items()}
        held = [f"{name}: {one}" for name, one in words.items() if one]
        if held:
            return self._told(schemas, Came("held", reason="; ".join(held), code="layer.schema"))
        if not self._changing.position.commit and said is None:
            return self._told(schemas, Came("unchanged", reason="The source has no commit yet."))
        self._check_there()
        check_key(self.order.layer, self._changing.record_key())
        if self.order.backfill is not None and said is not None:
            return self._backfill(said, schemas)
        reason = self.order.full or self._full_reason(said)
        if reason or said is None:
            return self._full(said, schemas, reason or NEW)
        with self._changes(said) as changes:
            if changes.kind is Kind.FULL:
                return self._full(said, schemas, changes.meaning.reason)
            if changes.rows is None and said.positions == self._positions:
                event_time = self._event_time(said, None)
                return self._told(schemas, Came("unchanged", event_time=event_time))
            return self._follow(said, schemas, changes)

    @cached_property
    def reads(self) -> dict[str, Read]:
        """The sources, as they are now."""
        return dict(reads_of(self.spark, self.config, self.order))

    @cached_property
    def target(self) -> Target:
        """The target, as its one writer sees it."""
        layer = self.order.layer
        db, _, table = layer.target.partition(".")
        target = Target(
            self.spark,
            db,
            table,
            self.order.location,
            owner=self.order.owner,
            key=",".join(layer.key),
            metastore=self.config.metastore_uri,
        )
        since, needed = self.order.kept_since, 0
        if since is not None and target.is_there:
            needed = n_commits_since(self.spark, target.location, since) + _MOST_COMMITS
        parallelism = max(1, self.spark.sparkContext.defaultParallelism // 2)
        settings = target_settings(layer, n_needed=needed, parallelism=parallelism)
        return replace(target, settings=settings)

    @property
    def _changing(self) -> Read:
        return self.reads[self.order.layer.changing]

    @property
    def _positions(self) -> dict[str, Position]:
        return {name: one.position for name, one in self.reads.items()}

    def _schema(self, one: Read) -> tuple[Field, ...]:
        return one.schema() if one.position.commit else ()

    def _full_reason(self, said: Written | None) -> str:
        """Say why all rows are read, as far as the changing source is not asked for it."""
        if said is None:
            return NEW
        for name, one in self.reads.items():
            known = said.positions.get(name)
            if known is None:
                return f"{name} was not read before."
            if not one.order.is_static or known == one.position:
                continue
            with one.source.changes(known, one.position) as changes:
                if changes.kind is not Kind.NOTHING:
                    return f"The static table {name} changed."
        return ""

    def _changes(self, said: Written) -> AbstractContextManager[Changes]:
        one = self._changing
        return one.source.changes(said.positions[one.order.table], one.position)

    def _check_there(self) -> None:
        """Take no source for empty that lost its commits: nothing of it can be read."""
        one = self._changing
        if not one.position.commit:
            raise RuleViolation(
                "layer.source",
                f"{one.order.table} has no commit any more. Was it made again? Write to it, or "
                "pause the layer.",
            )

    def _follow(self, said: Written, schemas: Schemas, changes: Changes) -> Advanced:
        """Write what the changes of the source mean."""
        self.tell("changed rows")
        rows = changes.rows
        if rows is None:
            rows = self._changing.rows().limit(0).withColumn(WEIGHT, F.lit(1))
        rows = rows.persist()
        try:
            plain = rows.drop(WEIGHT)
            minus = self._result(rows.where(F.col(WEIGHT) < 0).select(*_named(plain)))
            plus_rows = rows.where(F.col(WEIGHT) > 0).select(*_named(plain))
            plus = self._result(plus_rows)
            layer = self.order.layer
            if layer.version:
                rule = Greatest(layer.key, layer.version)
                every = self._result(self._changing.rows())
                found = of_versions(minus, plus, every, self._current(plus), rule)
            else:
                if met_others(plus, minus, self._current(plus), layer.key):
                    return self._full(said, schemas, MET)
                found = of_changes(minus, plus, layer.key)
            counts = self._write(found, said)
            event_time = self._event_time(said, plus_rows)
        finally:
            rows.unpersist()
        n = changes.meaning.n_commits
        came = Came(counts=counts, n_commits=n, event_time=event_time)
        return self._told(schemas, came)

    def _full(self, said: Written | None, schemas: Schemas, reason: str) -> Advanced:
        """Make the target equal to the transformation of all rows; equal rows are not written."""
        self.tell("all rows")
        rows = self._changing.rows()
        result = self._best(self._result(rows))
        current = self._current(result) if said is not None else None
        counts = self._write(of_all(result, current, self.order.layer.key), said)
        column = self.order.layer.event_time
        event_time = newest_event(rows, column) if column else None
        came = Came(mode="full", reason=reason, counts=counts, event_time=event_time)
        return self._told(schemas, came)

    def _backfill(self, said: Written, schemas: Schemas) -> Advanced:
        """Make some partitions equal to the transformation of all rows; positions stay."""
        wanted = self.order.backfill
        if wanted is None:
            raise TypeError("no range")
        self.tell(f"partitions {wanted.low} to {wanted.high}")
        result = self._best(self._result(self._changing.rows()))
        within = in_range(result, self.order.layer.partition, wanted)
        found = of_all(result, self._current(result), self.order.layer.key, within=within)
        counts = self._write(found, said, moves=False)
        reason = f"Partitions {wanted.low} to {wanted.high}."
        return self._told(schemas, Came(mode="backfill", reason=reason, counts=counts))

    def _result(self, rows: DataFrame) -> DataFrame:
        static = {name: one.rows() for name, one in self.reads.items() if one.order.is_static}
        found = transformed(self.spark, self.order.layer, rows, static, modules=self.modules)
        # The metastore knows lower case only.
        found = found.toDF(*(one.lower() for one in found.columns))
        layer = self.order.layer
        for name in (*layer.key, layer.version, layer.partition):
            if name and name not in found.columns:
                raise RuleViolation(
                    "layer.column", f"The result has no column {name}.", field="sql", column=name
                )
        return self._fitted(found)

    @cached_property
    def _columns(self) -> dict[str, str]:
        """Columns of the target by name, with their types; none before it is made."""
        if not self.target.is_there:
            return {}
        fields = self.target.read().schema
        return {one.name: one.dataType.simpleString() for one in fields if not _is_meta(one.name)}

    def _fitted(self, result: DataFrame) -> DataFrame:
        """Return a result in the columns of the target, new ones at its end."""
        types = {one.name: one.dataType.simpleString() for one in result.schema}
        for name, kind in self._columns.items():
            if types.get(name, kind) not in (kind, *_KEPT_AS.get(kind, ())):
                raise RuleViolation(
                    "layer.type",
                    f"Column {name} of {self.order.layer.target} is {kind} and the result has "
                    f"{types[name]}. Cast it in the definition, or create another target.",
                    column=name,
                )
        wanted = [
            (F.col(f"`{name}`") if name in types else F.lit(None)).cast(kind).alias(name)
            for name, kind in self._columns.items()
        ]
        wanted += [F.col(f"`{name}`") for name in types if name not in self._columns]
        return result.select(*wanted)

    def _best(self, result: DataFrame) -> DataFrame:
        layer = self.order.layer
        return Greatest(layer.key, layer.version).of(result) if layer.version else result

    def _current(self, result: DataFrame) -> DataFrame:
        """Return the target's rows in the columns of a result."""
        rows = self.target.read()
        return rows.select(
            *(
                F.col(f"`{one.name}`")
                if one.name in self._columns
                else F.lit(None).cast(one.dataType).alias(one.name)
                for one in result.schema
            )
        )

    def _write(
        self, found: Differences, said: Written | None, *, moves: bool = True
    ) -> tuple[int, int]:
        """Write differences with the positions that they bring the target to."""
        before = said.positions if said is not None else {}
        after = self._positions if moves else before
        key = list(self.order.layer.key)
        upserts = found.upserts.persist()
        # Whole rows of the target: their partitions are known to the delete then.
        deletes = found.deletes.select(*(F.col(f"`{one}`") for one in key))
        if said is not None:
            deletes = self._current(upserts).join(deletes.distinct(), key, "left_semi")
        deletes = deletes.persist()
        try:
            n_upserts, n_deletes = upserts.count(), deletes.count()
            with self.failpoints.step("delete"):
                if n_deletes:
                    self.tell(f"delete {count_words(n_deletes, 'row')}")
                    self.target.write(deletes, before if n_upserts else after, operation="delete")
            with self.failpoints.step("upsert"):
                if n_upserts or (not n_deletes and after != before):
                    self.tell(f"write {count_words(n_upserts, 'row')}")
                    self.target.write(upserts, after)
        finally:
            upserts.unpersist()
            deletes.unpersist()
        return n_upserts, n_deletes

    def _event_time(self, said: Written, plus: DataFrame | None) -> datetime | None:
        """Return the greatest event time of all that was read, from what is known of before."""
        column, one = self.order.layer.event_time, self._changing
        if not column:
            return None
        known = said.positions[one.order.table].commit
        if known != one.order.position:
            return newest_event(one.rows(), column)  # another program read on and died
        new = newest_event(plus, column) if plus is not None else None
        return max(filter(None, (new, one.order.event_time)), default=None)

    def _told(self, schemas: Schemas, came: Came) -> Advanced:
        changing = self.order.layer.changing
        return Advanced(
            id=self.order.id,
            version=self.order.version,
            state=came.state,
            at=datetime.now(UTC),
            mode=came.mode,
            reason=came.reason,
            code=came.code,
            n_upserts=came.counts[0],
            n_deletes=came.counts[1],
            seconds=round(time.monotonic() - self._began, 2),
            edges=tuple(
                one.edge(
                    schemas[name],
                    n_commits=came.n_commits if name == changing else 0,
                    event_time=came.event_time if name == changing else None,
                )
                for name, one in self.reads.items()
            ),
        )


def _named(frame: DataFrame) -> list[str]:
    return [f"`{one}`" for one in frame.columns]


def _is_meta(name: str) -> bool:
    return name.startswith(_META)
