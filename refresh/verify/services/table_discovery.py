"""Finds the tables of a cluster's catalogs in the metastore, so that all of them are swept.

An insert into an unpartitioned table leaves no event, so a table may never be heard of. A turn
lists the tables of a few databases and goes on where the last one ended; a round begins once an
hour. Doing it twice changes nothing.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from portal.access.lakes import get_lake
from portal.connectors.metastore import Metastore
from portal.lake.errors import NotVisible, PortalError, RuleViolation
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from refresh.changes.services.record_changes import make_targets
from refresh.core.domain.clock import Clock
from refresh.core.selectors.names import named_for_all
from refresh.core.services.rate_limit import metastore_answered, metastore_pays
from refresh.freshness.domain.freshness import Danger, Freshness, rank_of
from refresh.models import Cluster, RefreshTarget, WatchedTable

_log = logging.getLogger(__name__)
_EVERY = timedelta(hours=1)
_DATABASES, _TABLES = 10, 5_000
_CHUNK = 500
# Sorts behind the name of every database.
_LAST = "~"
_WHY = "Found in the metastore; nothing was told or refreshed since, so nothing is known of it."


def tables_find(cluster: Cluster, *, clock: Clock) -> int:
    """List some databases and keep the tables that were not known; return how many were new."""
    now = clock()
    found = 0
    if not cluster.named_after:
        if cluster.named_at is not None and now - cluster.named_at < _EVERY:
            return 0
        found = _keep(list(_declared(cluster)), now=now)
    lakes = cluster.catalogs.exclude(lake="").values_list("lake", flat=True)
    room = _Room()
    for lake in sorted(set(lakes)):
        if (lake, _LAST) <= _cursor(cluster):
            continue
        if not metastore_pays(lake, 1 + _DATABASES, now=clock()):
            return found
        try:
            found += _databases(cluster, lake, room, clock=clock)
        except PortalError as error:
            # The next round asks again; the other lakes do not wait for this one.
            _log.warning("the tables of lake %s were not listed: %s", lake, error.message)
            metastore_answered(lake, is_well=False, now=clock())
        if room.is_used_up:
            return found
        _move(cluster, f"{lake}/{_LAST}")
    _move(cluster, "", ended_at=clock())
    return found


@dataclass(slots=True)
class _Room:
    """What a turn may still list."""

    databases: int = _DATABASES
    tables: int = _TABLES

    @property
    def is_used_up(self) -> bool:
        return self.databases <= 0 or self.tables <= 0


def _databases(cluster: Cluster, lake: str, room: _Room, *, clock: Clock) -> int:
    n_new = 0
    with Metastore.connect(get_lake(lake)) as metastore:
        for db in sorted(metastore.databases()):
            if (lake, db) <= _cursor(cluster):
                continue
            if room.is_used_up:
                break
            names = _tables(metastore, db)
            n_new += _keep(list(_valid(lake, db, names)), now=clock())
            room.databases, room.tables = room.databases - 1, room.tables - len(names)
            _move(cluster, f"{lake}/{db}")
    metastore_answered(lake, is_well=True, now=clock())
    return n_new


def _tables(metastore: Metastore, db: str) -> Sequence[str]:
    try:
        return sorted(metastore.tables(db))
    except NotVisible:
        return ()  # dropped since the databases were listed


def _cursor(cluster: Cluster) -> tuple[str, str]:
    lake, _, db = cluster.named_after.partition("/")
    return lake, db


def _move(cluster: Cluster, named_after: str, *, ended_at: datetime | None = None) -> None:
    cluster.named_after = named_after
    cluster.named_at = ended_at or cluster.named_at
    cluster.save(update_fields=["named_after", "named_at"])


def _declared(cluster: Cluster) -> Iterator[TableName]:
    rows = cluster.declared.exclude(lake="").order_by("pk")
    for lake, db, table in rows.values_list("lake", "hive_db", "hive_table").iterator():
        yield from _valid(lake, db, [table])


def _valid(lake: str, db: str, tables: Sequence[str]) -> Iterator[TableName]:
    """Return the names on which the portal acts at all."""
    for table in tables:
        try:
            yield TableName(LakeId(lake), db, table)
        except RuleViolation:
            _log.info("%s.%s of %s is a name on which the portal does not act", db, table, lake)


def _keep(found: Sequence[TableName], *, now: datetime) -> int:
    """Keep tables with a number of queries that grows by the chunk only."""
    return sum(
        _keep_some(found[start : start + _CHUNK], now=now) for start in range(0, len(found), _CHUNK)
    )


@transaction.atomic
def _keep_some(some: Sequence[TableName], *, now: datetime) -> int:
    named = {hive: shown for hive, shown in named_for_all(some).items() if shown}
    if not named:
        return 0
    known = _rows(list(named))
    WatchedTable.objects.bulk_create(
        [
            WatchedTable(
                lake=str(hive.lake), db=hive.db, table=hive.table, tracked_since=now, changed_at=now
            )
            for hive in named
            if hive not in known
        ],
        ignore_conflicts=True,
    )
    rows = _rows(list(named))
    make_targets({rows[hive]: shown for hive, shown in named.items() if hive in rows})
    new = RefreshTarget.objects.filter(watched__in=list(rows.values()), reason="", due_at=None)
    new.filter(freshness=Freshness.UNKNOWN).update(
        rank=rank_of(Freshness.UNKNOWN, Danger.UNKNOWN), reason=_WHY
    )
    return len(rows) - len(known)


def _rows(names: Sequence[TableName]) -> dict[TableName, WatchedTable]:
    wanted = {(str(hive.lake), hive.db, hive.table): hive for hive in names}
    lakes, dbs, tables = (set(words) for words in zip(*wanted, strict=True))
    near = WatchedTable.objects.filter(lake__in=lakes, db__in=dbs, table__in=tables)
    return {
        wanted[row.lake, row.db, row.table]: row
        for row in near
        if (row.lake, row.db, row.table) in wanted
    }
