"""Executes pending compaction and clustering plans: one, some or all, oldest first.

A plan that was begun and left is rolled back and executed again by Hudi itself, so a killed run
loses nothing but its time. Told to stop, the job ends between two plans.
"""

import time
from datetime import UTC, datetime
from typing import Any

from optimizer.hudi.inspect.domain.facts import Action, Instant
from optimizer.hudi.maintenance.domain.tasks import ACTIONS, oldest_first
from optimizer.hudi.maintenance.jobs.claims import claimed
from optimizer.hudi.maintenance.jobs.orders import Order, Result, Stop
from optimizer.hudi.maintenance.jobs.present import Present, present_of
from optimizer.hudi.maintenance.jobs.rules import check_may, check_silent
from optimizer.hudi.maintenance.jobs.writing import writing_client
from portal.lake.errors import ExternalFailure, PortalError

_AND_COMMIT = True


def execute(present: Present, order: Order, result: Result, check_stop: Stop) -> None:
    """Execute the plans that the order asks for; those that are no longer pending are done.

    Raises:
        PortalError: nothing of it may be done, or `check_stop` says so.
    """
    check_may(present, order)
    pending = present.pending(ACTIONS[order.service])
    only = still_pending(order, pending, result)
    if not pending or (only is not None and not only):
        return
    for digits in oldest_first(pending, only=only, failed=order.failed, most=order.most):
        check_stop()
        try:
            _execute_one(present_of(present.table), order, digits, result)
        except PortalError as error:
            if present_of(present.table).instant(digits) is None:
                result.notes.append(f"{digits} is not pending any more ({error.message})")
            else:
                result.errors.append(error)


def still_pending(order: Order, pending: tuple[str, ...], result: Result) -> tuple[str, ...] | None:
    """Return those that the order names and that are pending; of the others a note is made."""
    if order.instants is None:
        return None
    for digits in sorted(set(order.instants) - set(pending)):
        result.notes.append(f"{digits} is not pending any more.")
    return tuple(one for one in order.instants if one in pending)


def _execute_one(now: Present, order: Order, digits: str, result: Result) -> None:
    one = now.instant(digits)
    if one is None:
        result.notes.append(f"{digits} is not pending any more.")
        return
    check_may(now, order)
    check_silent(now, order, one, datetime.now(UTC))
    started = time.monotonic()
    with writing_client(now.table, order) as client, claimed(now.table, order, one, client):
        counts = _counts(_run(client, one))
    if present_of(now.table).instant(digits) is not None:
        raise not_completed(order, one)
    result.add(one, seconds=time.monotonic() - started, **counts)


def not_completed(order: Order, one: Instant) -> ExternalFailure:
    """Return the error of an instant that Hudi executed and that is pending nevertheless."""
    return ExternalFailure(
        "hudi.not_completed",
        f"{order.name}: {one.action} {one.instant} was executed and is still pending. The run's "
        "log has the details; it is tried again.",
        service="spark",
        retryable=True,
        table=order.name,
    )


def _run(client: Any, one: Instant) -> Any:
    if one.action is Action.CLUSTERING:
        return client.cluster(one.instant, _AND_COMMIT)
    if one.action is Action.LOG_COMPACTION:
        return client.logCompact(one.instant, _AND_COMMIT)
    return client.compact(one.instant, _AND_COMMIT)


def _counts(written: Any) -> dict[str, int]:
    """Return what a commit wrote, as its own metadata sums it up."""
    metadata = written.getCommitMetadata()
    if not metadata.isPresent():
        return {}
    told = metadata.get()
    return {
        "n_files": int(told.getWriteStats().size()),
        "bytes": int(told.fetchTotalBytesWritten()),
        "rows": int(told.fetchTotalRecordsWritten()),
        "n_errors": int(told.fetchTotalWriteErrors()),
    }
