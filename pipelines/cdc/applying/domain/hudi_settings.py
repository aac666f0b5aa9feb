"""Settings with which the program writes a Hudi table.

The writer schedules compactions and leaves their execution to table services. With a lock that both
share it takes the lock, and leaves what others may still write alone; without one it is the only
writer. Either way the table says so in its properties, for services to read.
"""

from collections.abc import Mapping

from pipelines.cdc.applying.domain.messages import TableOrder

VERSION = "_lw_version"
"""The column with the version of a row; Hudi orders rows of a key by it."""
MARKS = "lakewarden."
NUMBER, BATCHES, NEWEST, POSITION, CHANGED_AT, OWNER, KEYS = (
    f"{MARKS}{name}"
    for name in ("number", "batches", "version", "position", "changed_at", "pipeline", "keys")
)
"""What each commit says of itself: in the commit, so that rows and position are one write."""

PART = f"{MARKS}part"
"""A commit that is the first of two of a batch says this alone."""
CHANGING = frozenset(
    {
        *("UPSERT", "INSERT", "BULK_INSERT", "DELETE", "DELETE_PARTITION"),
        *("INSERT_OVERWRITE", "INSERT_OVERWRITE_TABLE"),
    }
)
"""Operations of Hudi that change rows; table services have others."""

UNFINISHED = {"hoodie.compact.schedule.inline": "false", "hoodie.clean.automatic": "false"}
"""Settings of such a commit: nothing is scheduled, cleaned or told before the batch is whole."""

_TYPES = {"MOR": "MERGE_ON_READ", "COW": "COPY_ON_WRITE"}
_SERVICES = {
    "hoodie.compact.inline": "false",
    "hoodie.datasource.compaction.async.enable": "false",
    "hoodie.clustering.inline": "false",
    "hoodie.clustering.async.enabled": "false",
}
_SCHEDULES = {
    "hoodie.compact.schedule.inline": "true",
    "hoodie.compact.inline.max.delta.commits": "5",
}
_ALONE = {"hoodie.write.concurrency.mode": "single_writer"}
_SHARED = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.clean.failed.writes.policy": "LAZY",
}
_TOLD = (
    "hoodie.compact.",
    "hoodie.clean.",
    "hoodie.clustering.",
    "hoodie.write.concurrency.",
    "hoodie.write.lock.provider",
)


def write_settings(order: TableOrder, *, parallelism: int) -> dict[str, str]:
    """Return the settings of an upsert or a delete but for the operation itself."""
    n = str(parallelism)
    return {
        "hoodie.table.name": order.target_table,
        "hoodie.datasource.write.table.type": _TYPES[order.kind],
        "hoodie.datasource.write.recordkey.field": ",".join(key_columns(order)),
        "hoodie.datasource.write.precombine.field": VERSION,
        "hoodie.record.merge.mode": "EVENT_TIME_ORDERING",
        "hoodie.datasource.write.partitionpath.field": order.partition,
        "hoodie.datasource.write.keygenerator.class": _key_generator(order),
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.datasource.write.partitionpath.urlencode": "true",
        # A row whose partition changes moves, wherever it is.
        "hoodie.index.type": "GLOBAL_SIMPLE" if order.partition else "SIMPLE",
        "hoodie.simple.index.update.partition.path": "true",
        "hoodie.table.timeline.timezone": "UTC",
        # Without a lock, services that execute plans would commit to the metadata table too.
        "hoodie.metadata.enable": "false",
        "hoodie.embed.timeline.server": "false",
        "hoodie.write.markers.type": "DIRECT",
        "hoodie.upsert.shuffle.parallelism": n,
        "hoodie.delete.shuffle.parallelism": n,
        "hoodie.bulkinsert.shuffle.parallelism": n,
        # Else each task writes a file for each partition that it meets.
        "hoodie.bulkinsert.sort.mode": "GLOBAL_SORT" if order.partition else "NONE",
        "hoodie.simple.index.parallelism": n,
        "hoodie.global.simple.index.parallelism": n,
        "hoodie.datasource.write.commitmeta.key.prefix": MARKS,
        **service_settings(order),
        **order.settings,
    }


def service_settings(order: TableOrder) -> dict[str, str]:
    """Return what concerns table services, as writer and table both say it."""
    settings = {
        **_SERVICES,
        **(_SCHEDULES if order.kind == "MOR" else {}),
        **(_SHARED | order.lock if order.lock else _ALONE),
    }
    return {**settings, **{key: text for key, text in order.settings.items() if _is_told(key)}}


def sync_settings(order: TableOrder, metastore: str) -> dict[str, str]:
    """Return the settings by which a commit brings the metastore up to date; empty: it does not."""
    if not order.is_synced:
        return {}
    sync = "hoodie.datasource.hive_sync"
    of = "MultiPartKeysValueExtractor" if order.partition else "NonPartitionedExtractor"
    told = {key: text for key, text in service_settings(order).items() if _is_told(key)}
    return {
        f"{sync}.enable": "true",
        f"{sync}.mode": "hms",
        f"{sync}.metastore.uris": metastore,
        f"{sync}.database": order.target_db,
        f"{sync}.table": order.target_table,
        f"{sync}.partition_fields": order.partition,
        f"{sync}.partition_extractor_class": f"org.apache.hudi.hive.{of}",
        f"{sync}.support_timestamp": "true",
        f"{sync}.table_properties": "\n".join(f"{key}={text}" for key, text in told.items()),
        # A commit that changes neither columns nor partitions costs the metastore nothing.
        "hoodie.meta.sync.condition.sync": "true",
    }


def evolving(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a write to a table that is there: columns are added and widened."""
    return {
        **settings,
        "hoodie.schema.on.read.enable": "true",
        "hoodie.datasource.write.reconcile.schema": "true",
    }


def key_columns(order: TableOrder) -> tuple[str, ...]:
    """Return the lake's names of the key's columns, which all plans of a table share."""
    for plan in order.schemas:
        if not plan.is_held:
            return tuple(plan.live[name] for name in order.key)
    return order.key


def _key_generator(order: TableOrder) -> str:
    kind = (
        "Nonpartitioned" if not order.partition else "Simple" if len(order.key) == 1 else "Complex"
    )
    return f"org.apache.hudi.keygen.{kind}KeyGenerator"


def _is_told(key: str) -> bool:
    return key.startswith(_TOLD)
