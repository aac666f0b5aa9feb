"""Reads a Hudi table at instants, and the rows that changed between two of them.

Changes come from images where the table keeps them and all columns are of types that they keep.
Else they are the difference of what was and what is: of the base files that are not in both where
rows are in base files alone, of the partitions that commits touched otherwise.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.commits.domain.hudi_timeline import Changed, changed, newest
from pipelines.commits.domain.positions import Kind, Position, full
from pipelines.commits.jobs.changes import Changes, retyped, signed
from pipelines.commits.jobs.images import are_readable, read_images
from pipelines.commits.jobs.timelines import open_client, read_timeline
from portal.lake.names import PartitionName

_META = "_hoodie_"
_NEVER = "0"


@dataclass(frozen=True)
class HudiSource:
    """One table at its base path."""

    spark: SparkSession
    name: str
    location: str
    client: Any
    _read: dict[str, DataFrame] = field(default_factory=dict)
    """By commit: what is read at one does not change, and finding its columns takes time."""

    @classmethod
    def open(cls, spark: SparkSession, name: str, location: str) -> "HudiSource":
        """Open a table."""
        place = location.rstrip("/")
        return cls(spark, name, place, open_client(spark, place))

    def position(self) -> Position:
        """Return the newest commit before which nothing is still being written."""
        return Position(self.location, newest(read_timeline(self.client)))

    def read_at(self, position: Position) -> DataFrame:
        """Return the rows as they were at a position."""
        commit = position.commit
        if not commit:
            return _plain(self._at(commit))  # of an empty table, which others may write to
        if commit not in self._read:
            self._read[commit] = _plain(self._at(commit))
        return self._read[commit]

    def n_bytes(self, position: Position) -> int:
        """Return the bytes of the files that a read has to do with, as Hudi counts them."""
        return self._bytes(position.commit)

    @contextmanager
    def changes(
        self, after: Position, upto: Position, columns: Sequence[str] | None = None
    ) -> Iterator[Changes]:
        """Give the rows that changed; see `Source`."""
        found = changed(read_timeline(self.client, after.commit), after, upto)
        if found.meaning.kind is not Kind.CHANGES:
            yield Changes(found.meaning)
            return
        before, now = self.read_at(after), self.read_at(upto)
        reason = retyped(before, now)
        if reason:
            yield Changes(full(reason))
            return
        wanted = list(columns or now.columns)
        yield self._changes(found, after, upto, (before, now), wanted)

    def _changes(
        self,
        found: Changed,
        after: Position,
        upto: Position,
        states: tuple[DataFrame, DataFrame],
        wanted: list[str],
    ) -> Changes:
        before, now = states
        schema = now.select(*map(_column, wanted)).schema
        if found.is_logged and bool(self._config.isCDCEnabled()) and are_readable(schema):
            ended = max(one.completed for one in found.commits)
            rows = read_images(self.spark, self.location, schema, began=found.began, ended=ended)
            return Changes(found.meaning, rows, sum(one.n_bytes for one in found.commits))
        if self._has_rows_in_base_files():
            old, new = self._files(found, after.commit), self._files(found, upto.commit)
            before = self._of_files(before, old.keys() - new.keys())
            now = self._of_files(now, new.keys() - old.keys())
            apart = (old.keys() - new.keys(), new.keys() - old.keys())
            n_bytes = sum(old[one] for one in apart[0]) + sum(new[one] for one in apart[1])
        else:
            touched = self._touched(found.partitions)
            if touched is not None:
                before, now = before.where(touched), now.where(touched)
            n_bytes = sum(
                self._bytes(one.commit, None if touched is None else found.partitions)
                for one in (after, upto)
            )
        known = [name for name in wanted if name in before.columns]
        rows = signed(before.select(*map(_column, known)), now.select(*map(_column, wanted)))
        return Changes(found.meaning, rows, n_bytes)

    @property
    def _config(self) -> Any:
        return self.client.getTableConfig()

    def _at(self, instant: str) -> DataFrame:
        reader = self.spark.read.format("hudi")
        if instant:
            reader = reader.option("as.of.instant", instant)
        return reader.load(self.location)

    def _has_rows_in_base_files(self) -> bool:
        """Whether each row is whole in a Parquet file, under its name and with all columns."""
        config = self._config
        return (
            str(self.client.getTableType().name()) == "COPY_ON_WRITE"
            and str(config.getBaseFileFormat().name()) == "PARQUET"
            and not bool(config.shouldDropPartitionColumns())
            and not self._has_renamed_columns()
        )

    def _has_renamed_columns(self) -> bool:
        """Whether columns may have other names or types in older files."""
        hudi = self._jvm.org.apache.hudi
        resolver = hudi.common.table.TableSchemaResolver(self.client)
        return bool(resolver.getTableInternalSchemaFromCommitMetadata().isPresent())

    def _files(self, found: Changed, instant: str) -> dict[str, int]:
        """Return the base files of the touched partitions at an instant, with their bytes."""
        files: dict[str, int] = {}
        with self._view() as view:
            for path in found.partitions:
                for one in self._listed(view.getLatestBaseFilesBeforeOrOn(path, instant)):
                    files[str(one.getPath())] = int(one.getFileSize())
        return files

    def _bytes(self, instant: str, partitions: Sequence[str] | None = None) -> int:
        """Return the bytes of the files of some partitions at an instant; None: of all."""
        with self._view() as view:
            if partitions is None:
                view.loadAllPartitions()
                partitions = [str(path) for path in view.getPartitionNames()]
            return sum(
                int(one.getTotalFileSize())
                for path in partitions
                for one in self._listed(
                    view.getLatestMergedFileSlicesBeforeOrOn(path, instant or _NEVER)
                )
            )

    @contextmanager
    def _view(self) -> Iterator[Any]:
        """Give Hudi's view of the files as they are."""
        hudi = self._jvm.org.apache.hudi
        context: Any = self.spark._jsc
        engine = hudi.client.common.HoodieSparkEngineContext(context)
        has_metadata = False  # what Hudi's own index of files says may be behind
        settings = hudi.common.config.HoodieMetadataConfig.newBuilder()
        view = hudi.common.table.view.FileSystemViewManager.createInMemoryFileSystemView(
            engine, self.client, settings.enable(has_metadata).build()
        )
        try:
            yield view
        finally:
            view.close()

    def _listed(self, stream: Any) -> Any:
        return stream.collect(self._jvm.java.util.stream.Collectors.toList())

    def _of_files(self, frame: DataFrame, files: set[str]) -> DataFrame:
        """Return the rows of some base files, of a frame's columns."""
        schema = frame.schema
        if not files:
            return frame.limit(0)
        return self.spark.read.schema(schema).parquet(*sorted(files))

    def _touched(self, paths: Sequence[str]) -> Column | None:
        """Return the condition of rows in some partitions; None: of all rows."""
        if not self._partition_columns or not self.has_plain_partitions:
            return None
        return reduce(or_, map(_in_partition, paths), F.expr("false"))

    @property
    def has_plain_partitions(self) -> bool:
        """Whether partitions are named by just their rows' values; see `Source`."""
        is_readable = bool(str(self._config.getHiveStylePartitioningEnable()) == "true")
        return not self._partition_columns or (is_readable and not self._is_derived())

    @property
    def _partition_columns(self) -> list[str]:
        fields = self._config.getPartitionFields()
        return [str(one) for one in fields.get()] if fields.isPresent() else []

    def _is_derived(self) -> bool:
        """Whether partition paths are made of more than a column's value."""
        kind = str(self._config.getKeyGeneratorClassName() or "")
        return "Timestamp" in kind or "Custom" in kind

    @property
    def _jvm(self) -> Any:
        return self.spark.sparkContext._jvm


def _in_partition(path: str) -> Column:
    name = PartitionName.parse(path)
    parts = (
        F.col(f"`{key}`").cast("string").eqNullSafe(F.lit(value))
        for key, value in zip(name.keys, name.values, strict=True)
    )
    return reduce(and_, parts)


def _plain(frame: DataFrame) -> DataFrame:
    return frame.select([_column(one) for one in frame.columns if not one.startswith(_META)])


def _column(name: str) -> Column:
    return F.col(f"`{name}`")
