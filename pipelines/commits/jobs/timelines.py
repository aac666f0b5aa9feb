"""Reads the timeline of a Hudi table as far as a reader of changes needs it."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession

from pipelines.commits.domain.hudi_timeline import (
    COMMITS,
    SERVICES,
    Clean,
    Commit,
    Rollback,
    Timeline,
)


def open_client(spark: SparkSession, location: str) -> Any:
    """Open the metadata of a table at its base path."""
    context: Any = spark.sparkContext
    hudi = context._jvm.org.apache.hudi
    conf = hudi.hadoop.fs.HadoopFSUtils.getStorageConf(context._jsc.hadoopConfiguration())
    builder = hudi.common.table.HoodieTableMetaClient.builder().setConf(conf)
    return builder.setBasePath(location).build()


def read_timeline(client: Any, after: str | None = None) -> Timeline:
    """Read the active timeline; with `after` also what the instants later than it did."""
    active = client.reloadActiveTimeline()
    commits: list[Commit] = []
    cleans: list[Clean] = []
    rollbacks: list[Rollback] = []
    for instant in active.getInstants():
        digits, action = str(instant.requestedTime()), str(instant.getAction())
        is_done = bool(instant.isCompleted())
        is_read = after is not None and is_done
        is_later = is_read and digits > str(after)
        if action in COMMITS or action in SERVICES:
            completed = str(instant.getCompletionTime()) if is_done else ""
            one = Commit(digits, action, completed)
            commits.append(_described(active, instant, one) if is_later else one)
        elif action == "clean" and is_read:
            cleans.append(Clean(digits, _kept_from(active, instant)))
        elif action in {"rollback", "restore"} and is_later:
            rollbacks.append(Rollback(digits, tuple(_undone(active, instant, action))))
    return Timeline(tuple(commits), tuple(cleans), tuple(rollbacks))


def _described(active: Any, instant: Any, commit: Commit) -> Commit:
    metadata = active.readCommitMetadata(instant)
    paths = {str(path) for path in metadata.getPartitionToWriteStats().keySet()}
    if commit.action == "replacecommit":
        replaced = active.readReplaceCommitMetadata(instant).getPartitionToReplaceFileIds()
        paths |= {str(path) for path in replaced.keySet()}
    operation = metadata.getOperationType()
    return Commit(
        commit.instant,
        commit.action,
        commit.completed,
        "" if operation is None else str(operation.name()),
        tuple(sorted(paths)),
        int(metadata.fetchTotalBytesWritten()),
    )


def _kept_from(active: Any, instant: Any) -> str:
    kept = active.readCleanMetadata(instant).getEarliestCommitToRetain()
    return str(kept or "")


def _undone(active: Any, instant: Any, action: str) -> Iterator[str]:
    """Yield the instants that a rollback undid, without services that had changed no row."""
    if action == "restore":
        found = active.readRestoreMetadata(instant).getRestoreInstantInfo()
    else:
        found = active.readRollbackMetadata(instant).getInstantsRollback()
    for one in found or ():
        if str(one.getAction()) not in SERVICES:
            yield str(one.getCommitTime())
