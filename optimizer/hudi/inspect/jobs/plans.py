"""Reads the pending compaction and clustering plans of a Hudi table, and their file groups."""

from collections.abc import Mapping
from typing import Any

from optimizer.hudi.inspect.domain.facts import (
    Action,
    FileGroupId,
    Instant,
    InstantState,
    PendingPlan,
)
from optimizer.hudi.inspect.jobs.instants import Timeline
from optimizer.hudi.tables.jobs.errors import error_text
from optimizer.hudi.tables.jobs.table import OpenedTable
from portal.spark.java_errors import JAVA_ERRORS

_PLANNED = frozenset({Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING})
_OPERATION = "org.apache.hudi.avro.model.HoodieCompactionOperation"
_SLICE = "org.apache.hudi.avro.model.HoodieSliceInfo"
_GROUP = "org.apache.hudi.avro.model.HoodieClusteringGroup"


def read_plans(
    table: OpenedTable, timeline: Timeline, sizes: Mapping[str, int], faults: list[str]
) -> tuple[PendingPlan, ...]:
    """Return the pending plans, oldest first; `sizes` are of the files by name."""
    found = []
    for one in timeline.instants:
        if one.is_pending and one.action in _PLANNED:
            try:
                found.append(_plan(table, one, sizes))
            except JAVA_ERRORS as error:
                faults.append(
                    f"The plan of {one.action} {one.instant} cannot be read ({error_text(error)})"
                )
    return tuple(sorted(found, key=lambda plan: plan.instant))


def _plan(table: OpenedTable, one: Instant, sizes: Mapping[str, int]) -> PendingPlan:
    items, owner = _items(table, one)
    if items is None or items.isEmpty():
        return _of(one, (), 0, 0)
    step = table.columns.step
    partitions, files, bases, logs = (
        table.columns.read(items, step(owner, method))
        for method in ("getPartitionPath", "getFileId", "getDataFilePath", "getDeltaFilePaths")
    )
    groups = tuple(FileGroupId(*pair) for pair in zip(partitions, files, strict=True))
    base_bytes = sum(sizes.get(_name(path), 0) for path in bases)
    log_bytes = sum(
        sizes.get(_name(path), 0) for paths in logs for path in paths.strip("[]").split(", ")
    )
    return _of(one, groups, log_bytes, base_bytes)


def _of(
    one: Instant, groups: tuple[FileGroupId, ...], log_bytes: int, base_bytes: int
) -> PendingPlan:
    return PendingPlan(
        instant=one.instant,
        action=one.action,
        requested_at=one.requested_at,
        is_begun=one.state is InstantState.INFLIGHT,
        file_groups=groups,
        log_bytes=log_bytes,
        base_bytes=base_bytes,
    )


def _items(table: OpenedTable, one: Instant) -> tuple[Any, str]:
    """Return Java's list of what a plan works on, and its class."""
    of = table.hudi.common.util
    if one.action is Action.CLUSTERING:
        groups = of.ClusteringUtils.getPendingClusteringPlan(table.java, one.instant)
        slices = table.columns.step(_GROUP, "getSlices")
        return table.columns.flat(groups.getInputGroups(), slices), _SLICE
    if one.action is Action.COMPACTION:
        plan = of.CompactionUtils.getCompactionPlan(table.java, one.instant)
    else:
        plan = of.CompactionUtils.getLogCompactionPlan(table.java, one.instant)
    return plan.getOperations(), _OPERATION


def _name(path: str) -> str:
    return path.rpartition("/")[2]
