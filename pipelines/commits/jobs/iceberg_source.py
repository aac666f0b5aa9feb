"""Reads an Iceberg table at snapshots, and the rows of files that are not in both of two.

A file whose deletes changed counts as another one, so that every kind of commit is read alike, and
a compaction between two others costs no row more.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from pipelines.commits.domain.positions import Kind, Position, full
from pipelines.commits.domain.snapshots import Snapshot, changed
from pipelines.commits.jobs.changes import Changes, signed
from portal.connectors.lake_config import LakeConfig
from portal.lake.names import TableName, quoted

_CATALOG = "lake"


@dataclass(frozen=True)
class IcebergSource:
    """One table as it was when it was opened; snapshots since are not known to it."""

    spark: SparkSession
    name: str
    sql: str
    java: Any

    @classmethod
    def open(cls, spark: SparkSession, config: LakeConfig, name: TableName) -> "IcebergSource":
        """Open a table of the metastore."""
        prefix = f"spark.sql.catalog.{_CATALOG}"
        for key, value in {
            prefix: "org.apache.iceberg.spark.SparkCatalog",
            f"{prefix}.type": "hive",
            f"{prefix}.uri": config.metastore_uri,
            f"{prefix}.cache-enabled": "false",
            # Where Iceberg's source looks for a table that was handed to it as an object.
            "spark.sql.catalog.default_cache_iceberg": (
                "org.apache.iceberg.spark.SparkCachedTableCatalog"
            ),
        }.items():
            spark.conf.set(key, value)
        context: Any = spark.sparkContext
        session: Any = spark._jsparkSession
        catalog = session.sessionState().catalogManager().catalog(_CATALOG).icebergCatalog()
        parts = context._gateway.new_array(context._jvm.java.lang.String, 2)
        parts[0], parts[1] = name.db, name.table
        java = catalog.loadTable(context._jvm.org.apache.iceberg.catalog.TableIdentifier.of(parts))
        sql = f"{_CATALOG}.{quoted(name.db)}.{quoted(name.table)}"
        return cls(spark, str(name), sql, java)

    @property
    def has_plain_partitions(self) -> bool:
        """Return True: Iceberg knows its transforms."""
        return True

    def position(self) -> Position:
        """Return the current snapshot of main."""
        self.java.refresh()
        snapshot = self.java.currentSnapshot()
        commit = str(int(snapshot.snapshotId())) if snapshot is not None else ""
        return Position(str(self.java.uuid()), commit)

    def read_at(self, position: Position) -> DataFrame:
        """Return the rows as they were at a position, in the columns that the table has now."""
        reader = self.spark.read.format("iceberg")
        if not position.commit:
            return reader.load(self.sql).limit(0)
        return reader.option("snapshot-id", position.commit).load(self.sql)

    def n_bytes(self, position: Position) -> int:
        """Return the bytes of the data files of a snapshot."""
        return sum(one.n_bytes for one in self._tasks(position.commit).values())

    @contextmanager
    def changes(
        self, after: Position, upto: Position, columns: Sequence[str] | None = None
    ) -> Iterator[Changes]:
        """Give the rows that changed; see `Source`."""
        meaning = changed(self._line(upto.commit), after, upto)
        if meaning.kind is Kind.CHANGES:
            other = self._other_column(after.commit, upto.commit, columns)
            meaning = full(f"{other} is another column since.") if other else meaning
        if meaning.kind is not Kind.CHANGES:
            yield Changes(meaning)
            return
        old, new = self._tasks(after.commit), self._tasks(upto.commit)
        gone = [old[key] for key in old.keys() - new.keys()]
        added = [new[key] for key in new.keys() - old.keys()]
        with self._rows(gone) as before, self._rows(added) as now:
            wanted = [f"`{one}`" for one in columns or now.columns]
            rows = signed(before.select(*wanted), now.select(*wanted))
            yield Changes(meaning, rows, sum(one.n_bytes for one in (*gone, *added)))

    def _other_column(self, after: str, upto: str, columns: Sequence[str] | None) -> str:
        """Return a column whose name meant another column, or none, at the first snapshot.

        Rows that did not change have other values in it, and no change tells them. Without
        `columns` those that are new are left to who knows what was read; empty: there is none.
        """
        jvm: Any = self.spark.sparkContext._jvm
        of = jvm.org.apache.iceberg.util.SnapshotUtil
        was, now = (of.schemaFor(self.java, int(one)) for one in (after, upto))
        names = columns or [str(one.name()) for one in now.columns()]
        for name in names:
            before, field = (one.caseInsensitiveFindField(name) for one in (was, now))
            if before is None or field is None:
                if columns is not None:
                    return name
            elif before.fieldId() != field.fieldId():
                return name
        return ""

    def _line(self, number: str) -> list[Snapshot]:
        """Return a snapshot and its ancestors, newest first."""
        found: list[Snapshot] = []
        snapshot = self.java.snapshot(int(number)) if number else None
        while snapshot is not None:
            found.append(Snapshot(str(int(snapshot.snapshotId())), str(snapshot.operation())))
            parent = snapshot.parentId()
            snapshot = self.java.snapshot(parent) if parent is not None else None
        return found

    def _tasks(self, number: str) -> Mapping[tuple[str, ...], "_Task"]:
        """Return the scan tasks of a snapshot by data file and deletes."""
        if not number:
            return {}
        scan = self.java.newScan().useSnapshot(int(number)).ignoreResiduals()
        planned = scan.planFiles()
        try:
            found = {}
            tasks = planned.iterator()
            while tasks.hasNext():
                task = tasks.next()
                file = task.file()
                deletes = sorted(
                    f"{one.location()}@{one.contentOffset()}" for one in task.deletes()
                )
                size = int(file.fileSizeInBytes())
                found[str(file.location()), *deletes] = _Task(task, size)
            return found
        finally:
            planned.close()

    @contextmanager
    def _rows(self, tasks: Sequence["_Task"]) -> Iterator[DataFrame]:
        """Give the rows of some files without deleted ones."""
        if not tasks:
            yield self.spark.read.format("iceberg").load(self.sql).limit(0)
            return
        jvm: Any = self.spark.sparkContext._jvm
        manager, key = jvm.org.apache.iceberg.spark.ScanTaskSetManager.get(), uuid4().hex
        cache = self._cache()
        staged = jvm.java.util.ArrayList()
        for one in tasks:
            staged.add(one.java)
        cache.add(key, self.java)
        manager.stageTasks(self.java, key, staged)
        try:
            reader = self.spark.read.format("iceberg").option("scan-task-set-id", key)
            yield reader.load(key)
        finally:
            manager.removeTasks(self.java, key)
            cache.remove(key)

    def _cache(self) -> Any:
        """Return where Iceberg's source looks for tables; py4j sees another `get` of the class."""
        context: Any = self.spark.sparkContext
        jvm, new_array = context._jvm, context._gateway.new_array
        loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
        get = loader.loadClass("org.apache.iceberg.spark.SparkTableCache").getMethod(
            "get", new_array(jvm.java.lang.Class, 0)
        )
        return get.invoke(None, new_array(jvm.java.lang.Object, 0))


@dataclass(frozen=True)
class _Task:
    java: Any
    n_bytes: int
