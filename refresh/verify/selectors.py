"""Queries of the tables that a sweep inspects, and of those that it found to be stale."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Exists, F, OuterRef, Q

from refresh.freshness.domain.coverage import read_done
from refresh.models import Cluster, RefreshTarget, TargetFrontEnd, WatchedTable
from refresh.verify.domain.sweeping import Hot

_Row = tuple[int, datetime, datetime | None, datetime | None]


def hot_tables(cluster: Cluster, *, since: datetime) -> list[Hot]:
    """Return the Hive tables that a cluster shows and that changed or were refreshed since.

    One that was found and of which nothing was told is not among them: it changed nothing yet.
    """
    rows = WatchedTable.objects.filter(
        targets__cluster=cluster, is_opted_out=False, is_deleted=False
    )
    told = Q(changed_at__gte=since, changed_at__gt=F("tracked_since"))
    rows = rows.filter(told | Q(targets__refreshed_at__gte=since))
    found = rows.values_list("pk", "changed_at", "targets__refreshed_at", "sweep__inspected_at")
    return _hot(found)


def tables_after(cluster: Cluster, key: int, *, most: int) -> list[tuple[int, datetime | None]]:
    """Return the next tables of a cluster in the keys' order, and when their files were looked at.

    Whether they are due is the caller's to say, so that the statement reads `most` rows at most.
    """
    shown = RefreshTarget.objects.filter(cluster=cluster, watched=OuterRef("pk"))
    rows = WatchedTable.objects.filter(
        Exists(shown), pk__gt=key, is_opted_out=False, is_deleted=False
    )
    return list(rows.order_by("pk").values_list("pk", "sweep__inspected_at")[:most])


def hot_targets(cluster: Cluster, *, since: datetime) -> list[Hot]:
    """Return a cluster's tables that changed or were refreshed since, and that rest now."""
    rows = RefreshTarget.objects.filter(cluster=cluster, due_at=None, running_since=None)
    rows = rows.filter(watched__is_opted_out=False, watched__is_deleted=False)
    rows = rows.filter(Q(watched__changed_at__gte=since) | Q(refreshed_at__gte=since))
    return _hot(rows.values_list("pk", "watched__changed_at", "refreshed_at", "probe__probed_at"))


def recently_touched(watched: WatchedTable, *, since: datetime) -> list[str]:
    """Return the partitions that were told, refreshed by name or found changed, latest first."""
    told = [(at, name) for name, at in watched.changed.values_list("name", "at")]
    found = watched.stamps.filter(changed_at__gte=since).values_list("changed_at", "name")
    rows = TargetFrontEnd.objects.filter(target__watched=watched, done_at__gte=since)
    refreshed = [
        (one.began_at, name)
        for done in rows.values_list("done", flat=True)
        for one in read_done(done)
        for name in one.partitions
    ]
    return [name for _, name in sorted([*told, *found, *refreshed], reverse=True)]


def _hot(rows: Iterable[_Row]) -> list[Hot]:
    found: dict[int, Hot] = {}
    for key, changed_at, refreshed_at, inspected_at in rows:
        active_at = max(filter(None, (changed_at, refreshed_at)))
        known = found.get(key)
        if known is None or known.active_at < active_at:
            found[key] = Hot(key, active_at, inspected_at)
    return list(found.values())
