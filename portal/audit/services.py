"""Writes audit events, and verifies that the audit record is intact."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from portal.audit.models import GENESIS, AuditEvent, AuditHead

_CHAIN = "main"
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One event to be recorded; actions are dotted and stable (`plan.approved`)."""

    action: str
    actor: str
    lake: str
    object_type: str
    object_id: str
    data: Mapping[str, object] = field(default_factory=dict)


def audit_record(  # noqa: PLR0913 - the agreed interface names them all
    action: str,
    *,
    actor: str,
    lake: str,
    object_type: str,
    object_id: str,
    data: Mapping[str, object],
    now: datetime,
) -> AuditEvent:
    """Append one event inside the caller's transaction; called twice it records twice."""
    entry = AuditEntry(action, actor, lake, object_type, object_id, data)
    return audit_record_many([entry], now=now)[0]


def audit_record_many(entries: Sequence[AuditEntry], *, now: datetime) -> list[AuditEvent]:
    """Append events in order under one lock of the chain's head."""
    if not entries:
        return []
    with transaction.atomic():
        head = _locked_head()
        events: list[AuditEvent] = []
        for entry in entries:
            event = _seal(entry, seq=head.seq + 1, previous_hash=head.hash, now=now)
            head.seq, head.hash = event.seq, event.hash
            events.append(event)
        AuditEvent.objects.bulk_create(events, batch_size=500)
        head.save(update_fields=["seq", "hash"])
    return events


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What `audit_verify` found; `broken_at` is the first row that does not fit."""

    n_events: int
    head_hash: str
    broken_at: int | None
    problem: str


def audit_verify() -> ChainReport:
    """Recompute the whole chain; a changed, removed or added row is found."""
    report = _walk(AuditEvent.objects.all(), (0, GENESIS))
    head = AuditHead.objects.filter(name=_CHAIN).first()
    return _ending(report, (head.seq, head.hash) if head else (0, GENESIS))


def chain_problem(start: tuple[int, str], end: tuple[int, str]) -> str:
    """Recompute the chain after one event up to another; return what does not fit, or nothing.

    Both are given by number and hash. Events that were added after `end` are not looked at.
    """
    rows = AuditEvent.objects.filter(seq__gt=start[0], seq__lte=end[0])
    return _ending(_walk(rows, start), end).problem


def _walk(rows: QuerySet[AuditEvent], start: tuple[int, str]) -> ChainReport:
    expected_seq, previous_hash = start[0] + 1, start[1]
    for event in rows.order_by("seq").iterator(chunk_size=2000):
        problem = ""
        if event.seq != expected_seq:
            problem = f"event {expected_seq} is missing"
        elif event.previous_hash != previous_hash or event.hash != event_hash(event):
            problem = f"event {event.seq} was changed after it was written"
        if problem:
            return ChainReport(expected_seq - 1, previous_hash, expected_seq, problem)
        previous_hash, expected_seq = event.hash, expected_seq + 1
    return ChainReport(expected_seq - 1, previous_hash, None, "")


def _ending(report: ChainReport, end: tuple[int, str]) -> ChainReport:
    """Compare where the rows end with where they must."""
    if report.problem or end == (report.n_events, report.head_hash):
        return report
    problem = f"the last of {end[0]} events is missing"
    return ChainReport(report.n_events, report.head_hash, report.n_events + 1, problem)


def event_hash(event: AuditEvent) -> str:
    """Return the sha256 over every field of the event and the hash of the one before."""
    body = json.dumps(
        [
            event.seq,
            event.at.astimezone(UTC).isoformat(timespec="microseconds"),
            event.action,
            event.actor,
            event.lake,
            event.object_type,
            event.object_id,
            event.data,
            event.previous_hash,
        ],
        sort_keys=True,
        separators=(",", ":"),
    )
    return hashlib.sha256(body.encode()).hexdigest()


def _locked_head() -> AuditHead:
    """Lock the end of the chain; the row is made by a migration, again only after a flush."""
    heads = AuditHead.objects.select_for_update()
    head = heads.filter(name=_CHAIN).first()
    if head is None:
        AuditHead.objects.get_or_create(name=_CHAIN)
        head = heads.get(name=_CHAIN)
    return head


def _seal(entry: AuditEntry, *, seq: int, previous_hash: str, now: datetime) -> AuditEvent:
    object_id, data = _named(entry)
    event = AuditEvent(
        seq=seq,
        at=now,
        action=entry.action,
        actor=entry.actor,
        lake=entry.lake,
        object_type=entry.object_type,
        object_id=object_id,
        data=_plain(data),
        previous_hash=previous_hash,
    )
    event.hash = event_hash(event)
    return event


def _named(entry: AuditEntry) -> tuple[str, Mapping[str, object]]:
    """Cut a name that is longer than its column; the whole one stands in the data as `name`."""
    name = entry.object_id
    fits = object_name(name)
    return fits, entry.data if fits == name else {**entry.data, "name": name}


def object_name(name: str) -> str:
    """Return the name under which the record keeps an object; a long one is cut and marked."""
    if len(name) <= _LONGEST:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:16]
    return f"{name[: _LONGEST - 17]}~{mark}"


def _plain(data: Mapping[str, object]) -> Any:
    """Return the data as it will be read back, so that the hash can be recomputed."""
    return json.loads(json.dumps(dict(data), default=str, sort_keys=True))
