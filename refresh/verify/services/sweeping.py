"""Finds unreported changes. One turn of the sweep: files of hot tables, then their front ends.

Tables of which nobody told lately follow, page by page, where hot ones leave room; a turn also
finds tables that were never heard of. It is bounded in tables, directories and time; what it leaves
is due in the next one.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from refresh.changes.domain.pressure import Pressure
from refresh.core.domain.clock import Clock
from refresh.models import Cluster, RefreshTarget, WatchedTable
from refresh.verify.domain.sweeping import SweepLimits, due
from refresh.verify.selectors import hot_tables, hot_targets, tables_after
from refresh.verify.services.divergence_mails import held_divergences_tell
from refresh.verify.services.file_checks import look_at_files
from refresh.verify.services.probing import probe
from refresh.verify.services.table_discovery import tables_find

LIMITS = SweepLimits()
_TURN = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Swept:
    """What a turn came to."""

    tables: int = 0
    directories: int = 0
    probes: int = 0
    diverged: int = 0
    found: int = 0


def sweep(cluster: Cluster, *, clock: Clock, limits: SweepLimits = LIMITS) -> Swept:
    """Look at what is hot and due in a cluster; a cluster that has enough to do is left alone."""
    cluster.refresh_from_db(
        fields=["is_paused", "pressure", "named_after", "named_at", "swept_after"]
    )
    if cluster.is_paused or cluster.pressure != Pressure.NONE:
        return Swept()
    until = clock() + _TURN
    found = tables_find(cluster, clock=clock)
    tables, directories = _files(cluster, clock=clock, limits=limits, until=until)
    probes, diverged = _probes(cluster, clock=clock, limits=limits, until=until)
    held_divergences_tell(cluster, now=clock())
    return Swept(tables, directories, probes, diverged, found)


def _files(
    cluster: Cluster, *, clock: Clock, limits: SweepLimits, until: datetime
) -> tuple[int, int]:
    now = clock()
    keys = due(hot_tables(cluster, since=now - limits.hot_for), now=now, limits=limits)
    keys += _at_rest(cluster, set(keys), now=now, limits=limits)
    tables = directories = 0
    rows = WatchedTable.objects.in_bulk(keys)
    for key in keys:
        if clock() >= until or directories + limits.newest + limits.changed > limits.directories:
            break
        seen = look_at_files(rows[key], clock=clock, limits=limits) if key in rows else None
        if seen is not None:
            tables, directories = tables + 1, directories + seen
    return tables, directories


def _at_rest(cluster: Cluster, hot: set[int], *, now: datetime, limits: SweepLimits) -> list[int]:
    """Return the next tables of which nobody told lately: all of them have their turn.

    A turn reads a page of them and keeps where it ended.
    """
    room = limits.tables - len(hot)
    if room <= 0:
        return []
    page = tables_after(cluster, cluster.swept_after, most=limits.page)
    # After the last page the first one follows.
    last = page[-1][0] if len(page) == limits.page else 0
    found: list[int] = []
    for key, inspected_at in page:
        if key in hot or (inspected_at is not None and now - inspected_at < limits.longest):
            continue
        found.append(key)
        if len(found) == room:
            last = key
            break
    cluster.swept_after = last
    cluster.save(update_fields=["swept_after"])
    return found


def _probes(
    cluster: Cluster, *, clock: Clock, limits: SweepLimits, until: datetime
) -> tuple[int, int]:
    now = clock()
    keys = due(hot_targets(cluster, since=now - limits.hot_for), now=now, limits=limits)
    rows = RefreshTarget.objects.select_related("cluster", "watched").in_bulk(keys)
    probes = diverged = 0
    for key in keys:
        if clock() >= until:
            break
        wrong = probe(rows[key], clock=clock) if key in rows else None
        if wrong is not None:
            probes, diverged = probes + 1, diverged + bool(wrong)
    return probes, diverged
