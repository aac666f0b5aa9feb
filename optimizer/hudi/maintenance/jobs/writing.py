"""Configures a service's writes to a Hudi table, so that it does no more than requested.

Hudi's client would upgrade the table, clean, archive, roll others back, and build or drop parts of
the metadata table on the way. All of that is switched off: the table stays as its writer has it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from optimizer.hudi.maintenance.domain.tasks import Service, Step
from optimizer.hudi.maintenance.jobs.orders import Order
from optimizer.hudi.tables.jobs.errors import clear_errors
from optimizer.hudi.tables.jobs.table import OpenedTable

_FAILED_WRITES = "hoodie.clean.failed.writes.policy"
_SHARED = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    # Hudi asks for it where there is a lock; only a clean would act on it, see `_without_rollback`.
    _FAILED_WRITES: "LAZY",
}
_ALONE = {"hoodie.write.concurrency.mode": "single_writer", _FAILED_WRITES: "NEVER"}
# Which part of the metadata table each setting builds, or drops where it is false.
_PARTS = {
    "column_stats": "hoodie.metadata.index.column.stats.enable",
    "partition_stats": "hoodie.metadata.index.partition.stats.enable",
    "bloom_filters": "hoodie.metadata.index.bloom.filter.enable",
    "record_index": "hoodie.metadata.record.index.enable",
}
_NOTHING_ELSE = {
    "hoodie.embed.timeline.server": "false",
    "hoodie.write.markers.type": "DIRECT",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.compact.inline": "false",
    "hoodie.compact.schedule.inline": "false",
    "hoodie.clustering.inline": "false",
    "hoodie.clustering.schedule.inline": "false",
    "hoodie.clustering.async.enabled": "false",
    "hoodie.partition.ttl.inline": "false",
    "hoodie.write.auto.upgrade": "false",
}
# When to plan is decided outside, so Hudi's own thresholds are passed at once.
_AT_ONCE: Mapping[Service, Mapping[str, str]] = {
    Service.COMPACTION: {
        "hoodie.compact.inline.trigger.strategy": "NUM_COMMITS",
        "hoodie.compact.inline.max.delta.commits": "1",
    },
    Service.CLUSTERING: {
        "hoodie.clustering.inline.max.commits": "1",
        "hoodie.clustering.async.max.commits": "1",
    },
    Service.CLEAN: {
        "hoodie.clean.trigger.strategy": "NUM_COMMITS",
        "hoodie.clean.trigger.max.commits": "0",
    },
}
KEPT = "hoodie.clean.commits.retained"
_LEAST_ARCHIVED = 20
_META_FIELDS = False
_OF_LOCKS = "spark.hoodie.write.lock."


def settings_for(table: OpenedTable, order: Order) -> dict[str, str]:
    """Give the settings of Hudi's client: the table's, the order's, and last what keeps it safe."""
    held = table.metadata_partitions
    said = {**table.written, **order.properties, **order.hudi_settings}
    kept = int(said[KEPT]) if said.get(KEPT, "").isdecimal() else 10
    return {
        **_locks_of_lake(table),
        **{key: text for key, text in said.items() if key.startswith("hoodie.")},
        **(_AT_ONCE.get(order.service, {}) if order.step is Step.SCHEDULE else {}),
        **_NOTHING_ELSE,
        # Hudi wants more commits kept from the archive than from a clean, though none is archived.
        "hoodie.keep.min.commits": str(kept + _LEAST_ARCHIVED),
        "hoodie.keep.max.commits": str(kept + 2 * _LEAST_ARCHIVED),
        "hoodie.write.table.version": str(table.version),
        "hoodie.metadata.enable": str(bool(held)).lower(),
        **{setting: str(part in held).lower() for part, setting in _PARTS.items()},
        **({**order.lock, **_SHARED} if order.lock else _ALONE),
    }


def write_config(table: OpenedTable, order: Order) -> Any:
    """Return Hudi's settings as its client takes them."""
    settings = table.jvm.java.util.HashMap()
    for key, value in settings_for(table, order).items():
        settings.put(key, value)
    settings.put("hoodie.avro.schema", _schema(table))
    builder = table.hudi.config.HoodieWriteConfig.newBuilder().withPath(table.location)
    config = builder.forTable(table.config.getTableName()).withProps(settings).build()
    return _without_rollback(config) if order.service is Service.CLEAN else config


@contextmanager
def writing_client(table: OpenedTable, order: Order) -> Iterator[Any]:
    """Yield Hudi's client for a task; what Java throws in here is told as a PortalError."""
    zone = table.config.getTimelineTimezone()
    with clear_errors(order.name):
        table.hudi.common.table.timeline.HoodieInstantTimeGenerator.setCommitTimeZone(zone)
        client = table.hudi.client.SparkRDDWriteClient(table.engine, write_config(table, order))
        try:
            yield client
        finally:
            client.close()


def _locks_of_lake(table: OpenedTable) -> dict[str, str]:
    """Return what the Spark of the lake says of locks: the address of a ZooKeeper, say."""
    known = table.spark.sparkContext.getConf().getAll()
    return {key.removeprefix("spark."): text for key, text in known if key.startswith(_OF_LOCKS)}


def _schema(table: OpenedTable) -> str:
    """Return the schema of its rows as its last commit has it; '' of a table that has no commit."""
    of = table.hudi.common.table
    if not table.java.getCommitsTimeline().filterCompletedInstants().lastInstant().isPresent():
        return ""
    return str(of.TableSchemaResolver(table.java).getTableSchema(_META_FIELDS).toString())


def _without_rollback(config: Any) -> Any:
    """Keep a clean from rolling back what writers left: that is a task of its own."""
    config.setValue(_FAILED_WRITES, "NEVER")
    return config
