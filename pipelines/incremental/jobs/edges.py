"""A layer's sources as they are when it is advanced: their positions, columns and event times."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.commits.domain.hudi_timeline import instant_at
from pipelines.commits.domain.positions import Position
from pipelines.commits.jobs.changes import Source
from pipelines.commits.jobs.hudi_source import HudiSource
from pipelines.commits.jobs.iceberg_source import IcebergSource
from pipelines.commits.jobs.tables import open_source
from pipelines.commits.jobs.timelines import open_client, read_timeline
from pipelines.incremental.domain.messages import Edge, Field, LayerOrder, SourceOrder
from pipelines.incremental.domain.states import schema_words
from portal.connectors.lake_config import LakeConfig
from portal.lake.names import TableName


@dataclass(frozen=True)
class Read:
    """One source with the newest commit that is read now."""

    order: SourceOrder
    source: Source
    position: Position
    read_at: datetime
    zone: tzinfo
    """Of writers of Hudi tables that do not write instants in UTC."""

    @classmethod
    def open(cls, spark: SparkSession, config: LakeConfig, order: SourceOrder) -> "Read":
        """Open a source; what it gets later is not read."""
        name = TableName.parse(config.lake, order.table)
        source: Source
        if order.format == "hudi":
            source = HudiSource.open(spark, order.table, order.location)
        else:
            source = open_source(spark, config, name)
        at = datetime.now(UTC)
        return cls(order, source, source.position(), at, config.zone)

    def rows(self) -> DataFrame:
        """Return all rows at the position."""
        return self.source.read_at(self.position)

    def schema(self) -> tuple[Field, ...]:
        """Return the columns at the position."""
        return tuple(Field(one.name, one.dataType.simpleString()) for one in self.rows().schema)

    def held(self, schema: tuple[Field, ...]) -> str:
        """Say how the columns differ from those that people have seen; empty: they do not."""
        return schema_words(self.order.schema, schema) if self.order.schema else ""

    def record_key(self) -> tuple[str, ...]:
        """Return the key that the source tells its rows apart by; none where it has no such key."""
        if not isinstance(self.source, HudiSource):
            return ()
        fields = self.source.client.getTableConfig().getRecordKeyFields()
        return tuple(str(one) for one in fields.get()) if fields.isPresent() else ()

    def edge(
        self, schema: tuple[Field, ...], *, n_commits: int = 0, event_time: datetime | None = None
    ) -> Edge:
        """Return how far the source is read once its rows are written."""
        return Edge(
            table=self.order.table,
            position=self.position.commit,
            position_at=self._position_at(),
            read_at=None if self._is_behind() else self.read_at,
            n_commits=n_commits,
            event_time=event_time,
            watermark=self.order.watermark,
            schema=schema,
        )

    def _is_behind(self) -> bool:
        """Whether the source has commits that cannot be read yet, as an older one is not done."""
        if not isinstance(self.source, HudiSource):
            return False
        commits = read_timeline(self.source.client).commits
        return any(one.completed and one.instant > self.position.commit for one in commits)

    def _position_at(self) -> datetime | None:
        if not self.position.commit:
            return None
        if isinstance(self.source, IcebergSource):
            snapshot = self.source.java.snapshot(int(self.position.commit))
            return datetime.fromtimestamp(int(snapshot.timestampMillis()) / 1000, UTC)
        if isinstance(self.source, HudiSource):
            config: Any = self.source.client.getTableConfig()
            is_utc = str(config.getTimelineTimezone().name()) == "UTC"
            return instant_at(self.position.commit, UTC if is_utc else self.zone)
        return None


def reads_of(spark: SparkSession, config: LakeConfig, order: LayerOrder) -> Mapping[str, Read]:
    """Open the sources of a layer, the static ones first: changes are joined with what is there."""
    found = {one.table: Read.open(spark, config, one) for one in order.sources if one.is_static}
    for one in order.sources:
        if not one.is_static:
            found[one.table] = Read.open(spark, config, one)
    return found


def n_commits_since(spark: SparkSession, location: str, since: datetime) -> int:
    """Return how many commits of a target of ours were begun since, with the last one before."""
    timeline = read_timeline(open_client(spark, location))
    return 1 + sum(instant_at(one.instant, UTC) >= since for one in timeline.commits)


def newest_event(rows: DataFrame, column: str) -> datetime | None:
    """Return the greatest event time of some rows."""
    at = F.unix_micros(F.col(f"`{column}`").cast("timestamp"))
    (found,) = rows.agg(F.max(at).alias("at")).collect()
    return None if found["at"] is None else datetime.fromtimestamp(found["at"] / 1_000_000, UTC)
