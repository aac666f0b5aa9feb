"""Takes an engine's word of a query in, once: scans and groupings go into sums of their tables.

Of Hudi tables groupings alone are summed: no sums of their scans are kept.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import F, Q

from optimizer.advice.domain.scan_reports import Scanned
from optimizer.advice.domain.stars.groupings import StarGrouping
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
from optimizer.models import HudiTable, IcebergTable, QueryDay, QuerySeconds, RecordedQuery
from optimizer.queries.domain.latency import with_time
from optimizer.queries.domain.query_groupings import Grouped, groupings_of
from optimizer.queries.domain.query_record import QueryRecord, TableScan
from optimizer.queries.domain.spark_queries import SparkBatch
from optimizer.queries.domain.trino_events import read_event
from optimizer.queries.services.keeping import keeps_queries, query_keep
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.catalog.services.stored_aggregates import aggregate_answered, tables_read

KNOWN_FOR = timedelta(days=2)
"""No engine sends an event again so late."""
KnownTable = IcebergTable | HudiTable


@dataclass(frozen=True, slots=True)
class QueryTaken:
    """What became of an event."""

    scans: int
    """Of known tables; those of Iceberg tables are added to their sums."""
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
    it again and again. The aggregate that it was answered from is told after it was counted, and it
    is kept for the lake's table: of a portal that is killed in between it is missing there, and
    never twice.
    """
    named = {one.place for one in query.scans} | {_place(one.table) for one in query.asked}
    rows = _tables(lake, named, user)
    known = [(row, one) for one in query.scans if (row := rows.get(one.place)) is not None]
    if any(isinstance(row, IcebergTable) for row, _ in known):
        scans_ready(lake, now=now)
    read = _read_of(known, query)
    grouped = groupings_of(query, {str(row).lower(): _columns(row) for row, _ in known}, read)
    taken = transaction_run(partial(_take, lake, _Known(query, known, grouped, read), user, now))
    if taken.repeated:
        return taken
    answering = _answering(query, rows)
    for table in answering:
        aggregate_answered(lake, table, now=now)
    if by_name := _read_by_name(query, rows, answering):
        tables_read(lake, by_name, now=now)
    if keeps_queries(lake) and not query_keep(lake, query, now=now):
        _count(lake, query.engine, now, n_not_kept=1)
    return taken


@dataclass(frozen=True, slots=True)
class _Known:
    """A query, with its scans of tables that are known, and what was read and grouped of them."""

    query: QueryRecord
    scans: Sequence[tuple[KnownTable, TableScan]]
    grouped: Grouped
    read: Mapping[str, int]


def _take(lake: str, known: _Known, user: User, now: datetime) -> QueryTaken:
    query, grouped = known.query, known.grouped
    if not _is_new(lake, query, user=user, now=now):
        _count(lake, query.engine, now, n_repeated=1)
        return QueryTaken(0, repeated=True)
    # In one order everywhere, so that events of the same tables wait for each other.
    summed = [(row, one) for row, one in known.scans if isinstance(row, IcebergTable)]
    sums = ScanSums()
    for row, one in () if query.has_own_reports else sorted(summed, key=lambda pair: pair[0].pk):
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


def _scanned(scan: TableScan, row: KnownTable, engine: Engine) -> Scanned:
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


def _read_of(known: Sequence[tuple[KnownTable, TableScan]], query: QueryRecord) -> dict[str, int]:
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


def _columns(row: KnownTable) -> dict[str, str]:
    """Return the types of a table's columns; those of Hudi tables are not known here."""
    columns = row.columns if isinstance(row, IcebergTable) else {}
    return {name.lower(): str(kind) for name, kind in columns.items()}


def _group(
    grouped: Grouped,
    query: QueryRecord,
    rows: Mapping[str, KnownTable],
    read: Mapping[str, int],
    *,
    now: datetime,
) -> None:
    def place(pair: tuple[StarGrouping, int]) -> tuple[str, int]:
        row = rows[pair[0].table]
        return row.table_format, row.pk

    for one, times in sorted(grouped.shares(), key=place):
        told = GroupedQuery(
            read[one.table] // times, (query.seconds or 0.0) / times, grouped.shape, grouped.tables
        )
        grouping_report(rows[one.table], one, told, now=now)


def _tables(
    lake: str, names: Collection[tuple[str, str]], user: User
) -> dict[tuple[str, str], KnownTable]:
    """Return the tables that are there and that the person sees, of whatever format."""
    if not names:
        return {}
    dbs, tables = {db for db, _ in names}, {table for _, table in names}
    shown = Q(visible_to(user), lake=lake, db__in=dbs, table__in=tables, is_deleted=False)
    found: dict[tuple[str, str], KnownTable] = {}
    for row in HudiTable.objects.filter(shown).order_by("pk"):
        found[row.db, row.table] = row
    for one in IcebergTable.objects.filter(shown).order_by("pk"):
        found[one.db, one.table] = one
    return found


def _answering(query: QueryRecord, rows: Mapping[tuple[str, str], KnownTable]) -> list[str]:
    """Return the tables, as `db.table`, whose rows stand for an aggregate of what it asks for.

    A query names all that it asks for. What it reads besides was put in the place of a table that
    it did not read.
    """
    asked = {_place(one.table) for one in query.asked}
    read = {one.place for one in query.scans}
    if query.is_failed or not any(place in rows for place in asked - read):
        return []
    return [".".join(place) for place in sorted(read - asked) if place in rows]


def _read_by_name(
    query: QueryRecord, rows: Mapping[tuple[str, str], KnownTable], answering: Collection[str]
) -> list[str]:
    """Return the Hudi tables, as `db.table`, that a query read and that did not answer for others.

    Aggregates are kept in Hudi tables alone.
    """
    places = {one.place for one in query.scans if isinstance(rows.get(one.place), HudiTable)}
    names = {".".join(place) for place in places} - set(answering)
    return [] if query.is_failed else sorted(names)


def _place(name: str) -> tuple[str, str]:
    db, _, table = name.rpartition(".")
    return db, table


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
