"""Records a change of a Hive table as a pending refresh of every front end.

Whoever tells of it (event, hook, sweep, person), it ends here: the change is kept once per table
and partition, and each table of each cluster that shows it gets its place in the queue. Telling
it twice does no harm. Many tables are written in a fixed number of statements, because the
follower's transaction holds some hundred events: table by table it would lock for seconds.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from django.db import transaction
from django.db.models import Model, QuerySet, Value
from django.db.models.functions import Coalesce

from portal.lake.names import TableName
from portal.upserts import conflict_key
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.domain.pressure import Pressure, gather_for
from refresh.core.selectors.names import Named, named_for_all
from refresh.freshness.domain.freshness import Danger, Freshness, rank_of
from refresh.freshness.domain.pending_refresh import TableChanges
from refresh.models import ChangedPartition, RefreshTarget, TargetFrontEnd, WatchedTable

T = TypeVar("T")
R = TypeVar("R", bound=Model)
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


def note_change(change: Change, *, now: datetime) -> int:
    """Note a change for all who show the table; returns how many do (0: nothing was written).

    The latest instant counts: only a refresh that begins after it takes the change in.
    """
    return record_table_changes([change], now=now)


def record_table_changes(changes: Iterable[Change], *, now: datetime) -> int:
    """Note many changes at once, with a number of queries that does not grow with the tables."""
    wanted = merged(changes)
    named = {hive: found for hive, found in named_for_all(wanted).items() if found}
    shown = {hive: wanted[hive] for hive in sorted(named)}
    if not shown:
        return 0
    with transaction.atomic():
        rows = watched_rows(shown, now=now)
        named_by_row = {rows[hive]: one.partitions for hive, one in shown.items()}
        urgent = write_partitions(named_by_row, now=now)
        make_targets({rows[hive]: found for hive, found in named.items()})
        others = {row.pk for row in rows.values()} - urgent
        for keys, is_urgent in ((others, False), (urgent, True)):
            if keys:
                targets = RefreshTarget.objects.filter(watched__in=keys)
                queue(targets, is_urgent=is_urgent, now=now)
        asked = [rows[hive].pk for hive, one in shown.items() if Cause.PERSON in one.causes]
        if asked:
            # Somebody who looks at it does not wait for a retry's hour.
            RefreshTarget.objects.filter(watched__in=asked).update(not_before=None, n_tries=0)
    return sum(len(found) for found in named.values())


def record_change(
    watched: WatchedTable, names: list[str], touch: PartitionChange, *, until: datetime
) -> None:
    """Correct what was heard of partitions, unless they changed again after `until`."""
    for chunk in _chunks(names):
        rows = watched.changed.filter(digest__in=map(digest_of, chunk), at__lte=until)
        rows.update(touch=touch)


def settle(watched: WatchedTable, left: TableChanges, *, read: TableChanges) -> None:
    """Forget the changes that nobody owes any more, unless they came again since they were read."""
    for chunk in _chunks(sorted(read.partitions.keys() - left.partitions.keys())):
        newest = max(read.partitions[name][0] for name in chunk)
        watched.changed.filter(digest__in=map(digest_of, chunk), at__lte=newest).delete()
    if left.table_changed_at is None and not left.partitions:
        rows = WatchedTable.objects.filter(pk=watched.pk, changed_at=watched.changed_at)
        rows.update(causes=[])
    if left.table_changed_at is None:
        WatchedTable.objects.filter(pk=watched.pk, table_changed_at=read.table_changed_at).update(
            table_changed_at=None
        )


def queue(rows: QuerySet[RefreshTarget], *, is_urgent: bool, now: datetime) -> None:
    """Let targets wait, and show them stale at once; whoever waits already keeps their place.

    How long changes are gathered is their own cluster's affair. Those that somebody opted out are
    shown as they are, but do not wait.
    """
    danger = Danger.WRONG if is_urgent else Danger.INCOMPLETE
    shown = {
        "freshness": Freshness.STALE,
        "danger": danger,
        "reason": "Changed and not refreshed since.",
    }
    keys = list(rows.values_list("pk", flat=True))
    for chunk in _chunks(keys):
        some = RefreshTarget.objects.filter(pk__in=chunk)
        _milder(some, is_urgent=is_urgent).update(rank=rank_of(Freshness.STALE, danger), **shown)
        some.update(stale_since=Coalesce("stale_since", Value(now)))
        # The same changes make the same difference on each front end, before any is asked.
        on_fes = TargetFrontEnd.objects.filter(target__in=chunk)
        _milder(on_fes, is_urgent=is_urgent).update(**shown)
        on_fes.update(stale_since=Coalesce("stale_since", Value(now)), needs_refresh=True)
    asked = defaultdict[str, list[int]](list)
    for pk, level in rows.filter(watched__is_opted_out=False).values_list(
        "pk", "cluster__pressure"
    ):
        asked[level].append(pk)
    urgent = {"is_urgent": True} if is_urgent else {}
    for level, keys in asked.items():
        due_at = Coalesce("due_at", Value(now + gather_for(Pressure(level))))
        since = Coalesce("waits_since", Value(now))
        for chunk in _chunks(keys):
            some = RefreshTarget.objects.filter(pk__in=chunk)
            some.update(due_at=due_at, waits_since=since, **urgent)


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
            unique_fields=conflict_key("table", "digest"),
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


def _milder(rows: QuerySet[R], *, is_urgent: bool) -> QuerySet[R]:
    """Leave out what is known to be answered wrongly, which stays so until it is refreshed."""
    milder = rows.exclude(freshness=Freshness.DIVERGED)
    if not is_urgent:
        milder = milder.exclude(danger=Danger.WRONG, freshness=Freshness.STALE)
    return milder


def _chunks(found: list[T]) -> Iterable[list[T]]:
    return (found[start : start + _CHUNK] for start in range(0, len(found), _CHUNK))
