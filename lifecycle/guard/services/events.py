"""Stores the guard's records, and detects changes that the guard did not see.

A note stands in the log right before its change's own event, in one transaction. An ALTER of LEVEL
or TTL without one went past the guard: nobody knows who did it, so it becomes an alarm. So does a
table that is dropped and created again with other values, as by a job that overwrites it.
"""

from dataclasses import asdict, astuple
from datetime import datetime, timedelta
from typing import Any

from pymetastore.hive_metastore import ttypes

from lifecycle.core.selectors.scratch import is_own_scratch
from lifecycle.guard.domain import (
    ALARMING,
    Change,
    Outcome,
    PolicyNote,
    change_in,
    in_one_line,
    read_policy_note,
    values_in,
)
from lifecycle.guard.services.alarms import alarm_mail_queue
from lifecycle.inventory.selectors.policy import asked_here
from lifecycle.inventory.services.ingest_rows import OWNER_CHARS, TYPE_CHARS
from lifecycle.models import DatabaseFinding, DroppedObject, PolicyEvent
from portal.audit.services import audit_record
from portal.connectors.metastore import from_json
from portal.events.messages import DROP_NOTE, POLICY_NOTE, LakeEvent
from portal.events.registry import Subscriber, subscribe
from portal.lake.lines import fitted

NAME = "lifecycle.guard"
DROPPED_KEPT = timedelta(days=90)
REPLACED_WITHIN = timedelta(days=1)
UNKNOWN = "unknown"
CREATE = "CREATE_TABLE"
_ALTERS = {"ALTER_TABLE": "table", "ALTER_DATABASE": "db"}
_TYPES = frozenset({POLICY_NOTE, DROP_NOTE, CREATE, *_ALTERS})
_TRIM = 200


def on_event(event: LakeEvent, now: datetime) -> None:
    """Keep what one event tells; called again with the same event it keeps nothing more.

    What a restore test does in its own scratch is no news.
    """
    if is_own_scratch(event.lake, event.db):
        return
    if event.type == DROP_NOTE:
        _keep_dropped(event)
    elif event.type == POLICY_NOTE:
        _keep(event, read_policy_note(event.message), now=now)
    elif event.type == CREATE:
        replaced = _replaced(event)
        if replaced is not None:
            _keep(event, replaced, now=now)
    else:
        change = change_in(event.message, of=_ALTERS[event.type])
        if change is not None and not _was_noted(event) and not _was_asked_here(event, change):
            _keep(event, _unseen(event, change), now=now)


def register_subscriber() -> None:
    """Tell the follower what the room wants to know of."""
    subscribe(Subscriber(NAME, _TYPES, on_event))


def _was_noted(event: LakeEvent) -> bool:
    return PolicyEvent.objects.filter(
        lake=event.lake, event_id=event.id - 1, db=event.db, table=event.table
    ).exists()


def _was_asked_here(event: LakeEvent, change: Change) -> bool:
    """Whether it is a change of the portal's own, on a lake without a guard that would note it."""
    return asked_here(event.lake, event.db, event.table, change.after, at=event.at)


def _unseen(event: LakeEvent, change: Change) -> PolicyNote:
    return PolicyNote(
        operation=event.type,
        user="",
        is_admin=False,
        outcome=Outcome.UNSEEN,
        owner=change.owner,
        rules=(),
        change=change,
    )


def _replaced(event: LakeEvent) -> PolicyNote | None:
    """Return the change, if the table stood here until lately with other values."""
    kept = DroppedObject.objects.filter(
        lake=event.lake,
        db=event.db,
        table=event.table,
        dropped_at__range=(event.at - REPLACED_WITHIN, event.at),
    ).exclude(struct="")
    old = kept.order_by("-id").first()
    if old is None:
        return None
    before, after = values_in(old.struct), values_in(str(event.message.get("tableObjJson") or ""))
    if not before or before == after:
        return None
    return PolicyNote(
        operation=event.type,
        user=old.dropped_by,
        is_admin=False,
        outcome=Outcome.REPLACED,
        owner=old.owner,
        rules=(),
        change=Change(before, after),
    )


def _keep(event: LakeEvent, note: PolicyNote, *, now: datetime) -> None:
    change = note.change
    row, created = PolicyEvent.objects.get_or_create(
        lake=event.lake,
        event_id=event.id,
        at=event.at,
        defaults={
            "operation": note.operation,
            "db": event.db,
            "table": event.table,
            "new_name": note.new_name,
            "owner": fitted(note.owner, OWNER_CHARS),
            "db_owner": _database_owner(event),
            "actor": note.user,
            "outcome": note.outcome,
            "before": dict(change.before) if change else None,
            "after": dict(change.after) if change else None,
            "rules": [list(astuple(rule)) for rule in note.rules],
            "is_alarm": note.outcome in ALARMING,
        },
    )
    if not created:
        return
    audit_record(
        _action(note),
        actor=row.actor or UNKNOWN,
        lake=row.lake,
        object_type="table" if row.table else "database",
        object_id=str(row),
        data={
            "event": row.event_id,
            "happened_at": row.at.isoformat(),
            "operation": row.operation,
            "outcome": row.outcome,
            "before": row.before,
            "after": row.after,
            "rules": [asdict(rule) for rule in note.rules],
            "is_lifecycle_admin": note.is_admin,
        },
        now=now,
    )
    if row.is_alarm:
        alarm_mail_queue(row, now=now)


def _action(note: PolicyNote) -> str:
    if note.outcome is Outcome.REFUSED:
        return "policy.refused"
    return "policy.changed" if note.change else "policy.breached"


def _keep_dropped(event: LakeEvent) -> None:
    said = event.message
    text = str(said.get("object") or "")
    DroppedObject.objects.get_or_create(
        lake=event.lake,
        event_id=event.id,
        dropped_at=event.at,
        defaults={
            "dropped_by": in_one_line(said.get("user") or UNKNOWN, most=150),
            "db": event.db,
            "table": event.table,
            "owner": fitted(str(said.get("owner") or ""), OWNER_CHARS),
            "db_owner": _database_owner(event),
            "n_partitions": said.get("n_partitions"),
            "delete_data": None if said.get("with_database") else said.get("delete_data"),
            "with_database": bool(said.get("with_database")),
            "struct": text,
            **_facts(event, text),
        },
    )
    _trim(event)


def _facts(event: LakeEvent, text: str) -> dict[str, Any]:
    """Return what the list shows of the object, read once."""
    if not text:
        return {}
    if not event.table:
        return {"location": from_json(ttypes.Database, text).locationUri or ""}
    table = from_json(ttypes.Table, text)
    storage = table.sd
    return {
        "table_type": fitted(table.tableType or "", TYPE_CHARS),
        "location": (storage.location if storage else "") or "",
        "n_columns": len((storage.cols if storage else None) or [])
        + len(table.partitionKeys or []),
    }


def _database_owner(event: LakeEvent) -> str:
    """Return the owner of the event's database as the last scan saw it."""
    owners = DatabaseFinding.objects.current(event.lake).filter(db=event.db)
    return str(owners.values_list("owner", flat=True).first() or "")


def _trim(event: LakeEvent) -> None:
    """Let go what is older than its days, a few with each new one: pipelines drop all day long."""
    old = DroppedObject.objects.filter(lake=event.lake, dropped_at__lt=event.at - DROPPED_KEPT)
    keys = list(old.order_by("dropped_at").values_list("pk", flat=True)[:_TRIM])
    if keys:
        DroppedObject.objects.filter(pk__in=keys).delete()
