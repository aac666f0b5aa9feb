"""Reads the files that a clean would delete, by a timeline plan or a plan only computed.

Hudi's planner computes a list without saving it. With the oldest commit that a list retains, the
same list is computed again later, whatever was committed since. A partition whose whole directory
goes with all that lies in it stands on the list as its path and a slash, beside its files.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from optimizer.hudi.maintenance.domain.tasks import Step
from optimizer.hudi.maintenance.jobs.orders import Order
from optimizer.hudi.maintenance.jobs.writing import KEPT, write_config
from optimizer.hudi.tables.jobs.errors import clear_errors
from optimizer.hudi.tables.jobs.table import OpenedTable
from portal.lake.errors import StaleState

EARLIEST = "earliest"
WHOLE = "/"
"""What the path of a partition ends with whose directory is deleted."""
_PLANNED = "org.apache.hudi.avro.model.HoodieCleanFileInfo"
_COMPUTED = "org.apache.hudi.common.model.CleanFileInfo"


@dataclass(frozen=True, slots=True)
class Computed:
    """Paths below the table, in order, and the oldest commit that is retained."""

    paths: list[str]
    earliest: str


def computed(table: OpenedTable, order: Order) -> Computed:
    """Return what a clean would delete now; nothing is written."""
    with clear_errors(table.name):
        config = write_config(table, order)
        hudi = table.hudi.table.HoodieSparkTable.create(config, table.engine, table.java)
        planner = table.hudi.table.action.clean.CleanPlanner(table.engine, hudi, config)
        earliest = planner.getEarliestCommitToRetain()
        paths: list[str] = []
        for partition in planner.getPartitionPathsToClean(earliest):
            found = planner.getDeletePaths(partition, earliest)
            paths += _below(table, str(partition), found.getRight(), _COMPUTED)
            if found.getLeft():
                paths.append(f"{partition}{WHOLE}")
        digits = str(earliest.get().requestedTime()) if earliest.isPresent() else ""
    return Computed(sorted(paths), digits)


def planned_paths(table: OpenedTable, instants: Iterable[str]) -> list[str]:
    """Return the paths below the table that plans would delete, in order."""
    timeline = table.java.getActiveTimeline()
    cleans = timeline.getCleanerTimeline().filterInflightsAndRequested()
    wanted = set(instants)
    found: list[str] = []
    with clear_errors(table.name):
        for instant in cleans.getInstants():
            if str(instant.requestedTime()) in wanted:
                plan = cleans.readCleanerPlan(instant)
                found += [f"{one}{WHOLE}" for one in plan.getPartitionsToBeDeleted() or ()]
                by_partition = plan.getFilePathsToBeDeletedPerPartition()
                for partition in by_partition or ():
                    files = by_partition.get(partition)
                    found += _below(table, str(partition), files, _PLANNED)
    return sorted(found)


def retaining(table: OpenedTable, order: Order) -> Order:
    """Return the order by which Hudi plans exactly what was listed: it retains the same commits.

    Raises:
        StaleState: `hudi.not_as_listed`, the policy retains more commits now, or the oldest
            retained commit has left the timeline.
    """
    earliest, settings = order.settings.get(EARLIEST, ""), dict(order.settings)
    if earliest:
        with clear_errors(table.name):
            commits = table.java.getActiveTimeline().getCommitsAndCompactionTimeline()
            done = commits.filterCompletedInstants()
            is_there = bool(done.containsInstant(earliest))
            n_kept = int(done.findInstantsAfterOrEquals(earliest).countInstants())
        if not is_there or n_kept < int(settings.get(KEPT, "1")):
            raise not_as_listed(order, "its list retains fewer commits than the policy does now.")
        settings[KEPT] = str(n_kept)
    return replace(order, step=Step.SCHEDULE, settings=settings)


def take_back(table: OpenedTable, instants: Iterable[str]) -> None:
    """Delete plans of cleans from the timeline that nobody has begun."""
    wanted = set(instants)
    with clear_errors(table.name):
        timeline = table.java.getActiveTimeline()
        for instant in timeline.getCleanerTimeline().filterInflightsAndRequested().getInstants():
            if instant.isRequested() and str(instant.requestedTime()) in wanted:
                timeline.deletePending(instant)


def digest_of(paths: Iterable[str]) -> str:
    """Return what tells two lists of paths apart."""
    return hashlib.sha256("\n".join(sorted(paths)).encode()).hexdigest()


def not_as_listed(order: Order, reason: str) -> StaleState:
    """Return the error of a list that does not hold any more."""
    return StaleState(
        "hudi.not_as_listed",
        f"{order.name}: {reason} Nothing was taken away; list the files again.",
        table=order.name,
    )


def _below(table: OpenedTable, partition: str, files: Any, kind: str) -> list[str]:
    names = (
        []
        if files.isEmpty()
        else table.columns.read(files, table.columns.step(kind, "getFilePath"))
    )
    below = f"{partition}/" if partition else ""
    return [below + str(name).rpartition("/")[2] for name in names]
