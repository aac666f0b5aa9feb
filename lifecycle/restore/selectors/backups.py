"""Reads the backups that a person may see, and those that they may restore."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

import django_filters as filters
from django.db.models import Exists, Min, OuterRef, Q, QuerySet, Sum

from lifecycle.backup.domain.states import BackupState
from lifecycle.backup.models import BackupBatch, BackupProbe, BackupTotals
from lifecycle.backup.selectors import RESTORABLE
from lifecycle.models import BackupSlice, LatestScan, TableFinding
from portal.access.models import User
from portal.access.roles.domain import ADMIN, lakes_with
from portal.lake.errors import NotVisible
from portal.runs.models import Run
from portal.ui.lists.filters import DayInput, ListFilter, prefix

ADDED = (
    *("n_tables", "n_batches", "n_items", "n_restored", "n_bytes", "n_files", "n_restorable"),
    *("n_left", "n_purging", "n_purged"),
)


class BackupFilter(ListFilter):
    """Batches by day, name and state."""

    day = filters.DateFilter(label="Day", widget=DayInput())
    db = filters.CharFilter(label="Database")
    table = filters.CharFilter(label="Table")
    state = filters.ChoiceFilter(
        choices=[(state.value, state.value) for state in BackupState], label="State"
    )

    class Meta:
        model = BackupBatch
        fields: list[str] = []


class BackupItemFilter(ListFilter):
    """Items of a batch by the beginning of their name."""

    partition = prefix("partition", "Partition")

    class Meta:
        model = BackupSlice
        fields: list[str] = []


def backups_owned_by(user: User) -> Q:
    """Spell: was the person's when it was dropped, or its table or database is theirs now.

    For rows that name the lake, database, table and table owner of a backup.
    """
    mine = Q(table_owner=user.username)
    for lake, names in user.administered.items():
        mine |= Q(lake=lake, db__in=names)
    current = list(LatestScan.objects.values_list("generation_id", flat=True))
    own = Q(owner=user.username) | Q(db_owner=user.username)
    for lake, owners in user.stands_for.items():
        mine |= Q(lake=lake, table_owner__in=owners)
        own |= Q(lake=lake, owner__in=owners) | Q(lake=lake, db_owner__in=owners)
    owned = TableFinding.objects.filter(generation_id__in=current).filter(own)
    # The databases are named first, so that only rows of theirs are compared one by one.
    databases = list(owned.order_by().values_list("db", flat=True).distinct())
    named = owned.filter(lake=OuterRef("lake"), db=OuterRef("db"), table=OuterRef("table"))
    return mine | (Q(db__in=databases) & Q(Exists(named)))


def batches_for_user(lake: str, user: User) -> QuerySet[BackupBatch]:
    """Return the backups that a person may see: all for admins and operators, else their own."""
    rows = BackupBatch.objects.filter(lake=lake).exclude(state=BackupState.REPORTED)
    if user.is_lake_staff_of(lake):
        return rows
    return rows.filter(backups_owned_by(user))


def may_restore(user: User, batches: QuerySet[BackupBatch]) -> bool:
    """Whether a person may restore every one of these: a lake's admins all, owners their own."""
    lakes = lakes_with(user.grants, {ADMIN})
    if lakes is None:
        return True
    rest = batches.exclude(lake__in=sorted(lakes)) if lakes else batches
    return not rest.exclude(backups_owned_by(user)).exists()


def get_batch_for_user(batch_id: UUID | str, *, user: User) -> BackupBatch:
    """Return a batch that this person may see; NotVisible otherwise."""
    batch = BackupBatch.objects.filter(public_id=batch_id).first()
    if batch is None or not batches_for_user(batch.lake, user).filter(pk=batch.pk).exists():
        raise NotVisible("backup.missing", "There is no such backup, or it is not yours to see.")
    return batch


def items_of_batch(batch: BackupBatch) -> QuerySet[BackupSlice]:
    """Return the items that the last look copied into the database."""
    return BackupSlice.objects.filter(batch=batch)


def probes_of_batch(batch: BackupBatch) -> QuerySet[BackupProbe]:
    """Return when a batch was, or will be, looked at again."""
    return BackupProbe.objects.filter(batch=batch).order_by("due_at")


