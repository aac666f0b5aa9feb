"""Detects unreported changes in the files of a hot table.

One inspection of its newest partitions.

Nothing is concluded from a look that failed, and nothing from the first. What differs is noted as
changed, also if it was told meanwhile: nobody can know whether the refresh took all of it in, and
to refresh twice does no harm.
"""

import logging
from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from portal.lake.errors import PortalError
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.services.record_changes import Change, digest_of, note_change
from refresh.clusters.domain.frontends import FeState
from refresh.core.domain.clock import Clock
from refresh.core.services.metastore_reader import hive_of
from refresh.core.services.rate_limit import metastore_pays
from refresh.freshness.domain.pending_refresh import TABLE_ITSELF, TableChanges, pending_for
from refresh.freshness.selectors.records import records_of_all
from refresh.models import FileStamp, TableSweep, WatchedTable
from refresh.verify.domain.sweeping import Known, Stamp, SweepLimits, changed
from refresh.verify.selectors import recently_touched
from refresh.verify.services.file_reader import FilesSeen, files_read

_log = logging.getLogger(__name__)
_NAMES_A_CALL = 1_000
_CALLS = 4


def look_at_files(watched: WatchedTable, *, clock: Clock, limits: SweepLimits) -> int | None:
    """Look at a table and note what changed; returns the number of directories listed.

    None: it was not due any more, or it could not be looked at; its row says why.
    """
    before = _claimed(watched, now=clock())
    if before is None:
        return None
    calls = _CALLS + (watched.n_partitions or 0) // _NAMES_A_CALL
    if not metastore_pays(watched.lake, calls, now=clock()):
        _keep_problem(watched, "The metastore is not asked at the moment.")
        return None
    lately = recently_touched(watched, since=clock() - limits.hot_for)
    try:
        seen = files_read(watched, lately, limits=limits, clock=clock)
    except PortalError as error:
        _log.warning("the files of %s were not checked: %s", watched, error.message)
        _keep_problem(watched, error.message)
        return None
    if seen is None:
        note_change(Change(hive_of(watched), Cause.SWEEP, whole=True), now=clock())
        return 0
    _conclude(watched, before, seen, now=clock())
    return len(seen.stamps)


# -- inside ----------------------------------------------------------------------------------


@transaction.atomic
def _conclude(watched: WatchedTable, before: TableSweep, seen: FilesSeen, *, now: datetime) -> None:
    """Note what changed and keep what was seen, both or neither."""
    stamps = {
        row.name: Stamp(row.n_files, row.n_bytes, row.newest_ms) for row in watched.stamps.all()
    }
    known = Known(stamps, before.scanned_from if before.seen_at is not None else None)
    touched = changed(known, seen.stamps, existing=seen.names)
    untold = _untold(watched, touched, seen, since=before.seen_at)
    if untold:
        whole = untold.pop(TABLE_ITSELF, None) is not None
        change = Change(hive_of(watched), Cause.SWEEP, whole=whole, partitions=untold)
        _log.warning("%s changed without a word: %s", watched, sorted(untold) or "the table")
        note_change(change, now=now)
    _keep_stamps(watched, seen.stamps, touched, now=now)
    TableSweep.objects.filter(pk=before.pk).update(
        scanned_from=seen.scanned_from, seen_at=now, problem=""
    )


def _untold(
    watched: WatchedTable,
    touched: Mapping[str, PartitionChange],
    seen: FilesSeen,
    *,
    since: datetime | None,
) -> dict[str, PartitionChange]:
    """Leave out names that came or went and that all who live took in since the last look."""
    names = {name: touch for name, touch in touched.items() if touch is not PartitionChange.UPDATED}
    if not names or since is None:
        return dict(touched)
    changes = TableChanges(
        watched.tracked_since,
        seen.is_partitioned,
        partitions={name: (since, touch) for name, touch in names.items()},
    )
    records = records_of_all(list(watched.targets.select_related("cluster")))
    living = [
        record
        for of_target in records.values()
        for _, record in of_target
        if record.state is FeState.ALIVE
    ]
    if not living:
        return dict(touched)
    owed = set[str]().union(*(pending_for(record, changes) for record in living))
    return {name: touch for name, touch in touched.items() if name not in names or name in owed}


def _keep_stamps(
    watched: WatchedTable,
    stamps: Mapping[str, Stamp],
    touched: Mapping[str, PartitionChange],
    *,
    now: datetime,
) -> None:
    """Keep the stamps of what was looked at, and no others."""
    rows = {row.name: row for row in watched.stamps.all()}
    gone = [row.pk for name, row in rows.items() if name not in stamps]
    watched.stamps.filter(pk__in=gone).delete()
    new: list[FileStamp] = []
    old: list[FileStamp] = []
    for name, stamp in stamps.items():
        row = rows.get(name) or FileStamp(table=watched, name=name, digest=digest_of(name))
        row.n_files, row.n_bytes, row.newest_ms = stamp.n_files, stamp.n_bytes, stamp.newest_ms
        row.seen_at = now
        if touched.get(name) is PartitionChange.UPDATED:
            row.changed_at = now
        (old if row.pk else new).append(row)
    FileStamp.objects.bulk_create(new, ignore_conflicts=True)
    fields = ["n_files", "n_bytes", "newest_ms", "seen_at", "changed_at"]
    FileStamp.objects.bulk_update(old, fields, batch_size=100)


def _claimed(watched: WatchedTable, *, now: datetime) -> TableSweep | None:
    """Take the table's look for this time, as it stood before; None if another took it."""
    row, _ = TableSweep.objects.get_or_create(table=watched)
    mine = TableSweep.objects.filter(pk=row.pk, inspected_at=row.inspected_at)
    return row if mine.update(inspected_at=now) else None


def _keep_problem(watched: WatchedTable, problem: str) -> None:
    TableSweep.objects.filter(table=watched).update(problem=problem)
