"""What was dropped since the current picture was read and has not come back.

A scan's rows do not change. These functions take dropped items off the numbers that people act on:
by the catalogue of backups for sums of tables, by the audit record for single items of a page.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Concat
from django.utils import timezone

from lifecycle.backup.models import BackupBatch
from lifecycle.inventory.domain.due_totals import DUE_NAMES, Due, Gone, dropped_part
from lifecycle.models import DropPlanTable, LatestScan, SamplePartition, TableFinding
from portal.audit.models import AuditEvent
from portal.audit.services import object_name
from portal.lake.errors import StaleState

DROPPED_ACTIONS = ("item.dropped", "item.dropped_new_data_kept")
_GONE_ACTIONS = (*DROPPED_ACTIONS, "item.restore_undone")
_MOVES = (*_GONE_ACTIONS, "item.restored")
_CLASSES = ("CLEAN_NOW", "STILL_READ")  # the classes that a plan takes from

GoneOf = Mapping[tuple[str, str], Gone]


def gone_since(lake: str, **name: str) -> GoneOf:
    """Return what drops took out of each table since the scan, or of the one of that name.

    The recently read part is the share that the batch's plan counted. Batches are summed here: a
    grouped query would read the whole catalogue in the order of its names.
    """
    sizes = ("n_items", "n_restored", "n_bytes", "restored_bytes")
    rows = list(
        _dropped_batches(lake)
        .filter(**name)
        .order_by()
        .values_list("db", "table", "plan_id", *sizes)
    )
    if not rows:
        return {}
    shares = _recently_read_shares({UUID(plan) for _, _, plan, *_ in rows if plan})
    sums: defaultdict[tuple[str, str], Gone] = defaultdict(Gone)
    for db, table, plan, n, back, size, size_back in rows:
        n_read, n_all = shares.get((plan, db, table), (0, 1))
        n_items = n - back
        sums[db, table] += Gone(n_items, size - size_back, min(n_items * n_read // n_all, n_items))
    return dict(sums)


def due_of(table: TableFinding) -> Due:
    """Return the parts of one table: as its scan counted them, or less if dropped were taken off.

    See `take_off_dropped`.
    """
    return Due(*(getattr(table, name) for name in DUE_NAMES))


def dropped_parts(
    lake: str, tables: QuerySet[TableFinding], gone: GoneOf | None = None
) -> Iterator[tuple[Any, Due]]:
    """Yield those of some tables of which due items were dropped, with these items.

    At most three queries; one where nothing was dropped since the scan.
    """
    if gone is None:
        gone = gone_since(lake)
    if not gone:
        return
    batches = _dropped_batches(lake).filter(db=OuterRef("db"), table=OuterRef("table"))
    rows = tables.filter(Exists(batches)).defer("location", "reasons", "class_bytes")
    for row in rows.order_by():
        yield row, dropped_part(due_of(row), gone.get((row.db, row.table), Gone()))


def dropped_due(lake: str, tables: QuerySet[TableFinding], gone: GoneOf | None = None) -> Due:
    """Return the sum of the due items that were dropped of some tables."""
    return sum((part for _, part in dropped_parts(lake, tables, gone)), Due())


def dropped_due_by_database(lake: str, names: Sequence[str]) -> dict[str, Due]:
    """Return what was dropped of the due items of each named database; {} where nothing was."""
    sums: defaultdict[str, Due] = defaultdict(Due)
    for row, part in dropped_parts(lake, TableFinding.objects.current(lake).filter(db__in=names)):
        sums[row.db] += part
    return dict(sums)


def take_off_dropped(rows: Sequence[Any], gone: GoneOf | None = None) -> None:
    """Take what was dropped off the counts of tables of one lake, and set it as `dropped`.

    The rows are changed in memory only and must not be saved. One query where nothing was dropped;
    none where `gone_since` was read already.
    """
    if not rows:
        return
    if gone is None:
        only = {"db": rows[0].db, "table": rows[0].table} if len(rows) == 1 else {}
        gone = gone_since(rows[0].lake, **only)
    for row in rows:
        part = dropped_part(due_of(row), gone.get((row.db, row.table), Gone()))
        row.dropped = part
        if not part.n_items:
            continue
        left = due_of(row) - part
        for name in DUE_NAMES:
            setattr(row, name, getattr(left, name))
        if "class_bytes" not in row.get_deferred_fields():
            sizes = {cls: getattr(left, f"bytes_{cls.lower()}") for cls in _CLASSES}
            row.class_bytes = {cls: sizes.get(cls, n) for cls, n in row.class_bytes.items()}


def without_emptied(
    rows: QuerySet[TableFinding], counts: Collection[str], *, lake: str, gone: GoneOf
) -> QuerySet[TableFinding]:
    """Leave out the tables of one lake of which all that `counts` name was dropped since the scan.

    `counts` are names of `Due`. No query where nothing was dropped.
    """
    emptied = [
        row.pk
        for row, part in dropped_parts(lake, rows, gone)
        if part.n_items and not any(getattr(due_of(row) - part, name) for name in counts)
    ]
    return rows.exclude(pk__in=emptied) if emptied else rows


def check_not_dropped(table: TableFinding, partition: str) -> None:
    """Refuse a request about a partition, or (`partition` empty) a table, that was dropped.

    Raises:
        StaleState: it was dropped since the scan and has not come back.
    """
    at = dropped_at(table, partition)
    if at is None:
        return
    name = f"{table}/{partition}" if partition else f"{table}"
    raise StaleState(
        "item.dropped",
        f"{name} was dropped at {timezone.localtime(at):%Y-%m-%d %H:%M}, after the last scan, and "
        "is in a backup. Restore it from the page Backups first, then ask again.",
        db=table.db,
        table=table.table,
        partition=partition,
        dropped_at=at.isoformat(),
    )


def dropped_at(table: TableFinding, partition: str) -> datetime | None:
    """Return when a partition, or (`partition` empty) a table, was dropped; None if it was not.

    A table counts as dropped when all that was due of it was; its counts must be the scan's.
    At most two queries.
    """
    if partition:
        return _gone_items(table, [partition]).get(partition)
    batches = _dropped_batches(table.lake).filter(db=table.db, table=table.table)
    at: datetime | None = batches.aggregate(last=Max("dropped_at"))["last"]
    if at is None:
        return None
    gone = gone_since(table.lake, db=table.db, table=table.table)
    due = due_of(table)
    part = dropped_part(due, gone.get((table.db, table.table), Gone()))
    return at if part.n_items and not (due - part).n_items else None


def dropped_partitions(table: TableFinding, partitions: Sequence[str]) -> set[str]:
    """Return those of some items of a table that were dropped and have not come back.

    '' stands for an unpartitioned table. One query for any number of them, which a page bounds.
    """
    return set(_gone_items(table, partitions))


def all_dropped_partitions(table: TableFinding) -> set[str]:
    """Return all items of a table that were dropped since the scan and have not come back.

    For mails and reports: a page asks about the items that it shows.
    """
    name = object_name(f"{table}")
    of_table = Q(object_id=name) | Q(object_id__startswith=f"{name}/")
    last: dict[str, str] = {}
    for item, action in _moves_of(table).filter(of_table).values_list("object_id", "action"):
        last[item] = action
    gone = (item for item, action in last.items() if action in _GONE_ACTIONS)
    return {item[len(name) + 1 :] for item in gone}


def without_dropped(items: QuerySet[SamplePartition]) -> QuerySet[SamplePartition]:
    """Leave out the items that were dropped since the scan and have not come back.

    Names that the audit record cuts are not recognised; they stay in.
    """
    name = Concat("table__db", Value("."), "table__table", Value("/"), "partition")
    moves = AuditEvent.objects.filter(
        lake=OuterRef("table__lake"),
        object_type="item",
        object_id=OuterRef("record_name"),
        action__in=_MOVES,
        at__gt=OuterRef("table__generation__read_at"),
    )
    last = Subquery(moves.order_by("-seq").values("action")[:1])
    named = items.annotate(record_name=name, last_move=Coalesce(last, Value("")))
    return named.exclude(last_move__in=_GONE_ACTIONS)


def _gone_items(table: TableFinding, partitions: Sequence[str]) -> dict[str, datetime]:
    """Return those of some items that were dropped and have not come back, with the instant."""
    if not partitions:
        return {}
    names = {object_name(f"{table}/{one}" if one else f"{table}"): one for one in partitions}
    rows = _moves_of(table).filter(object_id__in=names).values_list("object_id", "action", "at")
    last = {name: (action, at) for name, action, at in rows}
    return {
        names[name]: at
        for name, (action, at) in last.items()
        if action in _GONE_ACTIONS and name in names
    }


def _moves_of(table: TableFinding) -> QuerySet[AuditEvent]:
    """Return what was dropped of a lake since the scan and came back, the oldest first."""
    events = AuditEvent.objects.filter(
        lake=table.lake, object_type="item", action__in=_MOVES, at__gt=_read_at(table.lake)
    )
    return events.order_by("seq")


def _dropped_batches(lake: str) -> QuerySet[BackupBatch]:
    """Return the batches that were dropped since the current picture was read."""
    return BackupBatch.objects.filter(lake=lake, dropped_at__gt=_read_at(lake))


def _read_at(lake: str) -> Subquery:
    current = LatestScan.objects.filter(lake=lake)
    return Subquery(current.values("generation__read_at")[:1])


def _recently_read_shares(plans: set[UUID]) -> dict[tuple[str, str, str], tuple[int, int]]:
    rows = DropPlanTable.objects.filter(plan_id__in=plans, n_still_read__gt=0)
    return {
        (str(plan), db, table): (n_read, n_all)
        for plan, db, table, n_read, n_all in rows.values_list(
            "plan_id", "db", "table", "n_still_read", "n_items"
        )
    }