def newest_look(batch: BackupBatch, *, kind: str) -> Run | None:
    """Return the newest run that looks into a batch."""
    looks = Run.objects.filter(lake=batch.lake, kind=kind, params__batch=str(batch.public_id))
    return looks.order_by("-queued_at").first()


def may_restore_batch(user: User, batch: BackupBatch) -> bool:
    """Whether a person may restore one batch."""
    return may_restore(user, BackupBatch.objects.filter(pk=batch.pk))


@dataclass(frozen=True, slots=True)
class BackupChoice:
    """What of the backups is meant: a day, a table of it, single batches, single partitions."""

    day: date | None = None
    db: str = ""
    table: str = ""
    batch_ids: tuple[UUID, ...] = ()
    partitions: tuple[str, ...] = ()

    def of(self, rows: QuerySet[BackupBatch]) -> QuerySet[BackupBatch]:
        """Keep the batches that are meant."""
        if self.day is not None:
            rows = rows.filter(day=self.day)
        if self.db:
            rows = rows.filter(db=self.db)
        if self.table:
            rows = rows.filter(table=self.table)
        if self.batch_ids:
            rows = rows.filter(public_id__in=self.batch_ids)
        return rows

    @property
    def is_empty(self) -> bool:
        """Whether nothing was chosen, which never means everything."""
        return self.day is None and not self.batch_ids and not (self.db and self.table)

    @property
    def words(self) -> str:
        """What is meant, for titles and the audit."""
        parts = [f"{self.db}.{self.table}" if self.table else self.db]
        if self.partitions:
            n = len(self.partitions)
            parts.append("1 partition" if n == 1 else f"{n} partitions")
        if self.batch_ids:
            n = len(self.batch_ids)
            parts.append("1 batch" if n == 1 else f"{n} batches")
        if self.day is not None:
            parts.append(f"of {self.day}")
        return " ".join(part for part in parts if part)


def backup_totals_for_user(lake: str, user: User) -> QuerySet[BackupTotals]:
    """Return the sums by day and table of what a person may see."""
    rows = BackupTotals.objects.filter(lake=lake).exclude(db="")
    if user.is_lake_staff_of(lake):
        return rows
    mine = BackupTotals.objects.filter(backups_owned_by(user), lake=lake)
    return rows.filter(pk__in=mine.values("pk"))


def totals_of_table(lake: str, db: str, table: str) -> QuerySet[BackupTotals]:
    """Return the sums of each day of one table, for who may see the table."""
    return BackupTotals.objects.filter(lake=lake, db=db, table=table)


def backup_day_rows(lake: str, user: User, *, limit: int) -> list[BackupTotals]:
    """Return a row a day, newest first: what lies in the backup and until when."""
    if user.is_lake_staff_of(lake):
        return list(BackupTotals.objects.filter(lake=lake, db="").order_by("-day")[:limit])
    mine = backup_totals_for_user(lake, user).order_by().values("day")
    added = {f"of_{name}": Sum(name) for name in ADDED}
    sums: Any = mine.annotate(**added, first=Min("purge_after"))
    return [
        BackupTotals(
            lake=lake,
            day=row["day"],
            purge_after=row["first"],
            **{name: row[f"of_{name}"] for name in ADDED},
        )
        for row in sums.order_by("-day")[:limit]
    ]


def backup_table_rows(lake: str, user: User, *, day: date) -> QuerySet[BackupTotals]:
    """Return the tables backed up on `day`."""
    return backup_totals_for_user(lake, user).filter(day=day)


@dataclass(frozen=True, slots=True)
class Restorable:
    """How much lies in the backups and can come back."""

    n_items: int
    n_bytes: int


def restorable_totals(lake: str, user: User) -> Restorable:
    """Add up what can come back of what a person may see."""
    if user.is_lake_staff_of(lake):
        rows = BackupTotals.objects.filter(lake=lake, db="")
    else:
        rows = backup_totals_for_user(lake, user)
    sums = rows.filter(n_restorable__gt=0).aggregate(
        items=Sum("restorable_items"), size=Sum("restorable_bytes")
    )
    return Restorable(sums["items"] or 0, sums["size"] or 0)


def batches_to_notify(lake: str, *, now: datetime, ahead: timedelta) -> QuerySet[BackupBatch]:
    """Return the restorable batches whose last days have begun."""
    return BackupBatch.objects.filter(
        lake=lake, state__in=RESTORABLE, purge_after__lte=now + ahead
    ).order_by("db", "table", "batch")
