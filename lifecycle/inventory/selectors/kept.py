"""What is on hold, asked to be kept, or dropped, now: joined to rows when they are read.

A scan's classes know the holds of its own instant only. These functions add what people answered
and what plans dropped since, so that a page shows it at once.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import reduce
from operator import or_
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import (
    BooleanField,
    Count,
    DateField,
    ExpressionWrapper,
    F,
    IntegerField,
    Max,
    Q,
    QuerySet,
    UUIDField,
    Value,
)
from django.utils import timezone

from lifecycle.backup.models import Hold
from lifecycle.backup.selectors import holds_active
from lifecycle.inventory.selectors.dropped import GoneOf, dropped_partitions, take_off_dropped
from lifecycle.inventory.selectors.hold_groups import HoldGroup, grouped
from lifecycle.models import (
    DeletionConsent,
    DeletionRequest,
    PolicyRequest,
    SamplePartition,
    TableFinding,
)
from lifecycle.policies.domain.policy import Values
from lifecycle.policies.domain.states import RequestKind, RequestState
from portal.access.lakes import get_lake
from portal.lake.clock import day_of

SHOWN = 5
_TABLES_A_QUERY = 200  # each database is a term of one condition, and SQLite caps their number

DELETION = "DELETION"
_Name = tuple[str, str]
_NEVER = datetime.min.replace(tzinfo=UTC)


class _End(NamedTuple):
    """When a hold ends (None = never), and who placed it."""

    until: datetime | None
    by: str


class _Asked(NamedTuple):
    """The columns of a request that waits, in the order of their query."""

    kind: str
    by: str
    until: date | None
    level: int | None
    ttl: int | None
    owner: str
    key: UUID | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request about a whole table that waits: what, of whom, for whom, and its page's key."""

    words: str
    by: str
    waits_for: str
    key: UUID | None = None

    def __str__(self) -> str:
        return f"{self.words} waits for {self.waits_for}"


@dataclass(frozen=True, slots=True)
class Kept:
    """How much of a table or item is on hold now, and until when, or was dropped since the scan.

    `is_whole` is False where only some partitions of a table are on hold (`n_parts` holds).
    `until` is None for a hold without an end, `by` placed the longest one. `waiting` are requests
    about the whole table. `n_dropped` items are gone and can be restored.
    """

    is_whole: bool = False
    until: datetime | None = None
    n_parts: int = 0
    n_pending: int = 0
    n_dropped: int = 0
    by: str = ""
    waiting: tuple[Waiting, ...] = ()

    @property
    def is_answered(self) -> bool:
        """Whether the whole is kept, or a request about it waits: nothing is to be answered."""
        return self.is_whole or bool(self.waiting)

    @property
    def is_on_hold(self) -> bool:
        """Whether anything of it is on hold."""
        return self.is_whole or self.n_parts > 0

    def __str__(self) -> str:
        said = []
        if self.is_whole:
            until = f"until {timezone.localtime(self.until):%Y-%m-%d}" if self.until else "no end"
            said.append(f"on hold, {until}{f' by {self.by}' if self.by else ''}")
        elif self.n_parts:
            noun = "partition" if self.n_parts == 1 else "partitions"
            said.append(f"{self.n_parts} {noun} on hold")
        if self.n_dropped:
            said.append(f"{self.n_dropped} dropped since the scan, in backup")
        return "; ".join(said)


@dataclass(frozen=True, slots=True)
class TableKept:
    """The holds on one table and the requests about it that wait, newest first."""

    holds: Sequence[HoldGroup]
    has_more_holds: bool
    pending: Sequence[PolicyRequest]
    wishes: Sequence[DeletionRequest]
    consents: Sequence[DeletionConsent]


