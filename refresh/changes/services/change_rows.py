"""Writes many changes at once: rows of many tables, in a fixed number of statements.

A transaction of the follower holds some hundred events; table by table it would lock for seconds.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection

from portal.lake.names import TableName
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.core.selectors.names import Named
from refresh.models import ChangedPartition, RefreshTarget, WatchedTable

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Change:
    """What was heard of one Hive table; `whole` is the table itself."""

    hive: TableName
    cause: Cause
    whole: bool = False
    partitions: Mapping[str, PartitionChange] = field(default_factory=dict)


@dataclass(slots=True)
class Merged:
    """All that was heard of one table at an instant."""

    whole: bool = False
    causes: set[Cause] = field(default_factory=set)
    partitions: dict[str, PartitionChange] = field(default_factory=dict)


def merged(changes: Iterable[Change]) -> dict[TableName, Merged]:
    """Merge changes by table; their order makes no difference."""
    found: defaultdict[TableName, Merged] = defaultdict(Merged)
    for change in changes:
        one = found[change.hive]
        one.whole = one.whole or change.whole
        one.causes.add(change.cause)
        for name, touch in change.partitions.items():
            one.partitions[name] = both(one.partitions.get(name), touch)
    return dict(found)


def both(before: str | None, touch: PartitionChange) -> PartitionChange:
    """Merge what was heard of a partition: one touched in two ways counts as updated."""
    return touch if before in (None, touch.value) else PartitionChange.UPDATED


def digest_of(name: str) -> str:
    """Return the key of a partition name, which may be longer than an index takes."""
    return hashlib.sha256(name.encode()).hexdigest()


def watched_rows(
    changes: Mapping[TableName, Merged], *, now: datetime
) -> dict[TableName, WatchedTable]:
    """Lock the rows of tables, made where there were none, and write what changed."""
    found = _locked(changes)
    new = [
        WatchedTable(
            lake=str(hive.lake), db=hive.db, table=hive.table, tracked_since=now, changed_at=now
        )
        for hive in changes
        if hive not in found
    ]
    if new:
        WatchedTable.objects.bulk_create(new, ignore_conflicts=True)
        found = _locked(changes)
    more = []
    for hive, change in changes.items():
        row = found[hive]
        causes = sorted({*row.causes, *(cause.value for cause in change.causes)})
        if change.whole or causes != row.causes:
            row.causes, row.table_changed_at = causes, now if change.whole else row.table_changed_at
            more.append(row)
    keys = [row.pk for row in found.values()]
    WatchedTable.objects.filter(pk__in=keys, changed_at__lt=now).update(changed_at=now)
    WatchedTable.objects.bulk_update(more, ["causes", "table_changed_at"], batch_size=_CHUNK)
    return found


def write_partitions(
    changes: Mapping[WatchedTable, Mapping[str, PartitionChange]], *, now: datetime
) -> set[int]:
    """Write the latest change of each partition; returns the tables some of which count as updated.

    Queries on those may be answered wrongly until they are taken in.
    """
    # MySQL takes any unique key as the conflict and refuses to be told which.
    named = connection.features.supports_update_conflicts_with_target
    rows = [
        ChangedPartition(table=watched, digest=digest_of(name), name=name, at=now, touch=touch)
        for watched, partitions in changes.items()
        for name, touch in sorted(partitions.items())
    ]
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        before = _touched(chunk)
        for row in chunk:
            row.touch = both(before.get((row.table_id, row.digest)), PartitionChange(row.touch))
        ChangedPartition.objects.bulk_create(
            chunk,
            update_conflicts=True,
            unique_fields=["table", "digest"] if named else None,
            update_fields=["at", "touch"],
        )
    return {row.table_id for row in rows if row.touch is PartitionChange.UPDATED}


def make_targets(named: Mapping[WatchedTable, Sequence[Named]]) -> None:
    """Make the targets that are not there yet; two at once make one."""
    rows = RefreshTarget.objects.filter(watched__in=[watched.pk for watched in named])
    known = set(rows.values_list("cluster_id", "catalog", "db", "table"))
    new = [
        RefreshTarget(
            watched=watched,
            cluster_id=one.cluster_id,
            catalog=one.catalog,
            db=one.db,
            table=one.table,
        )
        for watched, found in named.items()
        for one in found
        if (one.cluster_id, one.catalog, one.db, one.table) not in known
    ]
    RefreshTarget.objects.bulk_create(new, batch_size=_CHUNK, ignore_conflicts=True)


def _locked(names: Iterable[TableName]) -> dict[TableName, WatchedTable]:
    """Lock the rows that are there, by their keys in order, as everybody does who locks several."""
    wanted = {(str(hive.lake), hive.db, hive.table): hive for hive in names}
    lakes, dbs, tables = (set(words) for words in zip(*wanted, strict=True))
    near = WatchedTable.objects.filter(lake__in=lakes, db__in=dbs, table__in=tables)
    keys = {
        pk: wanted[words]
        for pk, *rest in near.values_list("pk", "lake", "db", "table")
        if (words := tuple(rest)) in wanted
    }
    rows = WatchedTable.objects.select_for_update().filter(pk__in=keys).order_by("pk")
    return {keys[row.pk]: row for row in rows}


def _touched(rows: Sequence[ChangedPartition]) -> dict[tuple[int, str], str]:
    known = ChangedPartition.objects.filter(
        table__in={row.table_id for row in rows}, digest__in={row.digest for row in rows}
    )
    words = known.values_list("table", "digest", "touch")
    return {(table, digest): touch for table, digest, touch in words}
