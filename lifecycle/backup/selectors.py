"""What does the portal know about backups, fences and holds? Reads only."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max, Q, QuerySet, Sum

from lifecycle.backup.domain.layout import BackupRef
from lifecycle.backup.domain.states import BackupState, FenceKind, ProbeState
from lifecycle.backup.models import ActFence, BackupBatch, BackupProbe, Hold
from portal.runs.models import Run

# For how long after a restore a DROP may still be a frozen client's and not an owner's.
REPAIR_WINDOW = timedelta(hours=1)
RESTORABLE = (BackupState.DROPPED, BackupState.PARTLY_RESTORED)
# What has no data left to lose: only papers go with it, and nobody need be told.
WITHOUT_DATA = (BackupState.RESTORED, BackupState.REPORTED)


def standing(now: datetime) -> Q:
    """Return the condition of a hold that is in force."""
    return (Q(until__isnull=True) | Q(until__gt=now)) & Q(released_at__isnull=True)


def holds_active(lake: str, *, now: datetime) -> QuerySet[Hold]:
    """Return the holds that stand now."""
    return Hold.objects.filter(standing(now), lake=lake)


def holds_for_jobs(lake: str, *, now: datetime) -> list[dict[str, Any]]:
    """Return the standing holds as jobs read them: {db, table, partitions, until, kind, reason}.

    One row for all partitions of a table that are held alike, as a restore leaves them; without
    partitions it holds the table, or the database.
    """
    rows = holds_active(lake, now=now).order_by("db", "table", "pk")
    held: dict[tuple[Any, ...], list[str]] = {}
    fields = ("db", "table", "until", "kind", "reason", "partition")
    for *alike, partition in rows.values_list(*fields).iterator(chunk_size=10_000):
        partitions = held.setdefault((*alike, bool(partition)), [])
        if partition:
            partitions.append(partition)
    return [
        {
            "db": db,
            "table": table,
            "partitions": partitions,
            "until": until.isoformat() if until else None,
            "kind": kind,
            "reason": reason,
        }
        for (db, table, until, kind, reason, _), partitions in held.items()
    ]


def holds_version(lake: str, *, now: datetime) -> tuple[int, ...]:
    """Return numbers that change whenever the standing holds do; cheap, however many there are."""
    standing = holds_active(lake, now=now).aggregate(n=Count("pk"), total=Sum("pk"))
    newest = Hold.objects.filter(lake=lake).aggregate(n=Max("pk"))
    return standing["n"], standing["total"] or 0, newest["n"] or 0


def repairable_batches(lake: str, db: str, table: str, *, now: datetime) -> QuerySet[BackupBatch]:
    """Return the batches of which something was brought back lately: restored, or taken back."""
    brought_back = Q(state__in=(BackupState.RESTORED, BackupState.PARTLY_RESTORED))
    taken_back = Q(n_skipped__gt=0, dropped_at__gt=now - REPAIR_WINDOW)
    here = Q(db=db, table=table) & (brought_back | taken_back)
    elsewhere = brought_back & Q(run_id__in=_came_back_as(lake, db, table, now=now))
    return BackupBatch.objects.filter(here | elsewhere, lake=lake)


def _came_back_as(lake: str, db: str, table: str, *, now: datetime) -> set[str]:
    """Return the runs from whose backups a restore came, or went back, under this name lately."""
    closed = ActFence.objects.filter(
        lake=lake, kind=FenceKind.RESTORE, closed_at__gt=now - REPAIR_WINDOW
    )
    claims = dict(closed.values_list("run_id", "claims"))
    runs = Run.objects.filter(
        pk__in=claims, params__rename_to__db=db, params__rename_to__table=table
    )
    return {claim["run"] for pk in runs.values_list("pk", flat=True) for claim in claims[pk]}


def restorable_batches(ids: Iterable[UUID]) -> list[BackupBatch]:
    """Return those of the named batches from which something can still be restored."""
    return list(
        BackupBatch.objects.filter(public_id__in=list(ids), state__in=RESTORABLE).order_by("id")
    )


def purgeable_batches(lake: str, *, now: datetime) -> QuerySet[BackupBatch]:
    """Return the batches whose days are over; the job checks every condition again.

    Those that a purge left alone come after all others, so that they never block the way.
    """
    rows = BackupBatch.objects.filter(lake=lake, purge_after__lte=now, purged_at__isnull=True)
    return rows.order_by(F("purge_tried_at").asc(nulls_first=True), "purge_after", "id")


def manifests_of(lake: str, ref: BackupRef) -> dict[int, str]:
    """Return the checksums of the manifests of one backup, by batch."""
    rows = BackupBatch.objects.filter(lake=lake, run_id=ref.run, epoch=ref.epoch)
    return dict(rows.values_list("batch", "manifest_sha256"))


def probes_due(lake: str, *, now: datetime) -> QuerySet[BackupProbe]:
    """Return the probes whose time has come."""
    return (
        BackupProbe.objects.filter(
            batch__lake=lake, state=ProbeState.DUE, due_at__lte=now, delay_seconds__gte=0
        )
        .exclude(batch__state=BackupState.PURGED)
        .select_related("batch")
        .order_by("due_at", "id")
    )


def open_fences(run_id: UUID) -> list[ActFence]:
    """Return the fences of a run that have not been closed."""
    return list(ActFence.objects.filter(run_id=run_id, closed_at__isnull=True).order_by("id"))
