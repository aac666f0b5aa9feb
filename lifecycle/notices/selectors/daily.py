"""Reads lake events since yesterday, upcoming ones, and who is responsible for each row.

Rows are one a table, whoever reads them later; `usernames` says whose they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import Count, Min, Sum

from lifecycle.backup.domain.states import BackupState
from lifecycle.backup.models import BackupBatch
from lifecycle.inventory.selectors.dropped import due_of, take_off_dropped
from lifecycle.models import (
    DatabaseFinding,
    DropPlanResult,
    PathFinding,
    ScanSnapshot,
    TableFinding,
)
from lifecycle.notices.domain.notice import people_behind
from portal.runs.domain import RunState
from portal.runs.models import Run

FAILED_RUNS = 100


@dataclass(frozen=True, slots=True)
class Row:
    """One table (or database, when `table` is empty) with what is said of it."""

    db: str
    table: str
    usernames: frozenset[str]
    n_items: int
    n_bytes: int = 0
    detail: str = ""
    day: date | None = None

    @property
    def name(self) -> str:
        """The name as people write it."""
        return f"{self.db}.{self.table}" if self.table else self.db


@dataclass(frozen=True, slots=True)
class Daily:
    """The four parts of a daily report."""

    succeeded: Sequence[Row]
    failed: Sequence[Row]
    upcoming: Sequence[Row]
    nonconforming: Sequence[Row]

    def of(self, username: str, *, dbs: frozenset[str]) -> "Daily":
        """Keep what one person answers for in these databases."""
        return Daily(
            *(
                [row for row in part if username in row.usernames and row.db in dbs]
                for part in (self.succeeded, self.failed, self.upcoming, self.nonconforming)
            )
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to report."""
        return not (self.succeeded or self.failed or self.upcoming or self.nonconforming)


class _Owners:
    """Who answers for a table: its owner, its database's owner and administrators."""

    def __init__(
        self,
        generation: ScanSnapshot,
        administrators: Mapping[str, tuple[str, ...]],
        stand_for: Mapping[str, tuple[str, ...]],
    ) -> None:
        self._stand_for = stand_for
        rows = DatabaseFinding.objects.filter(generation=generation)
        owners = dict(rows.values_list("db", "owner"))
        dbs = owners.keys() | administrators.keys()
        self._of_db = {
            db: frozenset({owners.get(db, ""), *administrators.get(db, ())}) for db in dbs
        }

    def of(self, db: str, *names: str) -> frozenset[str]:
        named = self._of_db.get(db, frozenset()) | frozenset(names)
        return frozenset(people_behind(named, self._stand_for))


def daily_rows(
    generation: ScanSnapshot,
    *,
    administrators: Mapping[str, tuple[str, ...]],
    stand_for: Mapping[str, tuple[str, ...]],
    since: datetime,
    now: datetime,
) -> Daily:
    """Return the day's rows: what ended after `since` and up to `now`, and the picture's own."""
    owners = _Owners(generation, administrators, stand_for)
    lake = generation.lake
    return Daily(
        succeeded=_succeeded(lake, owners, since=since, now=now),
        failed=_failed(lake, owners, since=since, now=now),
        upcoming=_upcoming(generation, owners),
        nonconforming=_nonconforming(generation, owners),
    )


def failed_runs(lake: str, *, since: datetime, now: datetime) -> list[Run]:
    """Return the runs that failed in that time, newest first."""
    rows = Run.objects.filter(
        lake=lake, state=RunState.FAILED, finished_at__gt=since, finished_at__lte=now
    )
    return list(rows.order_by("-finished_at")[:FAILED_RUNS])


def _succeeded(lake: str, owners: _Owners, *, since: datetime, now: datetime) -> list[Row]:
    rows = BackupBatch.objects.filter(lake=lake, dropped_at__gt=since, dropped_at__lte=now)
    grouped = (
        rows.exclude(state=BackupState.REPORTED)
        .values("db", "table", "table_owner", "day")
        .annotate(items=Sum("n_items"), size=Sum("n_bytes"))
        .order_by("db", "table", "day")
    )
    return [
        Row(
            row["db"],
            row["table"],
            owners.of(row["db"], row["table_owner"]),
            n_items=row["items"],
            n_bytes=row["size"],
            day=row["day"],
        )
        for row in grouped
    ]


def _failed(lake: str, owners: _Owners, *, since: datetime, now: datetime) -> list[Row]:
    """Return what ended plans left alone, by table and reason."""
    rows = DropPlanResult.objects.filter(
        plan__lake=lake, plan__ended_at__gt=since, plan__ended_at__lte=now
    ).exclude(outcome="DROPPED")
    grouped = (
        rows.values("db", "table", "outcome")
        .annotate(items=Count("pk"), detail=Min("reason"))
        .order_by("db", "table", "outcome")
    )
    owner_of = dict(_table_owners(lake, {row["db"] for row in grouped}))
    return [
        Row(
            row["db"],
            row["table"],
            owners.of(row["db"], owner_of.get((row["db"], row["table"]), "")),
            n_items=row["items"],
            detail=row["detail"] or row["outcome"].lower(),
        )
        for row in grouped
    ]


def _table_owners(lake: str, dbs: set[str]) -> list[tuple[tuple[str, str], str]]:
    rows = TableFinding.objects.current(lake).filter(db__in=dbs)
    return [((db, table), owner) for db, table, owner in rows.values_list("db", "table", "owner")]


def _upcoming(generation: ScanSnapshot, owners: _Owners) -> list[Row]:
    tables = TableFinding.objects.filter(
        generation=generation, window_due_last_on__isnull=False
    ).order_by("-bytes_clean_now", "pk")
    rows = list(tables.defer("location", "reasons", "class_bytes"))
    take_off_dropped(rows)
    due = [(table, due_of(table)) for table in rows]
    return [
        Row(
            table.db,
            table.table,
            owners.of(table.db, table.owner),
            n_items=parts.n_items,
            n_bytes=parts.n_bytes,
            detail=parts.parts,
            day=table.next_due_on,
        )
        for table, parts in due
        if parts.n_items or not table.dropped.n_items
    ]


def _nonconforming(generation: ScanSnapshot, owners: _Owners) -> list[Row]:
    rows = (
        PathFinding.objects.filter(generation=generation, is_excepted=False)
        .values("db", "table", "owner", "reason_key")
        .annotate(n=Count("pk"))
        .order_by("db", "table", "reason_key")
    )
    return [
        Row(
            row["db"],
            row["table"],
            owners.of(row["db"], row["owner"]),
            n_items=row["n"],
            detail=", ".join(filter(None, row["reason_key"].split("|"))),
        )
        for row in rows
    ]
