"""Stores one batch, read from its files, as its row, its probes and its audit events."""

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction

from lifecycle.backup.domain.states import BackupState, ProbeState
from lifecycle.backup.engine.journal.catalogue import Entry
from lifecycle.backup.engine.journal.reading import RestoreStep, other_manifest
from lifecycle.backup.engine.journal.records import IN_BACKUP, ItemRefused, Outcome
from lifecycle.backup.models import USER_CHARS, BackupBatch, BackupProbe
from lifecycle.backup.selectors import WITHOUT_DATA
from portal.audit.services import AuditEntry, audit_record_many
from portal.lake.lines import fitted
from portal.safety.selectors import paused_since

_ACTIONS = {
    Outcome.DROPPED: "item.dropped",
    Outcome.NEW_DATA: "item.dropped_new_data_kept",
    Outcome.SKIPPED: "item.skipped",
    Outcome.RETURNED: "item.returned",
    Outcome.GONE: "item.gone",
}


def batch_store(
    entry: Entry, *, refused: Collection[ItemRefused], actor: str, now: datetime
) -> bool:
    """Bring a batch into the catalogue with one audit event an item; True if it was new.

    An upsert on (run, table, batch): stored again with the same files it changes nothing. `refused`
    are the intent's refused items but those that this run's earlier epochs had dropped.

    Raises:
        DataSafetyError: `backup.manifest`, the manifest is not the one that was stored first. Its
            row stays as it is: nothing may be restored or purged by the new one.
    """
    intent = entry.batch.intent
    with transaction.atomic():
        row, is_new = BackupBatch.objects.select_for_update().get_or_create(
            run_id=UUID(intent.run),
            db=intent.db,
            table=intent.table,
            batch=intent.batch,
            defaults=_values(entry, refused),
        )
        if row.manifest_sha256 != entry.batch.sha256:
            raise other_manifest(entry.batch)
        before = None if is_new else row.state
        if is_new:
            _probes(row)
            dropped = _dropped(entry, row, actor) + _refused(refused, row, actor)
            audit_record_many(dropped, now=now)
        if is_new or row.n_restored != len(entry.restored):
            audit_record_many(_restored(entry, row, actor, is_new=is_new), now=now)
        for name, value in _values(entry, refused).items():
            setattr(row, name, value)
        if entry.state is BackupState.PURGING and before != BackupState.PURGING:
            audit_record_many([_backup_event("backup.purge_begun", row, actor)], now=now)
        row.save()
        if entry.is_purged and entry.is_empty:
            batch_purged(row, actor=actor, now=now)
    return is_new


def batch_purged(row: BackupBatch, *, actor: str, now: datetime) -> None:
    """Say that nothing of a batch is left; again it changes nothing.

    What had come back, or had never gone, stays what it was: only its papers are gone.
    """
    with transaction.atomic():
        locked = BackupBatch.objects.select_for_update().get(pk=row.pk)
        if locked.purged_at is not None:
            return
        locked.purged_at, locked.purge_skipped_reason = now, ""
        if locked.state not in WITHOUT_DATA:
            locked.state = BackupState.PURGED
            audit_record_many([_backup_event("backup.purged", locked, actor)], now=now)
        locked.save(update_fields=["purged_at", "purge_skipped_reason", "state"])


def _values(entry: Entry, refused: Collection[ItemRefused]) -> dict[str, object]:
    intent, kept, restored = entry.batch.intent, entry.kept, entry.restored
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
        "table_owner": fitted(intent.table_owner, USER_CHARS),
        "plan_id": intent.plan,
        "digest": intent.digest,
        "n_items": len(kept),
        "n_bytes": sum(item.n_bytes for item in kept),
        "n_files": sum(item.n_files for item in kept),
        "n_restored": len(restored),
        "restored_bytes": sum(item.n_bytes for item in kept if item.item in restored),
        "n_skipped": len(refused) + sum(item.outcome not in IN_BACKUP for item in entry.done.items),
        "first_partition": names[0] if names else "",
        "last_partition": names[-1] if names else "",
        "manifest_sha256": entry.batch.sha256,
        "seconds": entry.done.seconds,
        "dropped_at": dropped_at,
        "purge_after": dropped_at
        + timedelta(days=intent.keep_days)
        + paused_since(intent.lake, dropped_at)
        + entry.away,
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


def _refused(refused: Collection[ItemRefused], row: BackupBatch, actor: str) -> list[AuditEntry]:
    """Events for what was not as approved any more: nothing was done with it."""
    about = {
        "run": str(row.run_id),
        "batch": row.batch,
        "plan": row.plan_id,
        "digest": row.digest,
        "by": "driver",
    }
    return [
        AuditEntry(
            "item.refused",
            actor,
            row.lake,
            "item",
            _name(row, one.partition),
            {**about, "reason": one.reason},
        )
        for one in refused
    ]


def _backup_event(action: str, row: BackupBatch, actor: str) -> AuditEntry:
    return AuditEntry(
        action,
        actor,
        row.lake,
        "backup",
        str(row.public_id),
        {
            "db": row.db,
            "table": row.table,
            "run": str(row.run_id),
            "batch": row.batch,
            "items": row.n_items - row.n_restored,
            "files": row.n_files,
            "bytes": row.n_bytes,
            "first": row.first_partition,
            "last": row.last_partition,
            "manifest": row.manifest_sha256,
        },
    )


def _restored(entry: Entry, row: BackupBatch, actor: str, *, is_new: bool) -> list[AuditEntry]:
    """Events for what came back, or was taken back, since the row was stored; oldest step first.

    Stored was the row after one of the steps: the last one that left as many items restored.
    """
    found: list[list[AuditEntry]] = []
    n_back, n_stored = 0, 0
    for step in sorted(entry.steps, key=lambda step: step.intent.at):
        events = _step_events(step, row, actor)
        undone = sum(event.action == "item.restore_undone" for event in events)
        n_back += len(events) - 2 * undone
        found.append(events)
        if not is_new and n_back == row.n_restored:
            n_stored = len(found)
    return [event for events in found[n_stored:] for event in events]


def _step_events(step: RestoreStep, row: BackupBatch, actor: str) -> list[AuditEntry]:
    actions = {Outcome.RESTORED: "item.restored", Outcome.UNDONE: "item.restore_undone"}
    return [
        AuditEntry(
            actions[done.outcome],
            actor,
            row.lake,
            "item",
            f"{step.intent.db}.{step.intent.table}"
            + (f"/{done.partition}" if done.partition else ""),
            {"run": step.intent.restore, "backup": str(row.run_id), "item": done.item},
        )
        for done in (step.done.items if step.done is not None else ())
        if done.outcome in actions
    ]


def _name(row: BackupBatch, partition: str) -> str:
    return f"{row.db}.{row.table}/{partition}" if partition else f"{row.db}.{row.table}"
