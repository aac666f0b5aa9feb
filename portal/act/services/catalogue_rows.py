"""How does one batch, read from its files, become its row, its probes and its audit events?"""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction

from portal.act.catalogue import Entry
from portal.act.models import BackupBatch, BackupProbe
from portal.act.records import IN_BACKUP, Outcome
from portal.act.states import BackupState, ProbeState
from portal.audit.services import AuditEntry, audit_record_many

_ACTIONS = {
    Outcome.DROPPED: "item.dropped",
    Outcome.NEW_DATA: "item.dropped_new_data_kept",
    Outcome.SKIPPED: "item.skipped",
    Outcome.RETURNED: "item.returned",
    Outcome.GONE: "item.gone",
}


def batch_store(entry: Entry, *, actor: str, now: datetime) -> bool:
    """Bring a batch into the catalogue with one audit event an item; True if it was new.

    An upsert on (run, table, batch): stored again with the same files it changes nothing.
    """
    intent = entry.batch.intent
    with transaction.atomic():
        row, is_new = BackupBatch.objects.select_for_update().get_or_create(
            run_id=UUID(intent.run),
            db=intent.db,
            table=intent.table,
            batch=intent.batch,
            defaults=_values(entry),
        )
        if is_new:
            _probes(row)
            audit_record_many(_dropped(entry, row, actor), now=now)
        if is_new or row.n_restored != len(entry.restored):
            audit_record_many(_restored(entry, row, actor, is_new=is_new), now=now)
        if entry.state is BackupState.PURGED and row.purged_at is None:
            row.purged_at = now
        for name, value in _values(entry).items():
            setattr(row, name, value)
        row.save()
    return is_new


def _values(entry: Entry) -> dict[str, object]:
    intent, kept = entry.batch.intent, entry.kept
    dropped_at = datetime.fromisoformat(entry.done.at)
    names = sorted(item.partition for item in kept)
    return {
        "lake": intent.lake,
        "epoch": intent.epoch,
        "day": entry.day.day,
        "root": str(entry.day.root),
        "path": str(entry.day.sealed(intent.run, intent.epoch)),
        "state": entry.state,
        "is_table": intent.is_table,
        "table_owner": intent.table_owner,
        "plan_id": intent.plan,
        "digest": intent.digest,
        "n_items": len(kept),
        "n_bytes": sum(item.n_bytes for item in kept),
        "n_files": sum(item.n_files for item in kept),
        "n_restored": len(entry.restored),
        "n_skipped": sum(item.outcome not in IN_BACKUP for item in entry.done.items),
        "first_partition": names[0] if names else "",
        "last_partition": names[-1] if names else "",
        "manifest_sha256": entry.batch.sha256,
        "seconds": entry.done.seconds,
        "dropped_at": dropped_at,
        "purge_after": dropped_at + timedelta(days=intent.keep_days) if kept else None,
    }


def _probes(row: BackupBatch) -> None:
    if not row.n_items:
        return
    delays = sorted({int(delay) for delay in settings.LAKEWARDEN_PROBE_SECONDS})
    BackupProbe.objects.bulk_create(
        BackupProbe(
            batch=row,
            delay_seconds=delay,
            due_at=row.dropped_at + timedelta(seconds=delay),
            state=ProbeState.DUE,
        )
        for delay in delays
    )


def _dropped(entry: Entry, row: BackupBatch, actor: str) -> list[AuditEntry]:
    items = {item.item: item for item in entry.batch.intent.items}
    return [
        AuditEntry(
            _ACTIONS[done.outcome],
            actor,
            row.lake,
            "item",
            _name(row, done.partition),
            {
                "run": str(row.run_id),
                "batch": row.batch,
                "item": done.item,
                "plan": row.plan_id,
                "digest": row.digest,
                "bytes": items[done.item].n_bytes,
                "files": items[done.item].n_files,
                "reason": done.reason,
                "by": entry.done.writer,
            },
        )
        for done in entry.done.items
        if done.outcome in _ACTIONS
    ]


def _restored(entry: Entry, row: BackupBatch, actor: str, *, is_new: bool) -> list[AuditEntry]:
    """Events for what came back since the row was stored; steps are in the order of their files."""
    before = 0 if is_new else row.n_restored
    found = [
        AuditEntry(
            "item.restored",
            actor,
            row.lake,
            "item",
            f"{step.intent.db}.{step.intent.table}"
            + (f"/{done.partition}" if done.partition else ""),
            {"run": step.intent.restore, "backup": str(row.run_id), "item": done.item},
        )
        for step in sorted(entry.steps, key=lambda step: step.intent.at)
        if step.done is not None
        for done in step.done.items
        if done.outcome is Outcome.RESTORED
    ]
    return found[before:]


def _name(row: BackupBatch, partition: str) -> str:
    return f"{row.db}.{row.table}/{partition}" if partition else f"{row.db}.{row.table}"
