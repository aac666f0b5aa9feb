"""Lists partitions older than allowed, and drops those that people approved.

The list writes nothing. What is dropped goes out of every reader's sight by one commit; its files
go with a later clean.
"""

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from optimizer.hudi.inspect.jobs.instants import read_timeline, with_archived
from optimizer.hudi.inspect.jobs.slices import BaseFile, LogFile, read_files
from optimizer.hudi.maintenance.jobs.orders import Order, Result, Stop
from optimizer.hudi.maintenance.jobs.present import Present, present_of
from optimizer.hudi.maintenance.jobs.rules import check_fit, check_may
from optimizer.hudi.maintenance.jobs.writing import writing_client
from optimizer.hudi.tables.jobs.errors import clear_errors
from optimizer.hudi.tables.jobs.table import OpenedTable
from optimizer.policies.domain.hudi_policy import MOST_DAYS
from portal.lake.errors import PortalError, RuleViolation, StaleState

_DAYS, _LISTED_AT = "ttl_days", "listed_at"


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition: when a commit last wrote to it, and what is in it."""

    name: str
    written_at: datetime
    n_files: int
    n_bytes: int


def list_old(present: Present, order: Order, result: Result, check_stop: Stop) -> None:
    """List the partitions that nobody has written to for `ttl_days`; nothing is written.

    Raises:
        RuleViolation: `hudi.order`, no number of days.
    """
    check_fit(present, order)
    check_stop()
    now = datetime.now(UTC)
    until = now - _days(order)
    old = [one for one in partitions_of(present.table).values() if one.written_at < until]
    result.found = {
        "listed_at": now.isoformat(),
        "partitions": [
            {
                "partition": one.name,
                "written_at": one.written_at.isoformat(),
                "n_files": one.n_files,
                "bytes": one.n_bytes,
            }
            for one in sorted(old, key=lambda one: (one.written_at, one.name))
        ],
    }


def drop_old(present: Present, order: Order, result: Result, check_stop: Stop) -> None:
    """Drop the partitions that the order names by one commit, but for those written to since.

    Raises:
        PortalError: it may not be done, or what Hudi says.
    """
    now = present_of(present.table)
    check_may(now, order)
    listed_at = _listed_at(order)
    known = partitions_of(now.table)
    planned = {group.partition for plan in now.look.plans for group in plan.file_groups}
    chosen = []
    for name in order.partitions:
        try:
            one = known.get(name)
            if one is None:
                result.notes.append(f"The partition {name} is not there any more.")
                continue
            _check(order, one, planned, listed_at)
            chosen.append(one)
        except PortalError as error:
            result.errors.append(error)
    check_stop()
    if chosen:
        _drop(now.table, order, chosen, result)


def partitions_of(table: OpenedTable) -> dict[str, Partition]:
    """Return the partitions that hold anything; a rewrite of their files counts as written."""
    with clear_errors(table.name):
        timeline = read_timeline(table, with_metadata=False)
        files = read_files(table)
        all_files: tuple[LogFile | BaseFile, ...] = (*files.logs, *files.bases)
        wanted = {one.instant for one in all_files}
        known = with_archived(table, timeline, wanted).completed()
    written: dict[str, datetime] = {}
    n_files: Counter[str] = Counter()
    n_bytes: Counter[str] = Counter()
    seen = {one.group.partition for one in files.slices}
    for one in all_files:
        name = one.group.partition
        instant = known.get(one.instant)
        at = (instant.completed_at if instant else None) or table.at(one.instant)
        written[name] = max(at, written.get(name, at))
        n_files[name] += 1
        n_bytes[name] += one.n_bytes
    return {
        name: Partition(name, at, n_files[name], n_bytes[name])
        for name, at in written.items()
        if name in seen
    }


def _check(order: Order, one: Partition, planned: set[str], listed_at: datetime) -> None:
    if one.written_at >= listed_at:
        raise StaleState(
            "hudi.not_as_listed",
            f"{order.name}: {one.name} was written to at {one.written_at:%Y-%m-%d %H:%M:%S} UTC, "
            "after it was listed, so it stays.",
            table=order.name,
        )
    if one.name in planned:
        raise StaleState(
            "hudi.not_as_listed",
            f"{order.name}: a pending plan holds files of {one.name}; it stays until that plan is "
            "executed.",
            table=order.name,
        )


def _drop(table: OpenedTable, order: Order, chosen: list[Partition], result: Result) -> None:
    started = time.monotonic()
    names = table.jvm.java.util.ArrayList()
    for one in chosen:
        names.add(one.name)
    with writing_client(table, order) as client:
        digits = str(client.startDeletePartitionCommit(table.java))
        written = client.deletePartitions(names, digits)
        _commit(table, client, digits, written)
    result.done.append(
        {
            "instant": digits,
            "action": "replacecommit",
            "was": "",
            "seconds": round(time.monotonic() - started, 3),
            "n_files": sum(one.n_files for one in chosen),
            "bytes": sum(one.n_bytes for one in chosen),
            "partitions": [one.name for one in chosen],
        }
    )


def _commit(table: OpenedTable, client: Any, digits: str, written: Any) -> None:
    nothing = table.hudi.common.util.Option.empty()
    replaced = written.getPartitionToReplaceFileIds()
    client.commit(digits, written.getWriteStatuses(), nothing, "replacecommit", replaced)


def _days(order: Order) -> timedelta:
    text = order.settings.get(_DAYS, "")
    days = 0.0
    with suppress(ValueError):
        days = float(text)
    if not 0 < days <= MOST_DAYS:
        raise RuleViolation(
            "hudi.order", f"{order.name}: TTL needs {_DAYS}, a number of days, and has {text!r}."
        )
    return timedelta(days=days)


def _listed_at(order: Order) -> datetime:
    text = order.settings.get(_LISTED_AT, "")
    found: datetime | None = None
    with suppress(ValueError):
        found = datetime.fromisoformat(text)
    if found is None or found.tzinfo is None:
        raise RuleViolation(
            "hudi.order",
            f"{order.name}: TTL needs {_LISTED_AT}, when its partitions were listed, as a time "
            f"with its zone; it has {text!r}.",
        )
    return found
