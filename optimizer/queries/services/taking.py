"""Takes an engine's word of a query in, once: its scans are added to the sums of their tables."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from optimizer.advice.domain.scan_reports import Scanned
from optimizer.cubes.domain.readers import Engine
from optimizer.iceberg.tables.services.scans import KEPT_DAYS, scan_report
from optimizer.models import IcebergTable, QueryDay, RecordedQuery
from optimizer.queries.domain.query_record import QueryRecord, TableScan
from optimizer.queries.domain.trino_events import read_event
from optimizer.queries.services.keeping import keeps_queries, query_keep
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.access.visibility import visible_to

KNOWN_FOR = timedelta(days=2)
"""No engine sends an event again so late."""


@dataclass(frozen=True, slots=True)
class QueryTaken:
    """What became of an event."""

    scans: int
    """Added to the sums of their tables."""
    unknown: int = 0
    """Of tables that are not known, or that the token's owner does not see."""
    repeated: bool = False
    unread: str = ""


def trino_query_report(
    lake: str, event: Mapping[str, Any], *, catalog: str, user: User, now: datetime
) -> QueryTaken:
    """Take an event of Trino's HTTP listener in.

    Raises:
        NotVisible: `lake.unknown`. RuleViolation: `queries.event`.
    """
    get_lake(lake)
    return query_take(lake, read_event(event, catalog=catalog), user=user, now=now)


def query_take(lake: str, query: QueryRecord, *, user: User, now: datetime) -> QueryTaken:
    """Add the scans of a completed query to the sums of the tables that the person sees.

    A query that comes again adds nothing. One that cannot be read is counted, and accepted: an
    engine would send it again and again. It is kept for the lake's table after it was counted: of
    a portal that is killed in between it is missing there, and never twice.
    """
    rows = _tables(lake, query.scans, user)
    with transaction.atomic():
        if not _is_new(lake, query, user=user, now=now):
            _count(lake, query.engine, now, n_repeated=1)
            return QueryTaken(0, repeated=True)
        known = [(row, one) for one in query.scans if (row := rows.get(one.place)) is not None]
        # In one order everywhere, so that events of the same tables wait for each other.
        summed = [] if query.has_own_reports else sorted(known, key=lambda pair: pair[0].pk)
        for row, one in summed:
            scan_report(row, _scanned(one, row, query.engine), now=now)
        n_scans, n_unknown = len(known), len(query.scans) - len(known)
        _count(
            lake,
            query.engine,
            now,
            unread=query.unread,
            n_queries=1,
            n_scans=n_scans,
            n_unknown=n_unknown,
            n_failed=int(query.is_failed),
            n_unread=int(query.unread != ""),
        )
    if keeps_queries(lake) and not query_keep(lake, query, now=now):
        _count(lake, query.engine, now, n_not_kept=1)
    return QueryTaken(n_scans, n_unknown, unread=query.unread)


def _scanned(scan: TableScan, row: IcebergTable, engine: Engine) -> Scanned:
    """Return files and bytes as other engines count them: of files that are left to read.

    No event says which files those were; the share of the rows that were read stands for them.
    """
    if scan.share is None:
        return Scanned(scan.filters, 0, 0, scan.n_bytes, engine)
    n_files = math.ceil(scan.share * scan.n_files)
    n_bytes = scan.n_bytes if row.n_bytes is None else int(scan.share * row.n_bytes)
    return Scanned(scan.filters, n_files, scan.n_files - n_files, n_bytes, engine)


def _tables(
    lake: str, scans: tuple[TableScan, ...], user: User
) -> dict[tuple[str, str], IcebergTable]:
    if not scans:
        return {}
    seen = IcebergTable.objects.filter(visible_to(user), lake=lake, is_deleted=False)
    named = seen.filter(
        db__in={one.db for one in scans}, table__in={one.table for one in scans}
    ).order_by("pk")
    return {(row.db, row.table): row for row in named}


def _is_new(lake: str, query: QueryRecord, *, user: User, now: datetime) -> bool:
    _, is_new = RecordedQuery.objects.get_or_create(
        lake=lake, user=user.username, query_id=query.query_id, defaults={"at": now}
    )
    return is_new


def _count(lake: str, engine: Engine, now: datetime, *, unread: str = "", **added: int) -> None:
    today = now.astimezone(UTC).date()
    key = {"lake": lake, "engine": engine, "day": today}
    _, is_first = QueryDay.objects.get_or_create(**key, defaults={"last_at": now})
    if is_first:
        RecordedQuery.objects.filter(at__lt=now - KNOWN_FOR).delete()
        QueryDay.objects.filter(day__lt=today - timedelta(days=KEPT_DAYS)).delete()
    sums: dict[str, Any] = {name: F(name) + n for name, n in added.items() if n}
    if unread:
        sums["unread"] = unread[:1000]
    QueryDay.objects.filter(**key).update(last_at=now, **sums)
