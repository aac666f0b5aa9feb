"""What is on hold, asked to be kept, or dropped, now: joined to rows when they are read.

A scan's classes know the holds of its own instant only. These functions add what people answered
and what plans dropped since, so that a page shows it at once.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import BooleanField, Count, ExpressionWrapper, Max, Q, QuerySet
from django.utils import timezone

from lifecycle.backup.models import Hold
from lifecycle.backup.selectors import holds_active
from lifecycle.inventory.selectors.dropped import GoneOf, dropped_partitions, take_off_dropped
from lifecycle.models import PolicyRequest, SamplePartition, TableFinding
from lifecycle.policies.domain.states import RequestState

SHOWN = 5
_TABLES_A_QUERY = 200  # each database is a term of one condition, and SQLite caps their number

_Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Kept:
    """How much of a table or item is on hold now, and until when, or was dropped since the scan.

    `is_whole` is False where only some partitions of a table are on hold (`n_parts` holds).
    `until` is None for a hold without an end. `n_dropped` items are gone and can be restored.
    """

    is_whole: bool = False
    until: datetime | None = None
    n_parts: int = 0
    n_pending: int = 0
    n_dropped: int = 0

    @property
    def is_on_hold(self) -> bool:
        """Whether anything of it is on hold."""
        return self.is_whole or self.n_parts > 0

    def __str__(self) -> str:
        said = []
        if self.is_whole:
            until = f"until {timezone.localtime(self.until):%Y-%m-%d}" if self.until else "no end"
            said.append(f"on hold, {until}")
        elif self.n_parts:
            noun = "partition" if self.n_parts == 1 else "partitions"
            said.append(f"{self.n_parts} {noun} on hold")
        if self.n_dropped:
            said.append(f"{self.n_dropped} dropped since the scan, in backup")
        return "; ".join(said)


@dataclass(frozen=True, slots=True)
class TableKept:
    """The holds on one table and the requests about it that wait, newest first."""

    holds: Sequence[Hold]
    has_more_holds: bool
    pending: Sequence[PolicyRequest]


def table_kept(table: TableFinding, *, now: datetime) -> TableKept:
    """Return the holds that keep a table or parts of it now, those on all of it first."""
    holds = list(_holds_of(table, now=now).order_by("partition", "-placed_at")[: SHOWN + 1])
    pending = PolicyRequest.objects.filter(
        lake=table.lake, db=table.db, table=table.table, state=RequestState.PENDING
    )
    return TableKept(
        holds=holds[:SHOWN],
        has_more_holds=len(holds) > SHOWN,
        pending=list(pending.order_by("-created_at")[:SHOWN]),
    )


def complete_tables(rows: Sequence[Any], gone: GoneOf | None = None) -> None:
    """Set `kept` on rows of tables of one lake, and take off what was dropped since the scan.

    Three queries for every 200 rows, or two where `gone_since` was read already; one more where
    something was dropped.
    """
    now = timezone.now()
    for start in range(0, len(rows), _TABLES_A_QUERY):
        part = rows[start : start + _TABLES_A_QUERY]
        take_off_dropped(part, gone)
        kept = _tables_kept(part, now=now)
        for row in part:
            row.kept = replace(kept[row.pk], n_dropped=row.dropped.n_items)


def complete_items(rows: Sequence[Any], *, may_be_dropped: bool = True) -> None:
    """Set `kept` on items of one table; two queries for any number of them.

    One where it is known that nothing of the table was dropped since the scan.
    """
    if not rows:
        return
    kept = _items_kept(rows, now=timezone.now())
    names = [row.partition for row in rows] if may_be_dropped else []
    dropped = dropped_partitions(rows[0].table, names)
    for row in rows:
        row.kept = replace(kept[row.pk], n_dropped=int(row.partition in dropped))


def _tables_kept(rows: Sequence[TableFinding], *, now: datetime) -> dict[int, Kept]:
    if not rows:
        return {}
    lake = rows[0].lake
    names: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        names[row.db].add(row.table)
    # By database, so that an index finds them; '' stands for the database's own holds.
    any_of = [Q(db=db, table__in={"", *tables}) for db, tables in names.items()]
    named = reduce(or_, any_of)
    whole, parts = _by_table(holds_active(lake, now=now).filter(named))
    requests = PolicyRequest.objects.filter(named, lake=lake, state=RequestState.PENDING)
    pending = {
        (db, table): n
        for db, table, n in requests.order_by().values_list("db", "table").annotate(n=Count("pk"))
    }
    return {
        row.pk: _kept(
            whole[row.db, ""] + whole[row.db, row.table],
            n_parts=parts.get((row.db, row.table), 0),
            n_pending=pending.get((row.db, row.table), 0),
        )
        for row in rows
    }


def _items_kept(rows: Sequence[SamplePartition], *, now: datetime) -> dict[int, Kept]:
    names = {"", *(row.partition for row in rows)}
    ends = defaultdict(list)
    for partition, until in (
        _holds_of(rows[0].table, now=now)
        .filter(partition__in=names)
        .values_list("partition", "until")
    ):
        ends[partition].append(until)
    return {
        row.pk: _kept([*ends[""], *(ends[row.partition] if row.partition else ())]) for row in rows
    }


def _holds_of(table: TableFinding, *, now: datetime) -> QuerySet[Hold]:
    return holds_active(table.lake, now=now).filter(db=table.db, table__in=("", table.table))


def _by_table(
    holds: QuerySet[Hold],
) -> tuple[defaultdict[_Name, list[datetime | None]], dict[_Name, int]]:
    """Return the last end of the holds on each whole name, and how many partitions are held.

    None stands for the end of a hold that has none.
    """
    ends: defaultdict[_Name, list[datetime | None]] = defaultdict(list)
    parts: dict[_Name, int] = {}
    is_part = ExpressionWrapper(~Q(partition=""), output_field=BooleanField())
    grouped = holds.order_by().annotate(is_part=is_part).values_list("db", "table", "is_part")
    sums = grouped.annotate(
        last=Max("until"),
        endless=Count("pk", filter=Q(until=None)),
        n=Count("partition", distinct=True),
    )
    for db, table, of_part, last, endless, n in sums:
        if of_part:
            parts[db, table] = n
        else:
            ends[db, table].append(None if endless else last)
    return ends, parts


def _kept(ends: Sequence[datetime | None], *, n_parts: int = 0, n_pending: int = 0) -> Kept:
    until = None if None in ends else max((end for end in ends if end), default=None)
    return Kept(bool(ends), until, n_parts, n_pending)