def table_kept(table: TableFinding, *, now: datetime) -> TableKept:
    """Return the holds that keep a table or parts of it now, those on all of it first."""
    holds = grouped(_holds_of(table, now=now), at_most=SHOWN + 1)
    pending = PolicyRequest.objects.filter(
        lake=table.lake, db=table.db, table=table.table, state=RequestState.PENDING
    )
    return TableKept(
        holds=holds[:SHOWN],
        has_more_holds=len(holds) > SHOWN,
        pending=list(pending.order_by("-created_at")[:SHOWN]),
        wishes=list(_wishes_of(table).order_by("-created_at")[:SHOWN]),
        consents=list(_consents_of(table).order_by("-given_at")[:SHOWN]),
    )


def deletion_requested(
    table: TableFinding, partition: str, *, by: str, kept: TableKept | None = None
) -> bool:
    """Whether a person's request to delete a table or partition waits already.

    `kept` is what the page has read of the table, where it shows all that waits.
    """
    if kept is not None and len(kept.wishes) < SHOWN:
        return any((one.partition, one.requested_by) in _own(partition, by) for one in kept.wishes)
    return _wishes_of(table).filter(partition__in={"", partition}, requested_by=by).exists()


def consent_given(
    table: TableFinding, partition: str, *, by: str, kept: TableKept | None = None
) -> bool:
    """Whether a person's consent to the deletion of a table or partition stands already."""
    if kept is not None and len(kept.consents) < SHOWN:
        return any((one.partition, one.given_by) in _own(partition, by) for one in kept.consents)
    return _consents_of(table).filter(partition__in={"", partition}, given_by=by).exists()


def _own(partition: str, by: str) -> set[tuple[str, str]]:
    """Return what is said of a partition: of itself, or of its whole table."""
    return {("", by), (partition, by)}


def _wishes_of(table: TableFinding) -> QuerySet[DeletionRequest]:
    of_table = DeletionRequest.objects.filter(lake=table.lake, db=table.db, table=table.table)
    return of_table.filter(state=DeletionRequest.State.OPEN)


def _consents_of(table: TableFinding) -> QuerySet[DeletionConsent]:
    today = day_of(timezone.now(), get_lake(table.lake).zone)
    of_table = DeletionConsent.objects.filter(lake=table.lake, db=table.db, table=table.table)
    return of_table.filter(ended_at=None, until__gte=today, tbl_id=table.tbl_id)


def holds_on(lake: str, db: str, table: str, *, now: datetime) -> list[HoldGroup]:
    """Return the first holds that keep a table or parts of it now, those on all of it first."""
    return grouped(holds_active(lake, now=now).filter(db=db, table__in=("", table)), at_most=SHOWN)


def requests_on(lake: str, db: str, table: str) -> list[tuple[str, str]]:
    """Return who asked what of a table, as far as it waits for an answer."""
    named = {"lake": lake, "db": db, "table": table}
    changes = PolicyRequest.objects.filter(**named, state=RequestState.PENDING)
    deletions = DeletionRequest.objects.filter(**named, state=DeletionRequest.State.OPEN)
    return [
        (by, what)
        for rows, what in ((changes, "A change of its policy"), (deletions, "Its deletion"))
        for by in rows.order_by("-created_at").values_list("requested_by", flat=True)[:SHOWN]
    ]


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
    whole, parts = _held(holds_active(lake, now=now).filter(named))
    waiting, pending = _waiting(lake, names, named)
    return {
        row.pk: _kept(
            whole[row.db, ""] + whole[row.db, row.table],
            n_parts=parts[row.db, row.table],
            n_pending=pending[row.db, row.table],
            waiting=waiting[row.db, row.table],
        )
        for row in rows
    }


def _items_kept(rows: Sequence[SamplePartition], *, now: datetime) -> dict[int, Kept]:
    names = {"", *(row.partition for row in rows)}
    ends = defaultdict(list)
    for partition, until, by in (
        _holds_of(rows[0].table, now=now)
        .filter(partition__in=names)
        .values_list("partition", "until", "placed_by")
    ):
        ends[partition].append(_End(until, by))
    return {
        row.pk: _kept([*ends[""], *(ends[row.partition] if row.partition else ())]) for row in rows
    }


