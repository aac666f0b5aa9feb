"""Grants and ends exceptions of a path rule for a table or database.

An exception is a policy request that another admin approves (`policy_requests`), then a row that
the next scan reads. Its last day ends it by itself, which the first scan after it records; its
owners and admins may end it before.
"""

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from django.db import transaction

from lifecycle.inventory.selectors.findings import get_database_for_user, get_table_for_user
from lifecycle.models import PathException, PolicyRequest
from lifecycle.policies.domain.exceptions import check_exception
from lifecycle.policies.domain.states import RequestKind, RequestState
from lifecycle.policies.selectors.exception_lists import (
    get_exception_for_user,
    is_exceptions_person,
    owns_named,
)
from lifecycle.policies.services.requests import request_move, request_open
from lifecycle.rules.selectors.exceptions import breaks_rule
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.approvals.models import Approval
from portal.approvals.selectors import approvers
from portal.approvals.services import approval_use
from portal.audit.models import AuditEvent
from portal.audit.services import audit_record
from portal.lake.clock import day_of
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.lake.names import check_identifier
from portal.lake.reasons import check_reason

LAPSED = "path_waiver.lapsed"


@dataclass(frozen=True, slots=True)
class ExceptionParams:
    """A rule that shall not count for a table, or (`table` empty) for a database itself."""

    db: str
    table: str
    rule: str
    until: date
    reason: str


def exception_request(
    lake: str, wish: ExceptionParams, *, user: User, now: datetime
) -> PolicyRequest:
    """Ask that a rule be waived; another admin has to agree. Asked again it gives the same request.

    Raises:
        NotVisible: nothing of that name for this person.
        NotAllowed: neither an owner of it nor an admin.
        RuleViolation: no reason, no such rule, a day out of bounds, or a rule that is not broken.
        StaleState: another request about the same rule and object is open.
    """
    check_reason(wish.reason, "policy.reason", "Enter a reason; admins read it.")
    check_identifier(wish.db, kind="database")
    if wish.table:
        check_identifier(wish.table, kind="table")
        get_table_for_user(lake, wish.db, wish.table, user=user)
    else:
        get_database_for_user(lake, wish.db, user=user)
    if not (user.is_lake_admin_of(lake) or owns_named(lake, wish.db, wish.table, user=user)):
        raise NotAllowed("waiver.role", "Only an owner of it or an admin asks for an exception.")
    today = day_of(now, get_lake(lake).zone)
    rule = check_exception(wish.rule, is_table=bool(wish.table), until=wish.until, today=today)
    if not breaks_rule(lake, wish.db, wish.table, rule):
        raise RuleViolation(
            "waiver.not_broken",
            f"The last scan does not show {rule} for it, so there is nothing to waive.",
            rule=rule,
        )
    request = PolicyRequest(
        lake=lake,
        kind=RequestKind.WAIVE,
        db=wish.db,
        table=wish.table,
        rule=rule,
        until=wish.until,
        needs_admin=True,
        reason=wish.reason.strip(),
        requested_by=user.username,
        created_at=now,
    )
    return request_open(request, ask_admin=True, now=now)


def exception_approved(request: PolicyRequest, approval: Approval, now: datetime) -> None:
    """Follow an admin's yes: the exception stands (called in the deciding transaction)."""
    today = day_of(now, get_lake(request.lake).zone)
    if request.until is None or request.until < today:
        raise StaleState("waiver.over", "Its last day is over; it has to be requested again.")
    by = approvers(approval)
    granted = PathException.objects.create(
        lake=request.lake,
        db=request.db,
        table=request.table,
        rule=request.rule,
        justification=request.reason,
        until=request.until,
        requested_by=request.requested_by,
        approved_by=by,
        granted_at=now,
        request=request,
    )
    request_move(request, RequestState.DONE, by=", ".join(by), now=now)
    approval_use(approval.pk, run_id=str(request.pk), now=now)
    _audit("path_waiver.granted", granted, actor=by[-1], now=now, until=request.until.isoformat())


@transaction.atomic
def exception_end(
    lake: str, waiver_id: UUID | str, *, user: User, reason: str, now: datetime
) -> PathException:
    """End an exception before its day; from then on nothing is planned under it.

    Raises:
        NotVisible: no such exception for this person.
        NotAllowed: neither who asked for it, an owner, nor an admin.
        RuleViolation: no reason.
        StaleState: it is over already.
    """
    granted = get_exception_for_user(lake, waiver_id, user=user)
    if not is_exceptions_person(granted, user):
        raise NotAllowed("waiver.end", "Who asked for it, an owner of it or an admin ends it.")
    check_reason(reason, "waiver.reason", "Enter a reason for ending the exception.")
    today = day_of(now, get_lake(lake).zone)
    standing = PathException.objects.filter(pk=granted.pk, ended_at=None, until__gte=today)
    changes = {"ended_at": now, "ended_by": user.username, "end_reason": reason.strip()}
    if not standing.update(**changes):
        raise StaleState("waiver.ended", "This exception is over already. Reload the page.")
    granted.refresh_from_db()
    _audit("path_waiver.ended", granted, actor=user.username, now=now, end_reason=reason.strip())
    return granted


def exceptions_lapse(lake: str, *, now: datetime) -> int:
    """Record each exception whose last day has passed, once; returns how many were new."""
    today = day_of(now, get_lake(lake).zone)
    with transaction.atomic():
        over = PathException.objects.filter(lake=lake, ended_at=None, until__lt=today)
        rows = list(over.select_for_update().order_by("pk"))
        told = AuditEvent.objects.filter(lake=lake, action=LAPSED)
        known = set(told.values_list("data__request", flat=True)) if rows else set()
        new = [row for row in rows if str(row.request_id) not in known]
        for granted in new:
            _audit(LAPSED, granted, actor="system", now=now, until=granted.until.isoformat())
    return len(new)


def _audit(action: str, granted: PathException, *, actor: str, now: datetime, **data: str) -> None:
    audit_record(
        action,
        actor=actor,
        lake=granted.lake,
        object_type="table" if granted.table else "database",
        object_id=granted.name,
        data={
            "rule": granted.rule,
            "reason": granted.justification,
            "requested_by": granted.requested_by,
            "approved_by": granted.approved_by,
            "request": str(granted.request_id),
            **data,
        },
        now=now,
    )
