"""Which tables does a sweep look at, and which of them did it find to be answered wrongly?"""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Q

from refresh.domain.dones import read_done
from refresh.domain.sweeping import Hot
from refresh.models import Cluster, RefreshTarget, TargetOnFe, WatchedTable

_Row = tuple[int, datetime, datetime | None, datetime | None]


def hot_tables(cluster: Cluster, *, since: datetime) -> list[Hot]:
    """Give the Hive tables that a cluster shows and that changed or were refreshed since."""
    rows = WatchedTable.objects.filter(targets__cluster=cluster, is_off=False, is_gone=False)
    rows = rows.filter(Q(changed_at__gte=since) | Q(targets__refreshed_at__gte=since))
    found = rows.values_list("pk", "changed_at", "targets__refreshed_at", "sweep__looked_at")
    return _hot(found)


def hot_targets(cluster: Cluster, *, since: datetime) -> list[Hot]:
    """Give a cluster's tables that changed or were refreshed since, and that rest now."""
    rows = RefreshTarget.objects.filter(cluster=cluster, due_at=None, running_since=None)
    rows = rows.filter(watched__is_off=False, watched__is_gone=False)
    rows = rows.filter(Q(watched__changed_at__gte=since) | Q(refreshed_at__gte=since))
    return _hot(rows.values_list("pk", "watched__changed_at", "refreshed_at", "probe__probed_at"))


def touched_lately(watched: WatchedTable, *, since: datetime) -> list[str]:
    """Return the partitions that were told, refreshed by name or found changed, latest first."""
    told = [(at, name) for name, at in watched.changed.values_list("name", "at")]
    found = watched.stamps.filter(changed_at__gte=since).values_list("changed_at", "name")
    rows = TargetOnFe.objects.filter(target__watched=watched, done_at__gte=since)
    refreshed = [
        (one.began_at, name)
        for done in rows.values_list("done", flat=True)
        for one in read_done(done)
        for name in one.partitions
    ]
    return [name for _, name in sorted([*told, *found, *refreshed], reverse=True)]


def _hot(rows: Iterable[_Row]) -> list[Hot]:
    found: dict[int, Hot] = {}
    for key, changed_at, refreshed_at, looked_at in rows:
        active_at = max(filter(None, (changed_at, refreshed_at)))
        known = found.get(key)
        if known is None or known.active_at < active_at:
            found[key] = Hot(key, active_at, looked_at)
    return list(found.values())
