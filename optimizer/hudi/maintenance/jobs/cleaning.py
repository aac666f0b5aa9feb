"""Cleans file versions that no reader needs: it makes a list, then cleans exactly that list.

The list is computed by Hudi's planner and not saved. After people have approved its digest, the
plan is computed again, compared, written into the timeline, compared once more and executed. A
plan that is not begun is taken out of the timeline again.
"""

import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from optimizer.hudi.inspect.domain.facts import Action, Instant
from optimizer.hudi.inspect.jobs.slices import read_files
from optimizer.hudi.maintenance.jobs.claims import claimed
from optimizer.hudi.maintenance.jobs.clean_plans import (
    EARLIEST,
    WHOLE,
    computed,
    digest_of,
    not_as_listed,
    planned_paths,
    retaining,
    take_back,
)
from optimizer.hudi.maintenance.jobs.executing import not_completed, still_pending
from optimizer.hudi.maintenance.jobs.orders import Order, Result, Stop
from optimizer.hudi.maintenance.jobs.present import Present, present_of
from optimizer.hudi.maintenance.jobs.rules import check_may, check_silent
from optimizer.hudi.maintenance.jobs.scheduling import schedule
from optimizer.hudi.maintenance.jobs.writing import writing_client
from optimizer.hudi.tables.jobs.errors import clear_errors
from optimizer.hudi.tables.jobs.table import OpenedTable
from portal.lake.errors import RuleViolation

CLEANS = (Action.CLEAN,)
_MOST_NAMED = 50
_NO_NEW_PLAN = False
_CHANGED = "a clean would not take the files any more that were approved to go."


def list_clean(present: Present, order: Order, result: Result, check_stop: Stop) -> None:
    """List what a clean would delete, or what a pending one will; nothing is written.

    Raises:
        PortalError: it may not be done, or what Hudi says.
    """
    check_may(present, order)
    check_stop()
    pending = present.pending(CLEANS)
    if pending:
        result.notes.append("A clean is pending already: that is listed.")
        paths, about = planned_paths(present.table, pending[:1]), {"instant": pending[0]}
    else:
        found = computed(present.table, order)
        paths, about = found.paths, {EARLIEST: found.earliest}
    if not paths and not pending:
        result.notes.append("Hudi found nothing to clean.")
        return
    whole = [one for one in paths if one.endswith(WHOLE)]
    result.found = {
        **about,
        "n_partitions": len({name.rpartition("/")[0] for name in paths}),
        "n_whole": len(whole),
        "n_files": len(paths) - len(whole),
        "files": [*whole, *(one for one in paths if not one.endswith(WHOLE))][:_MOST_NAMED],
        "digest": digest_of(paths),
    }


def clean(present: Present, order: Order, result: Result, check_stop: Stop) -> None:
    """Delete the files of the approved list, by the pending plans that the order names or again.

    Raises:
        StaleState: `hudi.not_as_listed`, a plan does not hold what people approved.
        RuleViolation: `hudi.other_clean`.
        PortalError: it may not be done, or what Hudi says.
    """
    now = present_of(present.table)
    check_may(now, order)
    pending = now.pending(CLEANS)
    named = still_pending(order, pending, result)
    if named is None:
        _check_others(order, set(pending))
        _plan_and_execute(now, order, result, check_stop)
    elif named:
        _check_others(order, set(pending) - set(named))
        check_stop()
        _execute(now, order, named, result)


def _plan_and_execute(now: Present, order: Order, result: Result, check_stop: Stop) -> None:
    """Write the plan of the approved list and execute it; a plan that is not begun goes again."""
    anew = retaining(now.table, order)
    if digest_of(computed(now.table, anew).paths) != order.digest:
        raise not_as_listed(order, _CHANGED)
    planned = Result(order.task, order.name)
    try:
        schedule(now, anew, planned, check_stop)
        ours = tuple(str(one["instant"]) for one in planned.done)
        if not ours:
            raise not_as_listed(order, _CHANGED)
        after = present_of(now.table)
        _check_others(order, set(after.pending(CLEANS)) - set(ours[:1]))
        _execute(after, order, ours, result)
    finally:
        _take_back(now.table, order, planned)


def _take_back(table: OpenedTable, order: Order, planned: Result) -> None:
    """Delete our plan if it is not begun; one that is not known to be ours holds our list."""
    now = present_of(table)
    ours = {str(one["instant"]) for one in planned.done}
    if len(ours) != 1:
        held = ((one, planned_paths(now.table, (one,))) for one in now.pending(CLEANS))
        ours = {one for one, paths in held if digest_of(paths) == order.digest}
    take_back(now.table, ours)


def _execute(now: Present, order: Order, chosen: Iterable[str], result: Result) -> None:
    paths = planned_paths(now.table, chosen)
    if order.digest and digest_of(paths) != order.digest:
        raise not_as_listed(order, _CHANGED)
    ones = [one for one in map(now.instant, chosen) if one is not None]
    for one in ones:
        check_silent(now, order, one, datetime.now(UTC))
    with clear_errors(order.name):
        sizes = read_files(now.table).sizes()
    _clean(now.table, order, ones, result, _sizes(paths, sizes))


def _sizes(paths: Iterable[str], sizes: Mapping[str, int]) -> int:
    return sum(sizes.get(name.rpartition("/")[2], 0) for name in paths)


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
