"""Handles what people request for a table: refresh now, repair, opt out or opt in again.

Whoever sees a table may ask for its refresh; repairs and opting out are for admins and operators.
A request becomes a change like any other, so it waits its turn and nothing is asked for twice.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction

from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.lake.names import PartitionName
from portal.lake.reasons import check_reason
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.services.record_changes import Change, note_change, queue
from refresh.core.services.metastore_reader import hive_of
from refresh.models import ChangedPartition, RefreshTarget, WatchedTable

MOST_NAMED = 1_000
_SHOWN = 20


def refresh_ask(
    target: RefreshTarget, *, user: User, partitions: Sequence[str] = (), now: datetime
) -> None:
    """Ask for the whole table, or for the partitions named; every cluster that shows it does it.

    Named partitions count as updated: who names them says that they changed.

    Raises:
        RuleViolation: `refresh.off`, `refresh.unshown`, `refresh.too_many`, or a name that is none.
    """
    names = sorted(set(partitions))
    if len(names) > MOST_NAMED:
        raise RuleViolation(
            "refresh.too_many",
            f"{len(names):,} partitions are named; at most {MOST_NAMED:,} can be. "
            "Name none to have the whole table refreshed.",
        )
    for name in names:
        PartitionName.parse(name)
    data = {"partitions": names[:_SHOWN], "n_partitions": len(names)}
    _ask(target, "refresh.asked", user=user, names=names, data=data, now=now)


def repair_ask(target: RefreshTarget, *, front_end: str, user: User, now: datetime) -> None:
    """Ask for the whole table because of one front end; no statement reaches that one alone.

    `front_end` is its address, or the name by which StarRocks lists it.

    Raises:
        NotAllowed: `refresh.role`.
        RuleViolation: `refresh.front_end`, the cluster has none of that name.
    """
    _check_lake_staff(user, target)
    fes = target.cluster.front_ends.all()
    found = next((fe for fe in fes if front_end in (fe.place, fe.name)), None)
    if found is None:
        raise RuleViolation(
            "refresh.front_end",
            f"The cluster {target.cluster.name} has no front end of that name. Its table's page "
            "lists those that it has.",
            front_end=front_end,
        )
    data = {"front_end": found.place}
    _ask(target, "refresh.repair_asked", user=user, names=(), data=data, now=now)


def table_opt_out(target: RefreshTarget, *, user: User, reason: str, now: datetime) -> None:
    """Leave a table out in every cluster: its changes are noted and shown, nobody refreshes it.

    Raises:
        NotAllowed: `refresh.role`.
        RuleViolation: `refresh.reason`, none was given.
        StaleState: `refresh.off`, it was left out already.
    """
    _check_lake_staff(user, target)
    reason = _said(reason)
    with transaction.atomic():
        watched = _locked(target)
        if watched.is_opted_out:
            raise StaleState("refresh.off", f"{watched.opted_out_by} opted it out already.")
        _switch(watched, is_opted_out=True, by=user.username, at=now, reason=reason)
        # What was sent already is not called back; its end is noted as usual.
        watched.targets.filter(running_since=None).update(
            due_at=None, waits_since=None, is_urgent=False, steps=None, not_before=None
        )
        _record("refresh.opted_out", target, user=user, data={"reason": reason}, now=now)


def table_opt_in(target: RefreshTarget, *, user: User, reason: str, now: datetime) -> None:
    """Take a table in again; what changed meanwhile is owed at once.

    Raises:
        NotAllowed: `refresh.role`.
        RuleViolation: `refresh.reason`, none was given.
        StaleState: `refresh.on`, it was taken in already.
    """
    _check_lake_staff(user, target)
    reason = _said(reason)
    with transaction.atomic():
        watched = _locked(target)
        if not watched.is_opted_out:
            raise StaleState("refresh.on", "It is not opted out any more.")
        _switch(watched, is_opted_out=False, by="", at=None, reason="")
        changed = ChangedPartition.objects.filter(table=watched)
        if watched.table_changed_at is not None or changed.exists():
            is_urgent = changed.filter(touch=PartitionChange.UPDATED).exists()
            queue(watched.targets.all(), is_urgent=is_urgent, now=now)
        _record("refresh.opted_in", target, user=user, data={"reason": reason}, now=now)


def _ask(
    target: RefreshTarget,
    action: str,
    *,
    user: User,
    names: Sequence[str],
    data: Mapping[str, object],
    now: datetime,
) -> None:
    with transaction.atomic():
        watched = _locked(target)
        if watched.is_opted_out:
            raise RuleViolation(
                "refresh.off",
                f"{watched.opted_out_by} opted the table out: {watched.opted_out_reason} "
                "An admin or operator enables it again on its page.",
            )
        touched = dict.fromkeys(names, PartitionChange.UPDATED)
        change = Change(hive_of(watched), Cause.PERSON, whole=not names, partitions=touched)
        if not note_change(change, now=now):
            raise RuleViolation(
                "refresh.unshown",
                "No catalog and no declared table shows it any more, so there is nothing to "
                "refresh. Have the cluster's names read again.",
            )
        _record(action, target, user=user, data=data, now=now)


def _locked(target: RefreshTarget) -> WatchedTable:
    return WatchedTable.objects.select_for_update().get(pk=target.watched_id)


def _switch(
    watched: WatchedTable, *, is_opted_out: bool, by: str, at: datetime | None, reason: str
) -> None:
    watched.is_opted_out, watched.opted_out_by, watched.opted_out_at, watched.opted_out_reason = (
        is_opted_out,
        by,
        at,
        reason,
    )
    watched.save(update_fields=["is_opted_out", "opted_out_by", "opted_out_at", "opted_out_reason"])


def _check_lake_staff(user: User, target: RefreshTarget) -> None:
    if not user.is_lake_staff_of(target.watched.lake):
        raise NotAllowed("refresh.role", "Admins and operators do this; ask one of them.")


def _said(reason: str) -> str:
    check_reason(reason, "refresh.reason", "Enter a reason; it is kept in the audit record.")
    return reason.strip()[:1_000]


def _record(
    action: str, target: RefreshTarget, *, user: User, data: Mapping[str, object], now: datetime
) -> None:
    audit_record(
        action,
        actor=user.username,
        lake=target.watched.lake,
        object_type="table",
        object_id=str(target.watched),
        data={"cluster": target.cluster.name, "table": str(target), **data},
        now=now,
    )
