"""Takes an engine's word of a query in, once: scans and groupings go into sums of their tables."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import F

from optimizer.advice.domain.scan_reports import Scanned
from optimizer.core.services.transactions import transaction_run
from optimizer.cubes.domain.readers import Engine
from optimizer.iceberg.tables.services.groupings import GroupedQuery, grouping_report
from optimizer.iceberg.tables.services.lake_sums import (
    ScanSums,
    scans_add,
    scans_ready,
    sums_of,
)
from optimizer.iceberg.tables.services.scans import KEPT_DAYS, table_scan_add
from optimizer.models import IcebergTable, QueryDay, QuerySeconds, RecordedQuery
from optimizer.queries.domain.latency import with_time
from optimizer.queries.domain.query_groupings import Grouped, groupings_of
from optimizer.queries.domain.query_record import QueryRecord, TableScan
from optimizer.queries.domain.spark_queries import SparkBatch
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


@dataclass(frozen=True, slots=True)
class QueriesTaken:
    """What became of several queries."""

    taken: int
    """Counted now."""
    repeated: int
    """Counted before."""
    unread: int
    """Of those that are counted now, without their scans: these could not be read."""
    unknown: int
    """Scans of tables that are not known, or that the token's owner does not see."""


def spark_queries_report(
    lake: str, batch: SparkBatch, *, user: User, now: datetime
) -> QueriesTaken:
    """Take queries of a Spark driver in, each by itself; what came before adds nothing.

    A driver that gets no answer sends the same again: queries know their numbers, and what it
    dropped counts once by how much that is since its start.

    Raises:
        NotVisible: `lake.unknown`.
    """
    get_lake(lake)
    found = [query_take(lake, one, user=user, now=now) for one in batch.queries]
    if batch.n_dropped:
        _take_dropped(lake, batch, user=user, now=now)
    return QueriesTaken(
        sum(not one.repeated for one in found),
        sum(one.repeated for one in found),
        sum(one.unread != "" for one in found),
        sum(one.unknown for one in found),
    )


def _take_dropped(lake: str, batch: SparkBatch, *, user: User, now: datetime) -> None:
    mark = QueryRecord(Engine.SPARK, batch.dropped_id, is_failed=False)

    def count() -> None:
        if _is_new(lake, mark, user=user, now=now):
            _count(lake, Engine.SPARK, now, n_dropped=batch.n_dropped)

    transaction_run(count)


def query_take(lake: str, query: QueryRecord, *, user: User, now: datetime) -> QueryTaken:
    """Add the scans of a completed query to the sums of the tables that the person sees.

    What it groups and aggregates is added beside them, without its text and constants. A query that
    comes again adds nothing. One that cannot be read is counted, and accepted: an engine would send
    it again and again. It is kept for the lake's table after it was counted: of a portal that is
    killed in between it is missing there, and never twice.
    """
    rows = _tables(lake, query.scans, user)
    if rows:
        scans_ready(lake, now=now)
    known = [(row, one) for one in query.scans if (row := rows.get(one.place)) is not None]
    read = _read_of(known, query)
    grouped = groupings_of(query, {str(row).lower(): _columns(row) for row, _ in known}, read)
    taken = transaction_run(partial(_take, lake, _Known(query, known, grouped, read), user, now))
    if not taken.repeated and keeps_queries(lake) and not query_keep(lake, query, now=now):
        _count(lake, query.engine, now, n_not_kept=1)
    return taken


@dataclass(frozen=True, slots=True)
class _Known:
    """A query, with its scans of tables that are known, and what was read and grouped of them."""

    query: QueryRecord
    scans: Sequence[tuple[IcebergTable, TableScan]]
    grouped: Grouped
    read: Mapping[str, int]


