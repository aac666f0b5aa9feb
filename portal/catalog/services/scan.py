"""Takes a scan's tables into the catalog: a scan is the whole truth of the instant it began."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from django.db import transaction
from django.db.models import Q

from portal.access.lakes import get_lake
from portal.catalog.domain.entries import ListedTable
from portal.catalog.models import OWNER_CHARS, Table
from portal.catalog.selectors import tables_living
from portal.catalog.services.entries import (
    entries_locked,
    entries_trim,
    entries_write,
    lake_lock,
    names_vacate,
)
from portal.catalog.services.facts import fitted_facts
from portal.lake.lines import fitted

CHUNK = 1_000
KEPT = timedelta(days=30)
"""For how long a deleted table is kept."""

# An event with a higher number than the scan's was later, unless it is one of a log that a restored
# metastore has begun again since; the clocks of a job's host and of the portal's may differ so
# much.
_SAME_LOG = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class ScanRead:
    """When a scan began to read a lake, and the newest event that its log had then."""

    lake: str
    read_at: datetime
    event_id: int


def scan_record(read: ScanRead, listed: Iterable[ListedTable]) -> int:
    """Write the tables of a scan in chunks, then delete what it did not see; returns how many went.

    Recorded again it changes nothing, and what a later event or scan decided about stays.
    """
    rows = iter(listed)
    while chunk := list(islice(rows, CHUNK)):
        _record(read, chunk)
    n_deleted = _delete_unseen(read)
    entries_trim(read.lake, before=read.read_at - KEPT)
    return n_deleted


def _record(read: ScanRead, chunk: Sequence[ListedTable]) -> None:
    config = get_lake(read.lake)
    placed = [
        replace(
            one,
            facts=fitted_facts(one.facts, config),
            db_owner=fitted(one.db_owner, OWNER_CHARS),
        )
        for one in chunk
    ]
    with transaction.atomic():
        entries = entries_locked(
            read.lake,
            {(one.db, one.name) for one in placed},
            uuids={one.facts.uuid for one in placed},
            metastore_ids={one.metastore_id for one in placed if one.metastore_id},
            since=read.read_at - _SAME_LOG,
        )
        for one in placed:
            entries.apply_listed(one, event_id=read.event_id, at=read.read_at)
        entries_write(read.lake, entries, at=read.read_at)


def _delete_unseen(read: ScanRead) -> int:
    """Delete what the scan did not list, unless a later event made or changed it."""
    is_earlier = Q(event_id__lte=read.event_id) | Q(last_seen_at__lt=read.read_at - _SAME_LOG)
    unseen = tables_living(read.lake).filter(is_earlier, last_seen_at__lt=read.read_at)
    n_deleted = 0
    while keys := list(unseen.values_list("pk", flat=True)[:CHUNK]):
        with transaction.atomic():
            lake_lock(read.lake)
            # Asked again under the lock: an event may have come in between.
            rows = list(unseen.filter(pk__in=keys))
            Table.objects.filter(pk__in=[row.pk for row in rows]).update(
                is_living=None, deleted_at=read.read_at, event_id=read.event_id
            )
            vacated = {(row.db, row.name): read.event_id for row in rows}
            names_vacate(read.lake, vacated, at=read.read_at)
        n_deleted += len(rows)
    return n_deleted
