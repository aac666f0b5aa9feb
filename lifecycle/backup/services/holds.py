"""Holds that keep a database, table or partition from drop and purge.

Checks who may place a hold, and until when it applies.

A hold is checked when a plan is made, before each batch of a drop, and before a purge. A restore
places one by itself, so that the next run does not take the data again.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from lifecycle.backup.domain.control import restored_by
from lifecycle.backup.domain.states import HoldKind
from lifecycle.backup.models import Hold
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.lake.reasons import check_reason

RESTORE_HOLD = timedelta(days=30)
_CHUNK = 2000


def hold_place(  # noqa: PLR0913 - each says something about the hold
    *,
    lake: str,
    name: tuple[str, str, str],
    kind: HoldKind,
    until: datetime | None,
    reason: str,
    user: User,
    now: datetime,
) -> Hold:
    """Place a hold on `name` = (db, table or '', partition or ''); a second one stands beside it.

    Raises:
        NotAllowed: a legal hold by somebody who is no admin.
        RuleViolation: no reason, no database, or an end that has passed.
    """
    db, table, partition = name
    if kind is HoldKind.LEGAL and not user.is_lake_admin_of(lake):
        raise NotAllowed("hold.legal", "Only an admin may place a legal hold; ask one.")
    check_reason(reason, "hold.reason", "Enter a reason for the hold.")
    if not db or (partition and not table):
        raise RuleViolation("hold.name", "Name a database, and a table before a partition.")
    if until is not None and until <= now:
        raise RuleViolation("hold.until", "The hold must end in the future (or have no end).")
    with transaction.atomic():
        hold = Hold.objects.create(
            lake=lake,
            db=db,
            table=table,
            partition=partition,
            kind=kind,
            until=until,
            reason=reason.strip(),
            placed_by=user.username,
            placed_at=now,
        )
        _audit(hold, "hold.placed", actor=user.username, now=now)
    return hold


def hold_release(hold_id: UUID, *, user: User, reason: str, now: datetime) -> None:
    """End a hold: an admin, or who placed it (a legal one: an admin only)."""
    with transaction.atomic():
        hold = Hold.objects.select_for_update().filter(public_id=hold_id).first()
        if hold is None:
            raise NotVisible("hold.missing", "There is no such hold.")
        own = hold.placed_by == user.username and hold.kind != HoldKind.LEGAL
        if not (user.is_lake_admin_of(hold.lake) or own):
            raise NotAllowed("hold.release", "Only an admin, or who placed it, may end this hold.")
        if hold.released_at is not None:
            raise StaleState("hold.released", f"{hold.released_by} ended this hold already.")
        check_reason(reason, "hold.reason", "Enter a reason for ending the hold.")
        hold.released_by, hold.released_at = user.username, now
        hold.save(update_fields=["released_by", "released_at"])
        _audit(hold, "hold.released", actor=user.username, now=now, reason=reason.strip())


def holds_place_restored(
    lake: str, names: Iterable[tuple[str, str, str]], *, placed_by: str, run_id: UUID, now: datetime
) -> int:
    """Hold what a restore brought back for 30 days; called again for a run, it adds nothing."""
    reason = restored_by(run_id)
    there = Q(lake=lake, kind=HoldKind.RESTORE, reason=reason)
    done = set(Hold.objects.filter(there).values_list("db", "table", "partition"))
    holds = [
        Hold(
            lake=lake,
            db=db,
            table=table,
            partition=partition,
            kind=HoldKind.RESTORE,
            until=now + RESTORE_HOLD,
            reason=reason,
            placed_by=placed_by,
            placed_at=now,
        )
        for db, table, partition in dict.fromkeys(names)
        if (db, table, partition) not in done
    ]
    for start in range(0, len(holds), _CHUNK):
        Hold.objects.bulk_create(holds[start : start + _CHUNK])
    return len(holds)


def holds_release_restored(
    lake: str, names: Iterable[tuple[str, str, str]], *, run_id: str, by: str, now: datetime
) -> int:
    """End the holds that a restore placed on what was taken back; again it changes nothing."""
    wanted = set(names)
    standing = Hold.objects.filter(
        lake=lake,
        kind=HoldKind.RESTORE,
        reason=restored_by(run_id),
        released_at__isnull=True,
    )
    ended = [
        hold
        for hold in standing.iterator(chunk_size=_CHUNK)
        if (hold.db, hold.table, hold.partition) in wanted
    ]
    for start in range(0, len(ended), _CHUNK):
        keys = [hold.pk for hold in ended[start : start + _CHUNK]]
        Hold.objects.filter(pk__in=keys).update(released_by=by, released_at=now)
    return len(ended)


def _audit(hold: Hold, action: str, *, actor: str, now: datetime, **extra: str) -> None:
    audit_record(
        action,
        actor=actor,
        lake=hold.lake,
        object_type="hold",
        object_id=str(hold.public_id),
        data={
            "db": hold.db,
            "table": hold.table,
            "partition": hold.partition,
            "kind": hold.kind,
            "until": hold.until.isoformat() if hold.until else None,
            "reason": hold.reason,
            **extra,
        },
        now=now,
    )