def _take(lake: str, known: _Known, user: User, now: datetime) -> QueryTaken:
    query, grouped = known.query, known.grouped
    if not _is_new(lake, query, user=user, now=now):
        _count(lake, query.engine, now, n_repeated=1)
        return QueryTaken(0, repeated=True)
    # In one order everywhere, so that events of the same tables wait for each other.
    summed = [] if query.has_own_reports else sorted(known.scans, key=lambda pair: pair[0].pk)
    sums = ScanSums()
    for row, one in summed:
        scanned = _scanned(one, row, query.engine)
        table_scan_add(row, scanned, now=now)
        sums += sums_of(row, scanned)
    _group(grouped, query, {str(row).lower(): row for row, _ in known.scans}, known.read, now=now)
    scans_add(lake, sums, now=now)
    n_scans, n_unknown = len(known.scans), len(query.scans) - len(known.scans)
    _count(
        lake,
        query.engine,
        now,
        said={"unread": query.unread, "unparsed": grouped.problem},
        n_queries=1,
        n_scans=n_scans,
        n_unknown=n_unknown,
        n_failed=int(query.is_failed),
        n_unread=int(query.unread != ""),
        n_unparsed=int(grouped.problem != ""),
    )
    if known.scans and query.seconds is not None:
        _time(lake, query.engine, query.seconds, now)
    return QueryTaken(n_scans, n_unknown, unread=query.unread)


def _scanned(scan: TableScan, row: IcebergTable, engine: Engine) -> Scanned:
    """Return files and bytes as other engines count them: of files that are left to read.

    No event says which files those were; the share of the rows that were read stands for them.
    """
    if scan.n_skipped is not None:
        n_read = max(0, scan.n_files - scan.n_skipped)
        return Scanned(scan.filters, n_read, scan.n_skipped, scan.n_bytes, engine)
    if scan.share is None:
        return Scanned(scan.filters, 0, 0, scan.n_bytes, engine)
    n_files = math.ceil(scan.share * scan.n_files)
    n_bytes = scan.n_bytes if row.n_bytes is None else int(scan.share * row.n_bytes)
    return Scanned(scan.filters, n_files, scan.n_files - n_files, n_bytes, engine)


def _read_of(known: Sequence[tuple[IcebergTable, TableScan]], query: QueryRecord) -> dict[str, int]:
    """Return the bytes that a query read of each table, by `db.table`.

    Where no scan says it, what the whole query read is shared out by the sizes of the tables.
    """
    found: dict[str, int] = {}
    for row, one in known:
        name = str(row).lower()
        found[name] = found.get(name, 0) + _scanned(one, row, query.engine).n_bytes
    if any(found.values()):
        return found
    sizes = {str(row).lower(): row.n_bytes or 0 for row, _ in known}
    whole = sum(sizes.values())
    return {name: query.n_bytes * size // whole if whole else 0 for name, size in sizes.items()}


def _columns(row: IcebergTable) -> dict[str, str]:
    return {name.lower(): str(kind) for name, kind in row.columns.items()}


def _group(
    grouped: Grouped,
    query: QueryRecord,
    rows: Mapping[str, IcebergTable],
    read: Mapping[str, int],
    *,
    now: datetime,
) -> None:
    for one, times in sorted(grouped.shares(), key=lambda pair: rows[pair[0].table].pk):
        told = GroupedQuery(
            read[one.table] // times, (query.seconds or 0.0) / times, grouped.shape, grouped.tables
        )
        grouping_report(rows[one.table], one, told, now=now)


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


def _count(
    lake: str, engine: Engine, now: datetime, *, said: Mapping[str, str] | None = None, **added: int
) -> None:
    today = now.astimezone(UTC).date()
    key = {"lake": lake, "engine": engine, "day": today}
    _, is_first = QueryDay.objects.get_or_create(**key, defaults={"last_at": now})
    if is_first:
        RecordedQuery.objects.filter(at__lt=now - KNOWN_FOR).delete()
        QueryDay.objects.filter(day__lt=today - timedelta(days=KEPT_DAYS)).delete()
        QuerySeconds.objects.filter(day__lt=today - timedelta(days=KEPT_DAYS)).delete()
    sums: dict[str, Any] = {name: F(name) + n for name, n in added.items() if n}
    sums |= {name: text[:1000] for name, text in (said or {}).items() if text}
    QueryDay.objects.filter(**key).update(last_at=now, **sums)


def _time(lake: str, engine: Engine, seconds: float, now: datetime) -> None:
    """Add a query's time to today's; the row of `_count` is held, so that one does it at a time."""
    key: dict[str, Any] = {"lake": lake, "engine": engine, "day": now.astimezone(UTC).date()}
    QuerySeconds.objects.get_or_create(**key)
    row = QuerySeconds.objects.select_for_update().get(**key)
    row.counts = with_time(row.counts, seconds)
    row.save(update_fields=["counts"])
