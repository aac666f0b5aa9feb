"""Where a pipeline keeps its files, and how its tables are opened."""

from dataclasses import dataclass

from pyspark.sql import SparkSession

from pipelines.cdc.applying.domain.folders import Kept, folder_of
from pipelines.cdc.applying.domain.messages import PipelineOrder, TableOrder
from pipelines.cdc.applying.domain.numbers import Numbers
from pipelines.cdc.applying.jobs.kept import KeptFiles
from pipelines.cdc.applying.jobs.table import TableWriter
from pipelines.cdc.applying.jobs.table_run import TableRun
from pipelines.cdc.applying.jobs.target import Target
from pipelines.cdc.applying.jobs.tombstones import Tombstones
from pipelines.cdc.changes.connectors.directory_log import batches_folder
from portal.connectors.file_status import FileSystem
from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.lake.paths import LakePath
from portal.safety.failpoints import Failpoints


@dataclass(frozen=True)
class Places:
    """The folder of one pipeline."""

    spark: SparkSession
    config: LakeConfig
    fs: FileSystem
    root: LakePath
    failpoints: Failpoints

    @classmethod
    def of(cls, spark: SparkSession, config: LakeConfig, order: PipelineOrder) -> "Places":
        """Return the folder that an order names."""
        root = config.path(order.folder)
        fs = open_file_system(root, config=config, acls=False)
        return cls(spark, config, fs, root, Failpoints.from_environment())

    def batches(self, order: PipelineOrder) -> LakePath:
        """Return the directory of a changelog's batches."""
        return batches_folder(self.config.path(order.changelog))

    def opened(self, order: TableOrder) -> TableRun:
        """Open a table as its last commit left it, with what waits for it."""
        target = Target(self.spark, order, self.config.metastore_uri)
        writer = TableWriter(
            target,
            Tombstones(self._kept(order.name, Kept.TOMBSTONES), order.tombstone_days),
            self._kept(order.name, Kept.QUARANTINE),
            self._kept(order.name, Kept.ASIDE),
            self.failpoints,
            target.marks(),
        )
        table = TableRun(writer, self.waiting(order.name), Numbers())
        table.open()
        return table

    def waiting(self, name: str) -> KeptFiles:
        """Return the records of a table that wait for an order or a decision."""
        return self._kept(name, Kept.WAITING)

    def _kept(self, name: str, kind: Kept) -> KeptFiles:
        return KeptFiles(self.spark, self.fs, self.root.child(*folder_of(name, kind)))
