"""Records a change of a Hive table as a pending refresh of every front end.

Whoever tells of it (event, hook, sweep, person), it ends here: the change is kept once per table
and partition, and each table of each cluster that shows it gets its place in the queue. Telling
it twice does no harm.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar

from django.db import transaction
from django.db.models import Model, QuerySet, Value
from django.db.models.functions import Coalesce

from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.domain.pressure import Pressure, gather_for
from refresh.changes.services.change_rows import (
    Change,
    digest_of,
    make_targets,
    merged,
    watched_rows,
    write_partitions,
)
from refresh.core.selectors.names import named_for_all
from refresh.freshness.domain.freshness import Danger, Freshness, rank_of
from refresh.freshness.domain.pending_refresh import TableChanges
from refresh.models import RefreshTarget, TargetFrontEnd, WatchedTable

__all__ = [
    "Change",
    "digest_of",
    "note_change",
    "queue",
    "record_change",
    "record_table_changes",
    "settle",
]

T = TypeVar("T")
R = TypeVar("R", bound=Model)
_CHUNK = 500


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
        "why": "Changed and not refreshed since.",
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


def _milder(rows: QuerySet[R], *, is_urgent: bool) -> QuerySet[R]:
    """Leave out what is known to be answered wrongly, which stays so until it is refreshed."""
    milder = rows.exclude(freshness=Freshness.DIVERGED)
    if not is_urgent:
        milder = milder.exclude(danger=Danger.WRONG, freshness=Freshness.STALE)
    return milder


def _chunks(found: list[T]) -> Iterable[list[T]]:
    return (found[start : start + _CHUNK] for start in range(0, len(found), _CHUNK))
