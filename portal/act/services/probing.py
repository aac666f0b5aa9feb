"""When is a backup looked at again, and what follows from what was found?"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from portal.act.models import BackupProbe
from portal.act.probes import Probed
from portal.act.selectors import probes_due
from portal.act.states import ProbeState
from portal.audit.services import AuditEntry, audit_record_many
from portal.lake.errors import DataSafetyError

_MOST = 2_000
_KEPT_DETAILS = 100
BEFORE_PURGE = -1


def probes_request(lake: str, *, now: datetime) -> dict[str, Any] | None:
    """Give the params of a probe run for what is due now (at most 2,000 batches), or None."""
    rows = [
        {"probe": probe.pk, "directory": probe.batch.path, "batch": probe.batch.batch}
        for probe in probes_due(lake, now=now)[:_MOST]
    ]
    return {"probes": rows} if rows else None


def probes_ingest(
    lake: str, results: Sequence[Mapping[str, Any]], *, run_id: UUID, now: datetime
) -> list[dict[str, Any]]:
    """Take the results of a probe run; gives what owners must be told of. Twice changes nothing.

    Raises:
        DataSafetyError: `act.damaged_backup` after everything was stored: a backup lacks files.
    """
    told: list[dict[str, Any]] = []
    damaged: list[str] = []
    for result in results:
        with transaction.atomic():
            probe = (
                BackupProbe.objects.select_for_update()
                .select_related("batch")
                .get(pk=result["probe"])
            )
            if probe.state != ProbeState.DUE:
                continue
            found = [item for item in result["items"] if item["found"] != Probed.CLEAN]
            _store(probe, found, run_id=run_id, now=now)
            audit_record_many(_events(probe, found), now=now)
        for item in found:
            name = f"{probe.batch.db}.{probe.batch.table}"
            told.append({**item, "name": name, "owner": probe.batch.table_owner})
            if item["found"] == Probed.DAMAGED:
                damaged.append(f"{name} {item['partition']}: {item['detail']}")
    if damaged:
        raise DataSafetyError(
            "act.damaged_backup",
            f"{len(damaged)} backups lack files of their manifest, first {damaged[0]}. Nothing is "
            "purged or dropped until this is looked at.",
            lake=lake,
        )
    return told


def _store(
    probe: BackupProbe, found: Sequence[Mapping[str, Any]], *, run_id: UUID, now: datetime
) -> None:
    kinds = [item["found"] for item in found]
    probe.n_late = sum(kind in (Probed.LATE_COMMIT, Probed.GREW) for kind in kinds)
    probe.n_damaged = sum(kind == Probed.DAMAGED for kind in kinds)
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
            f"{batch.db}.{batch.table}/{item['partition']}".rstrip("/"),
            {"run": str(batch.run_id), "batch": batch.batch, "detail": item["detail"]},
        )
        for item in found
    ]
