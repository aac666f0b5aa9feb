"""A Hudi table that says in each of its commits how far its sources were read.

Rows and positions are one commit: after a crash either both are there or none, and whoever goes on
reads the positions first. One writer at a time; what somebody else commits is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from pipelines.commits.domain.marks import (
    NOTE,
    OWNER,
    POSITIONS,
    PREFIX,
    Marked,
    Written,
    options,
    written,
)
from pipelines.commits.domain.positions import Positions
from pipelines.commits.jobs.timelines import open_client
from portal.lake.errors import RuleViolation

UPSERT, REPLACE = "upsert", "insert_overwrite_table"
"""Writes of changed rows, and of all rows in the place of what was there."""
_FIRST_OF_HUDI_1 = 8


@dataclass(frozen=True)
class Target:
    """One table; `owner` identifies who alone writes it."""

    spark: SparkSession
    db: str
    table: str
    location: str
    owner: str
    key: str
    """The column with the record key."""
    metastore: str = ""
    """The metastore's address; empty: the table is not registered."""
    deleted_by: tuple[str, str] | None = None
    """A column, and the value with which a row takes the row of its key away."""
    settings: Mapping[str, str] = field(default_factory=dict)
    version: int = 0
    """The table version in which it is created; 0: the newest one."""

    @property
    def is_there(self) -> bool:
        """Whether the table has been created."""
        return self._exists(f"{self.location}/.hoodie/hoodie.properties")

    def read(self) -> DataFrame:
        """Read the table as it is now, with Hudi's own columns."""
        return self.spark.read.format("hudi").load(self.location)

    def written(self, *, may_be_foreign: bool = False) -> Written | None:
        """Return what the newest commit says; None before the first one.

        With `may_be_foreign` commits of others since are let pass, as a write of all rows may.

        Raises:
            RuleViolation: `commits.foreign_table`, it is no table of this owner;
                `commits.foreign_write`, somebody else has written to it.
        """
        said, foreign = self.newest()
        if said is None:
            return None
        if said.owner != self.owner:
            raise self._foreign("is the target of something else")
        if foreign and not may_be_foreign:
            raise RuleViolation(
                "commits.foreign_write",
                f"{self.db}.{self.table} was written to by somebody else "
                f"(commits {', '.join(foreign[:5])}). Compute it in full again, which takes their "
                "rows away, and keep others from writing to it.",
            )
        return said

    def newest(self) -> tuple[Written | None, tuple[str, ...]]:
        """Return what the newest commit of any owner says, and the commits of others since.

        Raises:
            RuleViolation: `commits.foreign_table`, what is there is no table of Lakewarden's.
        """
        if not self.is_there:
            if self._exists(self.location) and self._holds_files():
                raise self._foreign("has files that are no table of Lakewarden's")
            return None, ()
        said, foreign = written(self._marked())
        if said is None and foreign:
            raise self._foreign("is a Hudi table that somebody else made")
        return said, foreign

    def write(
        self, rows: DataFrame, positions: Positions, *, operation: str = UPSERT, note: str = ""
    ) -> None:
        """Commit rows with the positions that they bring the table to.

        Twice with the same rows gives the same table.
        """
        n = str(max(1, self.spark.sparkContext.defaultParallelism // 2))
        said = {
            "hoodie.table.name": self.table,
            "hoodie.datasource.write.operation": operation,
            "hoodie.datasource.write.table.type": "COPY_ON_WRITE",
            "hoodie.datasource.write.recordkey.field": self.key,
            "hoodie.datasource.write.partitionpath.field": "",
            "hoodie.datasource.write.keygenerator.class": (
                "org.apache.hudi.keygen.NonpartitionedKeyGenerator"
            ),
            "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING",
            "hoodie.index.type": "SIMPLE",
            "hoodie.table.timeline.timezone": "UTC",
            "hoodie.metadata.enable": "false",
            "hoodie.embed.timeline.server": "false",
            "hoodie.write.markers.type": "DIRECT",
            "hoodie.upsert.shuffle.parallelism": n,
            "hoodie.insert.shuffle.parallelism": n,
            "hoodie.simple.index.parallelism": n,
            "hoodie.datasource.write.commitmeta.key.prefix": PREFIX,
            **self._sync(),
            **self._version(),
            **self.settings,
            **options(positions, self.owner, note),
        }
        if operation == REPLACE:
            # No row of before is left that needs the columns of before.
            said["hoodie.datasource.write.schema.allow.auto.evolution.column.drop"] = "true"
        if self.deleted_by is not None:
            said["hoodie.payload.delete.field"] = self.deleted_by[0]
            said["hoodie.payload.delete.marker"] = self.deleted_by[1]
        rows.write.format("hudi").options(**said).mode("append").save(self.location)

    def _version(self) -> dict[str, str]:
        """Return the setting that keeps an old table version, which a write else upgrades."""
        version = self.version
        if self.is_there:
            config = open_client(self.spark, self.location).getTableConfig()
            own = int(config.getTableVersion().versionCode())
            version = own if own < _FIRST_OF_HUDI_1 else 0
        return {"hoodie.write.table.version": str(version)} if version else {}

    def _sync(self) -> dict[str, str]:
        if not self.metastore:
            return {}
        sync = "hoodie.datasource.hive_sync"
        return {
            f"{sync}.enable": "true",
            f"{sync}.mode": "hms",
            f"{sync}.metastore.uris": self.metastore,
            f"{sync}.database": self.db,
            f"{sync}.table": self.table,
            f"{sync}.partition_extractor_class": "org.apache.hudi.hive.NonPartitionedExtractor",
            f"{sync}.support_timestamp": "true",
            "hoodie.meta.sync.condition.sync": "true",
        }

    def _marked(self) -> list[Marked]:
        client = open_client(self.spark, self.location)
        timeline = client.getActiveTimeline().getCommitsTimeline().filterCompletedInstants()
        found = []
        instants = timeline.getReverseOrderedInstants().iterator()
        while instants.hasNext():
            instant = instants.next()
            metadata = timeline.readCommitMetadata(instant)
            one = Marked(
                str(instant.requestedTime()),
                str(metadata.getOperationType()),
                *(str(metadata.getMetadata(key) or "") for key in (POSITIONS, OWNER, NOTE)),
            )
            found.append(one)
            if one.positions:
                break
        return found

    def _foreign(self, what: str) -> RuleViolation:
        return RuleViolation(
            "commits.foreign_table",
            f"{self.location} {what}. Give another name, or drop what is there.",
        )

    def _exists(self, path: str) -> bool:
        place = self._hadoop.Path(path)
        return bool(self._files(place).exists(place))

    def _holds_files(self) -> bool:
        place = self._hadoop.Path(self.location)
        return bool(self._files(place).listStatus(place))

    def _files(self, place: Any) -> Any:
        context: Any = self.spark.sparkContext
        return place.getFileSystem(context._jsc.hadoopConfiguration())

    @property
    def _hadoop(self) -> Any:
        context: Any = self.spark.sparkContext
        return context._jvm.org.apache.hadoop.fs
