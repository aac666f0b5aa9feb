"""Rolls back instants that began and never ended, one at a time and only by name.

What a service began goes back to its plan, which is executed later. What a writer began is taken
away as Hudi's own writer would take it, after it is known that the writer is dead.
"""

import re
import time
from datetime import UTC, datetime
from typing import Any

from optimizer.hudi.inspect.domain.facts import Action, Instant
from optimizer.hudi.inspect.domain.timeline import PLANNED, stuck
from optimizer.hudi.maintenance.jobs.claims import claimed
from optimizer.hudi.maintenance.jobs.executing import not_completed, still_pending
from optimizer.hudi.maintenance.jobs.orders import Order, Result, Stop
from optimizer.hudi.maintenance.jobs.present import Present, present_of
from optimizer.hudi.maintenance.jobs.rules import check_fit, check_may_roll_back
from optimizer.hudi.maintenance.jobs.writing import writing_client
from optimizer.hudi.tables.jobs.errors import clear_errors
from optimizer.hudi.tables.jobs.table import OpenedTable
from portal.lake.errors import PortalError

_FILE = "org.apache.hudi.storage.StoragePathInfo"
_PATH = "org.apache.hudi.storage.StoragePath"
_OF_ALL_KINDS = False
_INSTANTS = re.compile(r"(?<=_)\d+(?=\.)")


def list_stuck(present: Present, order: Order, result: Result, check_stop: Stop) -> None:
    """List the instants of which nothing was heard for too long; nothing is written."""
    check_fit(present, order)
    check_stop()
    now = datetime.now(UTC)
    silent = stuck(present.look, patience=order.patience, now=now)
    n_files = _written_by(present.table, [one.instant.instant for one in silent])
    result.found = {
        "instants": [
            {
                "instant": one.instant.instant,
                "action": one.instant.action.value,
                "state": one.instant.state.value,
                "n_files": n_files[one.instant.instant],
                "event_at": one.since.isoformat(),
            }
            for one in silent
        ]
    }


def roll_back(present: Present, order: Order, result: Result, check_stop: Stop) -> None:
    """Roll the instants back that the order names, newest first.

    Raises:
        PortalError: `check_stop` says so, or Hudi fails.
    """
    check_fit(present, order)
    pending = present.pending(Action)
    chosen = sorted(still_pending(order, pending, result) or (), reverse=True)
    # Listed once for all: a rollback of one instant takes no file of another away.
    written = _written_by(present.table, chosen)
    for digits in chosen:
        check_stop()
        try:
            now = present_of(present.table)
            _roll_back_one(now, order, digits, result, n_files=written[digits])
        except PortalError as error:
            result.errors.append(error)


def _roll_back_one(
    now: Present, order: Order, digits: str, result: Result, *, n_files: int
) -> None:
    one = now.instant(digits)
    if one is None:
        result.notes.append(f"{digits} is not pending any more.")
        return
    check_may_roll_back(now, order, one, datetime.now(UTC))
    started = time.monotonic()
    with writing_client(now.table, order) as client:
        if one.action in PLANNED:
            with claimed(now.table, order, one, client):
                _back_to_plan(now.table, client, one)
        else:
            client.rollback(_target(now.table, one))
    left = present_of(now.table).instant(digits)
    if left is not None and (one.action not in PLANNED or left.state is one.state):
        raise not_completed(order, one)
    result.add(one, seconds=time.monotonic() - started, n_files=n_files)


def _back_to_plan(table: OpenedTable, client: Any, one: Instant) -> None:
    """Take what was written by a plan's execution away; the plan stays."""
    java = table.java
    hudi = table.hudi.table.HoodieSparkTable.create(client.getConfig(), table.engine, java)
    begun = table.hudi.common.util.ClusteringUtils
    services = client.getTableServiceClient()
    before = services.getPendingRollbackInfo(java, one.instant, _OF_ALL_KINDS)
    told, transactions = table.columns.always(before), client.getTransactionManager()
    instants = java.getInstantGenerator()
    if one.action is Action.CLUSTERING:
        found = begun.getInflightClusteringInstant(
            one.instant, java.getActiveTimeline(), instants
        ).get()
        hudi.rollbackInflightClustering(found, told, transactions)
    elif one.action is Action.LOG_COMPACTION:
        found = instants.getLogCompactionInflightInstant(one.instant)
        hudi.rollbackInflightLogCompaction(found, told, transactions)
    else:
        found = instants.getCompactionInflightInstant(one.instant)
        hudi.rollbackInflightCompaction(found, told, transactions)


def _target(table: OpenedTable, one: Instant) -> str:
    """Return the instant to roll back: of a rollback that was broken off, the one it rolls back."""
    if one.action is not Action.ROLLBACK:
        return one.instant
    for instant in table.java.getActiveTimeline().getRollbackTimeline().getInstants():
        if str(instant.requestedTime()) == one.instant:
            plans = table.hudi.table.action.rollback.RollbackUtils
            plan = plans.getRollbackPlan(table.java, instant)
            return str(plan.getInstantToRollback().getCommitTime())
    return one.instant


def _written_by(table: OpenedTable, instants: list[str]) -> dict[str, int]:
    """Count the files of data that instants have written, completed or not."""
    if not instants:
        return {}
    with clear_errors(table.name):
        files = table.java.getStorage().listFiles(table.path())
        step = table.columns.step
        paths = (
            []
            if files.isEmpty()
            else table.columns.read(files, step(_FILE, "getPath"), step(_PATH, "toString"))
        )
    counts = dict.fromkeys(instants, 0)
    for path in paths:
        if "/.hoodie/" in path or path.endswith(".crc"):
            continue
        # `<file id>_<token>_<instant>.<kind>`, a log's with a number behind.
        for digits in _INSTANTS.findall(path.rpartition("/")[2]):
            if digits in counts:
                counts[digits] += 1
    return counts
