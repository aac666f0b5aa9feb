"""Requests the probes of backups that are due, and processes their findings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from lifecycle.backup.domain.states import ProbeState
from lifecycle.backup.engine.purge.probes import Probed
from lifecycle.backup.models import BackupBatch, BackupProbe
from lifecycle.backup.selectors import probes_due
from portal.audit.services import AuditEntry, audit_record_many
from portal.lake.counts import count_words
from portal.lake.errors import DataSafetyError

_MOST = 2_000
_KEPT_DETAILS = 100
_DAMAGE = (Probed.DAMAGED, Probed.STRANDED)
BEFORE_PURGE = -1
Told = list[dict[str, Any]]


def probes_request(lake: str, *, now: datetime) -> dict[str, Any] | None:
    """Return the params of a probe run for what is due now (at most 2,000 batches), or None."""
    rows = [
        {
            "probe": probe.pk,
            "directory": probe.batch.path,
            "batch": probe.batch.batch,
            "sha256": probe.batch.manifest_sha256,
        }
        for probe in probes_due(lake, now=now)[:_MOST]
    ]
    return {"probes": rows} if rows else None


def probes_ingest(
    lake: str,
    results: Iterable[Mapping[str, Any]],
    *,
    run_id: UUID,
    now: datetime,
    tell: Callable[[Told], object] = lambda _told: None,
) -> None:
    """Take what a run saw of backups; again for that run it changes nothing and tells the same.

    A result names its `probe`, or the `backup` that was looked at right before its purge. `tell`
    gets what owners must know: {name, partition, owner, found, detail, is_registered}.

    Raises:
        DataSafetyError: `act.damaged_backup` after all was stored and told: a backup lacks files,
            or a name that was to be dropped is registered while its only data is in the backup.
    """
    for result in results:
        with transaction.atomic():
            probe = _probe_of(result, now=now)
            if probe.state == ProbeState.DUE or _is_older_look(probe, run_id):
                found = [item for item in result["items"] if item["found"] != Probed.CLEAN]
                _store(probe, found, run_id=run_id, now=now)
                audit_record_many(_events(probe, found), now=now)
    rows = BackupProbe.objects.filter(run_id=run_id).select_related("batch").order_by("id")
    probes = list(rows)
    told = [item for probe in probes for item in _news(probe)]
    if told:
        tell(told)
    damaged = [
        f"{_table(probe.batch)} {item['partition']}: {item['detail']}"
        for probe in probes
        for item in probe.details
        if item["found"] in _DAMAGE
    ]
    if damaged:
        raise DataSafetyError(
            "act.damaged_backup",
            f"Not as they must be in backups: {count_words(len(damaged), 'item')}, first "
            f"{damaged[0]}. Nothing "
            "is purged or dropped until this is inspected.",
            lake=lake,
        )


def _probe_of(result: Mapping[str, Any], *, now: datetime) -> BackupProbe:
    probes = BackupProbe.objects.select_for_update().select_related("batch")
    if "probe" in result:
        return probes.get(pk=result["probe"])
    batch = BackupBatch.objects.get(public_id=result["backup"])
    probe, _ = probes.get_or_create(
        batch=batch, delay_seconds=BEFORE_PURGE, defaults={"due_at": now}
    )
    return probe


def _is_older_look(probe: BackupProbe, run_id: UUID) -> bool:
    """Each purge that comes by looks again; any other look happens once."""
    return probe.delay_seconds == BEFORE_PURGE and probe.run_id != run_id


def _news(probe: BackupProbe) -> Told:
    """Return what an owner has not been told by an earlier look at the same backup."""
    if not probe.details:
        return []
    before = Q(done_at__lt=probe.done_at) | Q(done_at=probe.done_at, pk__lt=probe.pk)
    earlier = BackupProbe.objects.filter(before, batch=probe.batch_id)
    known = {_said(item) for other in earlier for item in other.details}
    about = {"name": _table(probe.batch), "owner": probe.batch.table_owner}
    return [
        {**item, **about}
        for item in probe.details
        if item["found"] not in _DAMAGE and (item["is_registered"] or _said(item) not in known)
    ]


def _said(item: Mapping[str, Any]) -> tuple[str, str, str]:
    return item["partition"], item["found"], item["detail"]


def _store(
    probe: BackupProbe, found: Sequence[Mapping[str, Any]], *, run_id: UUID, now: datetime
) -> None:
    kinds = [item["found"] for item in found]
    probe.n_late = sum(kind in (Probed.LATE_COMMIT, Probed.GREW) for kind in kinds)
    probe.n_damaged = sum(kind in _DAMAGE for kind in kinds)
    probe.state = (
        ProbeState.DAMAGED
        if probe.n_damaged
        else ProbeState.LATE_COMMIT
        if probe.n_late
        else ProbeState.CLEAN
    )
    probe.details = list(found[:_KEPT_DETAILS])
    probe.run_id, probe.done_at = run_id, now
    probe.save()


def _events(probe: BackupProbe, found: Sequence[Mapping[str, Any]]) -> list[AuditEntry]:
    batch = probe.batch
    return [
        AuditEntry(
            f"backup.{str(item['found']).lower()}",
            "system",
            batch.lake,
            "item",
            f"{_table(batch)}/{item['partition']}".rstrip("/"),
            {
                "run": str(batch.run_id),
                "batch": batch.batch,
                "detail": item["detail"],
                "registered": item["is_registered"],
            },
        )
        for item in found
    ]


def _table(batch: BackupBatch) -> str:
    return f"{batch.db}.{batch.table}"
