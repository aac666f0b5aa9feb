"""Where a pipeline keeps its files, and how its tables are opened."""

import os
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.cdc.applying.domain.folders import Kept, folder_of
from pipelines.cdc.applying.domain.messages import PipelineOrder, TableOrder
from pipelines.cdc.applying.domain.numbers import Numbers
from pipelines.cdc.applying.jobs.kept import KeptFiles
from pipelines.cdc.applying.jobs.reading.batches import Batches, DirectoryBatches
from pipelines.cdc.applying.jobs.reading.kafka_batches import KafkaBatches
from pipelines.cdc.applying.jobs.reading.topic_batches import TopicBatches
from pipelines.cdc.applying.jobs.table import TableWriter
from pipelines.cdc.applying.jobs.table_run import TableRun
from pipelines.cdc.applying.jobs.target import Target
from pipelines.cdc.applying.jobs.tombstones import Tombstones
from pipelines.cdc.changes.connectors.directory_log import DirectoryLog, batches_folder
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

    def batches(self, order: PipelineOrder) -> Batches:
        """Return the batches of a pipeline's changelog.

        Raises:
            ExternalFailure: `kafka.jar`, the session cannot read it.
            RuleViolation: `pipeline.password`.
        """
        if order.kafka is None:
            folder = batches_folder(self.config.path(order.changelog))
            return DirectoryBatches(self.spark, self.fs, folder)
        password = order.kafka.password(os.environ)
        if order.topics is None:
            return KafkaBatches(self.spark, order.kafka, password)
        log = DirectoryLog(self.fs, self.config.path(order.changelog))
        return TopicBatches(self.spark, order, order.kafka, password, log)

    def keep_unreadable(self, rows: DataFrame) -> int:
        """Keep records of Kafka that are none of a changelog; returns how many there are now."""
        self._unreadable.add(rows.withColumn("at", F.current_timestamp()))
        return self.n_unreadable()

    def n_unreadable(self) -> int:
        """Return how many of them are kept."""
        files = self._unreadable.files()
        place = ("topic", "partition", "offset")
        return self._unreadable.read(files).select(*place).distinct().count() if files else 0

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

    @property
    def _unreadable(self) -> KeptFiles:
        return KeptFiles(self.spark, self.fs, self.root.child("unreadable"))

    def _kept(self, name: str, kind: Kept) -> KeptFiles:
        return KeptFiles(self.spark, self.fs, self.root.child(*folder_of(name, kind)))
