"""Handles a scheduler's report that a job has written a table. No report is ever lost.

Said twice it waits once. Partitions that the metastore has count as updated, full names that it has
not as dropped; no names mean the table itself. While the metastore does not answer, the whole table
is noted instead, which asks for more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.db import transaction

from portal.access.models import User
from portal.audit.services import audit_record
from portal.catalog.services.table_commits import commits_noticed
from portal.lake.errors import Busy, ExternalFailure, NotVisible
from portal.lake.names import PartitionName, TableName
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.domain.pressure import Pressure, takes_in
from refresh.changes.services.record_changes import Change, note_change
from refresh.changes.services.resolve_partitions import (
    Found,
    ResolvedPartitions,
    check_amount,
    check_seen,
    look_up,
    partitions_meant,
    table_named,
)
from refresh.core.domain.versions import Dialect, oldest
from refresh.core.selectors.names import Named, named_for
from refresh.models import Cluster, ClusterFrontEnd, WatchedTable
from refresh.worker.domain.steps import StepLimits

COME_AGAIN_SECONDS = 30
AT_THE_SHELL = "shell"
_RECORDED = 20


@dataclass(frozen=True, slots=True)
class WriteReport:
    """What a scheduler said: `db.table`, and names or parts of names of partitions."""

    lake: str
    table: str
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """What was noted. Wait for `written_at`; `shown_as` empty: no cluster shows the table."""

    hive: TableName
    written_at: datetime
    shown_as: tuple[str, ...]
    is_whole: bool = False
    n_partitions: int = 0
    n_dropped: int = 0
    unmatched: tuple[str, ...] = ()
    degraded: str = ""


def report_write(report: WriteReport, *, user: User | None, now: datetime) -> Taken:
    """Note that a table was written before `now`; `user` None is somebody at the portal's shell.

    Raises:
        RuleViolation: a name that is none, or that the portal does not act on.
        NotVisible: no such lake, table or partition for this person.
        TooMuch: more partitions than are taken in at once.
        Busy: the queue of a cluster that shows it is full; nothing was noted.
        ExternalFailure: the metastore does not answer, and it cannot be done without.
    """
    check_amount(report.partitions)
    hive = table_named(report.lake, report.table)
    taken = _report(hive, report, user=user, now=now)
    commits_noticed(report.lake, [(hive.db, hive.table)], now=now)
    return taken


def _report(hive: TableName, report: WriteReport, *, user: User | None, now: datetime) -> Taken:
    try:
        found = look_up(hive, user=user, now=now)
    except ExternalFailure as error:
        check_seen(hive, user=user, otherwise=error)
        return _tell_blind(hive, report, error, user=user, now=now)
    shown = named_for(hive)
    if not shown:
        return Taken(hive, now, ())
    _check_room(shown)
    try:
        meant = partitions_meant(found, report.partitions, now=now)
    except ExternalFailure as error:
        return _tell_blind(hive, report, error, user=user, now=now)
    if report.partitions and not (meant.there or meant.gone):
        raise no_partition(hive, meant.unmatched)
    change = _change(hive, meant, shown)
    taken = Taken(
        hive,
        now,
        shown_as(shown),
        change.whole,
        len(meant.there),
        len(meant.gone),
        meant.unmatched,
    )
    _note(change, report, taken, user=user)
    _remember(found)
    return taken


def shown_as(named: Sequence[Named]) -> tuple[str, ...]:
    """Return what clusters call a table, as `cluster: catalog.db.table`."""
    names = dict(Cluster.objects.values_list("pk", "name"))
    return tuple(f"{names.get(one.cluster_id, '?')}: {one.full_name}" for one in named)


def no_partition(hive: TableName, specs: Sequence[str]) -> NotVisible:
    """Say that parts of names stand for no partition."""
    return NotVisible(
        "refresh.partition",
        f"{hive} has no partition like {specs[0]!r}. Check the value, and that the job has "
        "committed; a dropped partition is named in full.",
        table=str(hive),
        partition=specs[0],
    )


def _change(hive: TableName, meant: ResolvedPartitions, shown: Sequence[Named]) -> Change:
    """Note so many names only as are refreshed one by one; above, the table renews them all."""
    touched = dict.fromkeys(meant.there, PartitionChange.UPDATED) | dict.fromkeys(
        meant.gone, PartitionChange.DROPPED
    )
    most = StepLimits().most_by_name
    is_whole = not touched or (len(touched) > most and not _has_old_ones(shown))
    if is_whole:
        touched = dict(islice(touched.items(), most))
    return Change(hive, Cause.HOOK, is_whole, touched)


def _note(change: Change, report: WriteReport, taken: Taken, *, user: User | None) -> None:
    """Note the change, and who told what, in one transaction."""
    data = {
        "partitions": list(report.partitions[:_RECORDED]),
        "n_told": len(report.partitions),
        "n_partitions": taken.n_partitions,
        "n_dropped": taken.n_dropped,
        "is_whole": taken.is_whole,
        "degraded": taken.degraded,
        "shown_as": list(taken.shown_as[:_RECORDED]),
    }
    with transaction.atomic():
        if not note_change(change, now=taken.written_at):
            return
        audit_record(
            "refresh.told",
            actor=AT_THE_SHELL if user is None else user.username,
            lake=str(taken.hive.lake),
            object_type="table",
            object_id=str(taken.hive),
            data=data,
            now=taken.written_at,
        )


def _tell_blind(
    hive: TableName,
    report: WriteReport,
    error: ExternalFailure,
    *,
    user: User | None,
    now: datetime,
) -> Taken:
    """Note the whole table, and what was named as if it were there: the worker looks again."""
    specs, shown = report.partitions, named_for(hive)
    if not shown:
        return Taken(hive, now, ())
    _check_room(shown)
    if specs and _has_old_ones(shown):
        # They renew updated partitions by their full names only, which nobody can tell now.
        raise error
    touched = {str(PartitionName.parse(text)): PartitionChange.UPDATED for text in specs}
    reason = f"The whole table is refreshed, because the metastore does not answer: {error.message}"
    taken = Taken(hive, now, shown_as(shown), is_whole=True, degraded=reason)
    _note(Change(hive, Cause.HOOK, whole=True, partitions=touched), report, taken, user=user)
    return taken


def _check_room(shown: Sequence[Named]) -> None:
    clusters = Cluster.objects.filter(pk__in={one.cluster_id for one in shown}).order_by("name")
    full = [row.name for row in clusters if not takes_in(Pressure(row.pressure))]
    if full:
        raise Busy(
            "refresh.full",
            f"The queue of {', '.join(full)} is full, so nothing was taken in. Tell it again in "
            f"{COME_AGAIN_SECONDS} seconds.",
            after_seconds=COME_AGAIN_SECONDS,
        )


def _has_old_ones(shown: Sequence[Named]) -> bool:
    fes = ClusterFrontEnd.objects.filter(cluster__in={one.cluster_id for one in shown})
    return oldest(fe.dialect for fe in fes) is Dialect.RESOURCES


def _remember(found: Found) -> None:
    """Keep what the metastore said: people see a table by its owner."""
    hive = found.hive
    WatchedTable.objects.filter(lake=str(hive.lake), db=hive.db, table=hive.table).update(
        owner=found.owner, is_partitioned=bool(found.keys), is_deleted=False
    )
