"""How are file versions cleaned away that no reader needs: a list first, then exactly that list?

The list is Hudi's own plan. People approve its digest, and it is cleaned only if the plan in the
timeline still has it.
"""

import hashlib
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from optimizer.domain.hudi.facts import Action, Instant
from optimizer.jobs.hudi.claims import claimed
from optimizer.jobs.hudi.errors import clear_errors
from optimizer.jobs.hudi.executing import not_completed, still_pending
from optimizer.jobs.hudi.orders import Order, Result, Stop
from optimizer.jobs.hudi.present import Present, present_of
from optimizer.jobs.hudi.rules import check_may, check_silent
from optimizer.jobs.hudi.scheduling import schedule
from optimizer.jobs.hudi.slices import read_files
from optimizer.jobs.hudi.table import OpenedTable
from optimizer.jobs.hudi.writing import writing_client
from portal.lake.errors import RuleViolation, StaleState

CLEANS = (Action.CLEAN,)
_MOST_NAMED = 50
_INFO = "org.apache.hudi.avro.model.HoodieCleanFileInfo"
_NO_NEW_PLAN = False


def schedule_clean(present: Present, order: Order, result: Result, check_stop: Stop) -> None:
    """Write a plan, and list what it would take away; or list what is planned already.

    Hudi would plan the same files once more.
    """
    now = present
    if present.pending(CLEANS):
        check_may(present, order)
        result.notes.append("A clean is pending already: that is listed.")
    else:
        schedule(present, order, result, check_stop)
        now = present_of(present.table)
    pending = now.pending(CLEANS)
    if not pending:
        return
    files = planned_files(now.table, pending[:1])
    result.found = {
        "instant": pending[0],
        "n_partitions": len({name.rpartition("/")[0] for name in files}),
        "n_files": len(files),
        "files": files[:_MOST_NAMED],
        "digest": digest_of(files),
    }


def clean(present: Present, order: Order, result: Result, check_stop: Stop) -> None:
    """Clean by the plans that the order names, and by no other.

    Raises:
        StaleState: `hudi.not_as_listed`, a plan does not hold what people approved.
        RuleViolation: `hudi.other_clean`.
        PortalError: it may not be done, or what Hudi says.
    """
    now = present_of(present.table)
    check_may(now, order)
    pending = now.pending(CLEANS)
    named = still_pending(order, pending, result)
    chosen = pending if named is None else named
    if not chosen:
        return
    _check_others(order, set(pending) - set(chosen))
    files = planned_files(now.table, chosen)
    if order.digest and digest_of(files) != order.digest:
        raise StaleState(
            "hudi.not_as_listed",
            f"{order.name}: the plan {chosen[0]} does not hold the files any more that were "
            "approved to go. Nothing was taken away; list them again.",
            table=order.name,
        )
    ones = [one for one in map(now.instant, chosen) if one is not None]
    for one in ones:
        check_silent(now, order, one, datetime.now(UTC))
    check_stop()
    with clear_errors(order.name):
        sizes = read_files(now.table).sizes()
    _clean(now.table, order, ones, result, _sizes(files, sizes))


def planned_files(table: OpenedTable, instants: Iterable[str]) -> list[str]:
    """Give the files that plans would take away, by their paths below the table, in order."""
    timeline = table.java.getActiveTimeline()
    cleans = timeline.getCleanerTimeline().filterInflightsAndRequested()
    wanted = set(instants)
    found: list[str] = []
    with clear_errors(table.name):
        for instant in cleans.getInstants():
            if str(instant.requestedTime()) in wanted:
                plan = cleans.readCleanerPlan(instant)
                found += _files_of(table, plan.getFilePathsToBeDeletedPerPartition())
    return sorted(found)


def digest_of(files: Iterable[str]) -> str:
    """Give what tells two lists of files apart."""
    return hashlib.sha256("\n".join(sorted(files)).encode()).hexdigest()


def _files_of(table: OpenedTable, by_partition: Any) -> list[str]:
    path = table.columns.step(_INFO, "getFilePath")
    found: list[str] = []
    for partition in by_partition or ():
        files = by_partition.get(partition)
        names = [] if files.isEmpty() else table.columns.read(files, path)
        below = f"{partition}/" if partition else ""
        found += [below + name.rpartition("/")[2] for name in names]
    return found


def _sizes(files: Iterable[str], sizes: Mapping[str, int]) -> int:
    return sum(sizes.get(name.rpartition("/")[2], 0) for name in files)


def _check_others(order: Order, others: set[str]) -> None:
    if others:
        raise RuleViolation(
            "hudi.other_clean",
            f"{order.name}: Hudi executes all pending cleans at once, and this task is not to "
            f"execute {', '.join(sorted(others))}. Have that one approved as well.",
            table=order.name,
        )


def _clean(
    table: OpenedTable, order: Order, ones: list[Instant], result: Result, n_bytes: int
) -> None:
    started = time.monotonic()
    first = ones[0]
    with writing_client(table, order) as client, claimed(table, order, first, client):
        metadata = client.clean(_NO_NEW_PLAN)
    n_files = int(metadata.getTotalFilesDeleted()) if metadata is not None else 0
    left = present_of(table)
    for one in ones:
        if left.instant(one.instant) is not None:
            raise not_completed(order, one)
        told = {"n_files": n_files, "bytes": n_bytes} if one is first else {}
        result.add(one, seconds=time.monotonic() - started, **told)
