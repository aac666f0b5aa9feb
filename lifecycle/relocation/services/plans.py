"""Moves fix plans through their states: request, decision, withdrawal and undo.

Each function is one transaction: right, compare-and-set, audit. What enters a plan is drawn up by
`path_fix_store` in a worker; `path_fix_execution` runs it. An undo is a plan of its own with the
places the other way round, and needs the same approvals.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from lifecycle.drop.models.plans import ENDED, TRANSITIONS
from lifecycle.models import (
    AT_TARGET,
    PathFinding,
    PathFix,
    PathFixItem,
    PlanState,
)
from lifecycle.relocation.selectors import get_fix_for_user
from portal.access.models import User
from portal.approvals.domain import SaidWord
from portal.approvals.models import Approval
from portal.approvals.services import approval_decide, approval_withdraw
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.lake.reasons import check_reason, check_text
from portal.runs.requests.services import run_request

DRAW_KIND = "lifecycle.path_fix_plan"
FIX_APPROVAL_KIND = "lifecycle.path_fix"
_CHUNK = 500


def fix_request(
    lake: str, finding_ids: Sequence[int], *, reason: str, user: User, now: datetime
) -> PathFix:
    """Have a plan drawn up for nonconforming paths of the last scan; each call makes its own.

    Raises:
        NotAllowed: `fix.role`, neither admin nor operator.
        RuleViolation: nothing or too much chosen, or no reason.
        StaleState: `fix.picture`, a row is not of the last scan any more.
    """
    _check_asked(user, reason)
    wanted = sorted(set(finding_ids))
    most = settings.LAKEWARDEN_FIX_MAX_ITEMS
    if not wanted:
        raise RuleViolation("fix.nothing", "Choose at least one nonconforming path.")
    if len(wanted) > most:
        raise RuleViolation("fix.too_many", f"One fix plan takes at most {most} paths.")
    found = list(PathFinding.objects.current(lake).for_user(user).filter(pk__in=wanted))
    if len(found) != len(wanted):
        raise StaleState(
            "fix.picture", "A newer scan is shown by now. Reload the page and choose again."
        )
    fix = PathFix(
        lake=lake,
        requested_by=user.username,
        requesters=[user.username],
        reason=reason.strip(),
        created_at=now,
    )
    items = [
        PathFixItem(
            fix=fix,
            lake=lake,
            kind=one.kind,
            db=one.db,
            table=one.table,
            partition=one.partition,
            owner=one.owner,
            db_owner=one.db_owner,
            reasons=one.reasons,
            source=one.location,
        )
        for one in found
    ]
    return _begin(fix, items, now=now)


def fix_undo_request(fix_id: UUID | str, *, reason: str, user: User, now: datetime) -> PathFix:
    """Have a plan drawn up that brings back what a fix moved; for an admin.

    Raises:
        NotAllowed: `fix.undo_role`.
        StaleState: nothing of it lies at its new place, or an undo of it is under way.
    """
    original = get_fix_for_user(fix_id, user=user)
    if not user.is_lake_admin:
        raise NotAllowed("fix.undo_role", "Only an admin takes a fix back.")
    _check_asked(user, reason)
    with transaction.atomic():
        PathFix.objects.select_for_update().get(pk=original.pk)
        moved = list(original.items.filter(state__in=AT_TARGET).order_by("id"))
        if original.state not in ENDED or not moved:
            raise StaleState("fix.nothing_moved", "Nothing of this plan can be taken back.")
        if original.undone_by.exclude(state__in=ENDED).exists():
            raise StaleState("fix.undo_under_way", "An undo of this plan is under way already.")
        undo = PathFix(
            lake=original.lake,
            undo_of=original,
            requested_by=user.username,
            requesters=[user.username],
            reason=reason.strip(),
            created_at=now,
        )
        names = ("lake", "kind", "db", "table", "partition", "owner", "db_owner")
        items = [
            PathFixItem(
                fix=undo,
                source=one.target,
                target=one.source,
                **{name: getattr(one, name) for name in names},
            )
            for one in moved
        ]
        return _begin(undo, items, now=now)


def _check_asked(user: User, reason: str) -> None:
    if not user.is_lake_keeper:
        raise NotAllowed("fix.role", "Admins and operators make fix plans; ask one of them.")
    check_reason(reason, "fix.reason", "Say why: approvers and owners will read it.")


@transaction.atomic
def _begin(fix: PathFix, items: Iterable[PathFixItem], *, now: datetime) -> PathFix:
    """Write a plan in DRAFTING, what is asked, and the run that draws it up."""
    fix.save(force_insert=True)
    made = PathFixItem.objects.bulk_create(items, batch_size=_CHUNK)
    fix.plan_run = run_request(
        DRAW_KIND,
        lake=fix.lake,
        params={"fix": str(fix.pk), "now": now.isoformat()},
        requested_by=fix.requested_by,
        reason=fix.reason,
        unique_key=f"fix-plan:{fix.pk}",
        subject=("path_fix", str(fix.pk)),
        now=now,
    )
    fix.save(update_fields=["plan_run"])
    undo_of = str(fix.undo_of_id) if fix.undo_of_id else ""
    fix_audit("requested", fix, actor=fix.requested_by, now=now, items=len(made), undo_of=undo_of)
    return fix


def fix_move(
    fix: PathFix, to: PlanState, *, now: datetime, by: str = "", why: str = "", **fields: Any
) -> None:
    """Move a plan to another state by compare-and-set; the object follows.

    Raises:
        StaleState: `fix.state`, it is not where this object says, or the step does not exist.
    """
    source = fix.state
    if to in ENDED:
        fields |= {"ended_at": now, "ended_by": by, "ended_reason": why}
    allowed = to in TRANSITIONS.get(source, frozenset())
    if not (allowed and PathFix.objects.filter(pk=fix.pk, state=source).update(state=to, **fields)):
        raise StaleState(
            "fix.state", "The plan has moved on since this page was made. Reload it.", fix=fix.pk
        )
    fix.state = to
    for name, value in fields.items():
        setattr(fix, name, value)


def fix_audit(what: str, fix: PathFix, *, actor: str, now: datetime, **data: Any) -> None:
    """Write what happened to a plan into the audit chain (inside the caller's transaction)."""
    audit_record(
        f"path_fix.{what}",
        actor=actor,
        lake=fix.lake,
        object_type="path_fix",
        object_id=str(fix.pk),
        data={"digest": fix.digest, **data},
        now=now,
    )


def fix_decide(
    fix_id: UUID | str,
    *,
    user: User,
    word: SaidWord,
    authenticated_at: datetime | None,
    now: datetime,
) -> PathFix:
    """Record one person's word on exactly these moves; never the makers', with a fresh login."""
    fix = get_fix_for_user(fix_id, user=user)
    if fix.state not in (PlanState.PENDING, PlanState.APPROVED) or fix.approval_id is None:
        raise StaleState("fix.closed", "This plan does not wait for a decision any more.")
    if word.digest != fix.digest:
        raise StaleState("fix.changed", "The plan is not the one that you read. Reload it.")
    if word.verdict == "REJECT" and not word.reason.strip():
        raise RuleViolation("fix.reject_reason", "Say why: the maker will read it.")
    approval_decide(
        fix.approval_id,
        user=user,
        verdict=word.verdict,
        reason=word.reason.strip(),
        digest=word.digest,
        authenticated_at=authenticated_at,
        now=now,
    )
    return get_fix_for_user(fix_id, user=user)


@transaction.atomic
def fix_withdraw(fix_id: UUID | str, *, user: User, reason: str, now: datetime) -> PathFix:
    """Take a plan back, by who asked for it, until the first decision; twice is StaleState."""
    fix = get_fix_for_user(fix_id, user=user)
    if fix.state == PlanState.PENDING and fix.approval_id is not None:
        approval_withdraw(fix.approval_id, user=user, reason=reason, now=now)
        return get_fix_for_user(fix_id, user=user)
    if user.username != fix.requested_by:
        raise NotAllowed("fix.not_maker", "Only its maker may withdraw a plan.")
    check_text(reason)
    fix_move(fix, PlanState.WITHDRAWN, now=now, by=user.username, why=reason)
    fix_audit("withdrawn", fix, actor=user.username, now=now, reason=reason)
    return fix


def fix_lock(approval: Approval) -> None:
    """Lock the plan that an approval is about, right after the approval itself."""
    PathFix.objects.select_for_update().filter(pk=approval.object_id).first()


def fix_approved(approval: Approval, now: datetime) -> None:
    """Follow an approval that is complete (called in its transaction)."""
    fix = _of(approval)
    if fix.digest != approval.digest:
        raise StaleState("fix.changed", "The plan is not the one that was approved.")
    fix_move(fix, PlanState.APPROVED, now=now)
    fix_audit("approved", fix, actor="system", now=now)


def fix_rejected(approval: Approval, now: datetime) -> None:
    """Follow an approval that one person refused (called in its transaction)."""
    refused = approval.decisions.filter(verdict="REJECT").first()
    by, reason = (refused.user.username, refused.reason) if refused else ("", "")
    _end(approval, PlanState.REJECTED, by=by or "system", why=reason, now=now)


def fix_withdrawn(approval: Approval, now: datetime) -> None:
    """Follow an approval that was taken back (called in its transaction)."""
    by = _of(approval).requested_by
    _end(approval, PlanState.WITHDRAWN, by=by, why=approval.end_reason, now=now)


def fix_lapsed(approval: Approval, now: datetime) -> None:
    """Follow an approval that ran out of time (called in its transaction)."""
    _end(approval, PlanState.LAPSED, by="system", why="Nobody acted in time.", now=now)


def _end(approval: Approval, to: PlanState, *, by: str, why: str, now: datetime) -> None:
    fix = _of(approval)
    fix_move(fix, to, now=now, by=by, why=why)
    fix_audit(to.lower(), fix, actor=by, now=now, reason=why)


def _of(approval: Approval) -> PathFix:
    return PathFix.objects.get(pk=approval.object_id)
