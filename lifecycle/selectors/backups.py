"""Which backups may this person see, and which may they restore?"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

import django_filters as filters
from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Sum

from lifecycle.models import BackupSlice, CurrentGeneration, TableFinding
from portal.access.models import DatabaseAdministrator, User
from portal.act.models import BackupBatch, BackupProbe
from portal.act.selectors import RESTORABLE
from portal.act.states import BackupState
from portal.lake.errors import NotVisible
from portal.runs.models import Run
from portal.ui.filters import DayInput, ListFilter, prefix


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


def _owned_by(user: User) -> Q:
    administered = DatabaseAdministrator.objects.filter(
        lake=OuterRef("lake"), db=OuterRef("db"), username=user.username
    )
    current = CurrentGeneration.objects.values("generation_id")
    mine = Q(table_owner=user.username)
    own = Q(owner=user.username) | Q(db_owner=user.username)
    for lake, owners in user.stands_for.items():
        mine |= Q(lake=lake, table_owner__in=owners)
        own |= Q(lake=lake, owner__in=owners) | Q(lake=lake, db_owner__in=owners)
    owned = TableFinding.objects.filter(
        generation_id__in=current, lake=OuterRef("lake"), db=OuterRef("db"), table=OuterRef("table")
    ).filter(own)
    return mine | Q(Exists(administered)) | Q(Exists(owned))


def batches_for_user(lake: str, user: User) -> QuerySet[BackupBatch]:
    """Give the backups that a person may see: all for admins and operators, else their own."""
    rows = BackupBatch.objects.filter(lake=lake).exclude(state=BackupState.REPORTED)
    if user.is_lake_admin or user.is_lake_operator:
        return rows
    return rows.filter(_owned_by(user))


def may_restore(user: User, batches: QuerySet[BackupBatch]) -> bool:
    """Whether a person may restore every one of these: admins all, owners what they own."""
    if user.is_lake_admin:
        return True
    return not batches.exclude(_owned_by(user)).exists()


def get_batch_for_user(batch_id: UUID | str, *, user: User) -> BackupBatch:
    """Give a batch that this person may see; NotVisible otherwise."""
    batch = BackupBatch.objects.filter(public_id=batch_id).first()
    if batch is None or not batches_for_user(batch.lake, user).filter(pk=batch.pk).exists():
        raise NotVisible("backup.missing", "There is no such backup, or it is not yours to see.")
    return batch


def items_of_batch(batch: BackupBatch) -> QuerySet[BackupSlice]:
    """Give the items that the last look copied into the database."""
    return BackupSlice.objects.filter(batch=batch)


def probes_of_batch(batch: BackupBatch) -> QuerySet[BackupProbe]:
    """Give when a batch was, or will be, looked at again."""
    return BackupProbe.objects.filter(batch=batch).order_by("due_at")


def newest_look(batch: BackupBatch, *, kind: str) -> Run | None:
    """Give the newest run that looks into a batch."""
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
            parts.append(f"{len(self.partitions)} partitions")
        if self.batch_ids:
            parts.append(f"{len(self.batch_ids)} batches")
        if self.day is not None:
            parts.append(f"of {self.day}")
        return " ".join(part for part in parts if part)


def backup_day_rows(lake: str, user: User) -> QuerySet[BackupBatch, dict[str, Any]]:
    """Give a row a day, newest first: what lies in the backup and until when."""
    return _summed(batches_for_user(lake, user).values("day")).order_by("-day")


def backup_table_rows(lake: str, user: User, *, day: date) -> QuerySet[BackupBatch, dict[str, Any]]:
    """Give a row a table backed up on `day`."""
    rows = batches_for_user(lake, user).filter(day=day)
    return _summed(rows.values("db", "table", "table_owner")).order_by("db", "table")


def _summed(rows: QuerySet[BackupBatch, Any]) -> QuerySet[BackupBatch, dict[str, Any]]:
    return rows.annotate(
        n_tables=Count("table", distinct=True),
        n_batches=Count("id"),
        items=Sum("n_items"),
        restored=Sum("n_restored"),
        size=Sum("n_bytes"),
        files=Sum("n_files"),
        purge_after=Min("purge_after", filter=Q(state__in=RESTORABLE)),
        n_restorable=Count("id", filter=Q(state__in=RESTORABLE)),
        n_left=Count("id", filter=Q(state__in=RESTORABLE) & ~Q(purge_left_why="")),
        n_purging=Count("id", filter=Q(state=BackupState.PURGING)),
        n_purged=Count("id", filter=Q(state=BackupState.PURGED)),
    )


def batches_to_announce(lake: str, *, now: datetime, ahead: timedelta) -> QuerySet[BackupBatch]:
    """Give the restorable batches whose last days have begun."""
    return BackupBatch.objects.filter(
        lake=lake, state__in=RESTORABLE, purge_after__lte=now + ahead
    ).order_by("db", "table", "batch")