def _holds_of(table: TableFinding, *, now: datetime) -> QuerySet[Hold]:
    return holds_active(table.lake, now=now).filter(db=table.db, table__in=("", table.table))


def _held(
    holds: QuerySet[Hold],
) -> tuple[defaultdict[_Name, list[_End]], defaultdict[_Name, int]]:
    """Return the ends of the holds on each whole name, and how many partitions are held of each.

    A name is a table's, or a database's ('' for the table). One query.
    """
    ends: defaultdict[_Name, list[_End]] = defaultdict(list)
    parts: defaultdict[_Name, int] = defaultdict(int)
    is_part = ExpressionWrapper(~Q(partition=""), output_field=BooleanField())
    grouped = holds.order_by().annotate(is_part=is_part)
    sums = grouped.values_list("db", "table", "placed_by", "is_part").annotate(
        last=Max("until"),
        endless=Count("pk", filter=Q(until=None)),
        n=Count("partition", distinct=True),
    )
    for db, table, by, of_part, last, endless, n in sums:
        if of_part:
            parts[db, table] += n
        else:
            ends[db, table].append(_End(None if endless else last, by))
    return ends, parts


def _waiting(
    lake: str, names: Mapping[str, set[str]], named: Q
) -> tuple[defaultdict[_Name, tuple[Waiting, ...]], defaultdict[_Name, int]]:
    """Return the requests about whole tables that wait, and how many wait of each table. One query.

    Deletion requests are among the first, and do not count: nobody has to say yes to them.
    """
    found: defaultdict[_Name, tuple[Waiting, ...]] = defaultdict(tuple)
    pending: defaultdict[_Name, int] = defaultdict(int)
    requests = PolicyRequest.objects.filter(named, lake=lake, state=RequestState.PENDING)
    asked = requests.annotate(what=F("kind"), by=F("requested_by"), who=F("owner"), key=F("pk"))
    # By the index of open ones; what has the table of one name and the database of another is read
    # along, and nobody asks for it.
    wishes = DeletionRequest.objects.filter(lake=lake, state=DeletionRequest.State.OPEN)
    wished = wishes.filter(db__in=list(names), table__in=set().union(*names.values())).annotate(
        what=Value(DELETION), by=F("requested_by"), who=Value(""),
        until=Value(None, output_field=DateField()),
        level=Value(None, output_field=IntegerField()),
        ttl=Value(None, output_field=IntegerField()),
        key=Value(None, output_field=UUIDField()),
    )  # fmt: skip
    columns = ("db", "table", "partition", "what", "by", "until", "level", "ttl", "who", "key")
    both = (
        asked.order_by()
        .values_list(*columns)
        .union(wished.order_by().values_list(*columns), all=True)
    )
    for db, table, partition, what, *said in both:
        pending[db, table] += what != DELETION
        if not partition and what != RequestKind.WAIVE:
            found[db, table] += (_as_waiting(_Asked(what, *said)),)
    return found, pending


def _as_waiting(asked: _Asked) -> Waiting:
    """Say what a pending request asks, and whom it waits for."""
    if asked.kind == DELETION:
        return Waiting("deletion", asked.by, "an admin's plan")
    is_gift = asked.kind == RequestKind.HAND_OVER
    values = Values(asked.level, asked.ttl)
    words = {
        RequestKind.EXTEND: f"keep until {asked.until}",
        RequestKind.HAND_OVER: f"hand over to {asked.owner}",
        RequestKind.SET: "keep for ever" if asked.level == 0 else f"{values}",
    }[RequestKind(asked.kind)]
    return Waiting(words, asked.by, asked.owner if is_gift else "an admin", asked.key)


def _kept(
    ends: Sequence[_End],
    *,
    n_parts: int = 0,
    n_pending: int = 0,
    waiting: tuple[Waiting, ...] = (),
) -> Kept:
    last = max(
        ends, key=lambda end: (end.until is None, end.until or _NEVER), default=_End(None, "")
    )
    return Kept(bool(ends), last.until, n_parts, n_pending, by=last.by, waiting=waiting)
