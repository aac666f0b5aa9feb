"""Requests, grants, rejects, withdraws, expires, checks and uses approvals.

Every step takes the row's lock first and moves the state by compare-and-set, so of two people at
the same moment each is counted once and the last word wins nothing twice. Locks are taken in one
order everywhere, else two steps could wait for each other for ever: the approval, its object, what
hangs on that, and the end of the audit chain last.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction

from portal.access.models import User
from portal.approvals import domain
from portal.approvals.domain import (
    LAPSE,
    Answer,
    ApprovalState,
    DecisionKind,
    Given,
    Person,
    Request,
)
from portal.approvals.kinds import ApprovalKind, get_kind
from portal.approvals.models import Approval, Decision
from portal.approvals.selectors import approval_latest, approval_requesters
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.lake.reasons import check_text

_log = logging.getLogger(__name__)


def approval_open(  # noqa: PLR0913 - everything that is approved must be named
    kind: str,
    *,
    lake: str,
    object_id: str,
    digest: str,
    requesters: Sequence[str],
    summary: Mapping[str, object],
    n_needed: int = 2,
    now: datetime,
) -> Approval:
    """Ask for approval of one content.

    Called again with the same digest while it is open it gives the same row; with another digest
    the open one ends as withdrawn and people are asked again.
    """
    get_kind(kind)
    if not requesters or not digest or n_needed < 1:
        raise RuleViolation("approval.request", "An approval needs a requester and a digest.")
    with transaction.atomic():
        open_key = f"{lake}:{kind}:{object_id}"
        known = _locked_open(open_key)
        if known is not None and known.digest == digest:
            return known
        if known is not None:
            _end(known, ApprovalState.WITHDRAWN, reason="The content changed.", now=now)
        approval = Approval.objects.create(
            lake=lake,
            kind=kind,
            object_id=object_id,
            digest=digest,
            requesters=sorted(set(requesters)),
            n_needed=n_needed,
            summary=dict(summary),
            created_at=now,
            expires_at=now + LAPSE,
            open_key=open_key,
        )
        _record("approval.opened", approval, actor=requesters[0], now=now, digest=digest)
    return approval


def approval_decide(  # noqa: PLR0913 - a decision carries what it was taken on
    approval_id: UUID | str,
    *,
    user: User,
    decision: str,
    reason: str,
    digest: str,
    authenticated_at: datetime | None,
    now: datetime,
) -> Approval:
    """Take one person's decision; said twice by the same person it is refused as already given.

    Raises:
        NotAllowed: wrong role, own request, or no fresh login.
        StaleState: closed, expired, other content, or the person has decided already.
        RuleViolation: a rejection without a reason.
    """
    check_text(reason)
    answer = Answer(_decision_kind(decision), reason.strip(), digest)
    with transaction.atomic():
        approval = _locked(approval_id)
        kind = get_kind(approval.kind)
        person = _person(user, approval.lake, authenticated_at)
        request = _request(approval)
        domain.check_decision(request, person, answer, roles=kind.roles, now=now)
        earlier = list(approval.decisions.all())
        if any(
            one.user_id == user.pk and answer.decision in (one.decision, DecisionKind.APPROVE)
            for one in earlier
        ):
            raise StaleState("approval.decided", "You have decided on this already.")
        # Who approved may still stop it: the one word a person has is then turned into a no.
        Decision.objects.update_or_create(
            approval=approval,
            user=user,
            defaults={
                "decision": answer.decision,
                "reason": answer.reason,
                "digest": digest,
                "authenticated_at": authenticated_at or now,
                "at": now,
            },
        )
        _record(
            f"approval.{answer.decision.lower()}",
            approval,
            actor=user.username,
            now=now,
            digest=digest,
            reason=answer.reason,
        )
        after = domain.state_after(request, _given(approval), roles=kind.roles)
        if after is ApprovalState.REJECTED:
            _end(approval, after, reason=answer.reason, now=now)
            kind.on_ended(approval, user.username, now)
        elif after is ApprovalState.APPROVED:
            _approve(approval, kind, now)
            kind.on_approved(approval, now)
    return approval


def approval_withdraw(
    approval_id: UUID | str, *, user: User, reason: str, now: datetime
) -> Approval:
    """Take a request back, by a requester, until the first decision; twice it is refused as closed.

    Raises:
        NotAllowed: the person did not ask for it.
        StaleState: somebody has decided already, or it is closed.
    """
    check_text(reason)
    with transaction.atomic():
        approval = _locked(approval_id)
        asked = {name.casefold() for name in approval.requesters}
        if user.username.casefold() not in asked:
            raise NotAllowed("approval.withdraw", "Only the requester may withdraw it.")
        if approval.state != ApprovalState.PENDING or approval.decisions.exists():
            raise StaleState(
                "approval.closed", "Somebody has decided already; it can only be rejected now."
            )
        _end(approval, ApprovalState.WITHDRAWN, reason=reason, now=now)
        _record("approval.withdrawn", approval, actor=user.username, now=now, reason=reason)
        get_kind(approval.kind).on_ended(approval, user.username, now)
    return approval


def approvals_lapse(now: datetime) -> int:
    """End what was not decided, or not used, in time; gives how many. Safe to run at any moment."""
    due = Approval.objects.filter(
        state__in=[ApprovalState.PENDING, ApprovalState.APPROVED], expires_at__lte=now
    ).values_list("id", flat=True)
    n_lapsed = 0
    for approval_id in list(due):
        with transaction.atomic():
            approval = _locked(approval_id)
            if ApprovalState(approval.state) not in domain.OPEN or approval.expires_at > now:
                continue
            _end(approval, ApprovalState.LAPSED, reason="Nobody acted in time.", now=now)
            _record("approval.lapsed", approval, actor="lakewarden", now=now)
            get_kind(approval.kind).on_ended(approval, "", now)
            n_lapsed += 1
    return n_lapsed


def approval_check(
    kind: str,
    *,
    object_id: str,
    digest: str,
    now: datetime,
    run_id: str = "",
    also_requesters: Collection[str] = (),
) -> Approval:
    """Return the approval under which this content may run now.

    `run_id` names the run that has used it already: a takeover of the same run goes on under the
    same approval, but its approvers must still stand. `also_requesters` are people whose approval
    does not count for what runs under it now.

    Raises:
        StaleState: not approved as it stands now.
    """
    roles = get_kind(kind).roles
    rows = Approval.objects.filter(kind=kind, object_id=object_id)
    used = rows.filter(used_by_run=run_id).first() if run_id else None
    approval = used or approval_latest(kind, object_id)
    if approval is None:
        raise StaleState("approval.missing", "Nobody was asked to approve this.")
    request, given = _request(approval, also_requesters), _given(approval)
    if approval == used:
        if digest != approval.digest:
            raise StaleState("approval.changed", "The content is not what was approved.")
        domain.count_standing(request, given, roles=roles)
    else:
        domain.check_execution(request, given, digest=digest, roles=roles, now=now)
    return approval


def approval_use(approval_id: UUID | str, *, run_id: str, now: datetime) -> Approval:
    """Spend an approval on one run; twice by the same run changes nothing.

    Raises:
        StaleState: another run has used it, or it may not run now.
    """
    with transaction.atomic():
        approval = _locked(approval_id)
        if approval.state == ApprovalState.USED and approval.used_by_run == run_id:
            return approval
        domain.check_execution(
            _request(approval),
            _given(approval),
            digest=approval.digest,
            roles=get_kind(approval.kind).roles,
            now=now,
        )
        approval.used_by_run = run_id
        _end(approval, ApprovalState.USED, reason=f"Used by run {run_id}.", now=now)
        _record("approval.used", approval, actor="lakewarden", now=now, run=run_id)
    return approval


def approval_carried_out(approval: Approval, *, now: datetime) -> None:
    """Spend a locked approval whose last word carried it out; nothing may use it later."""
    _end(approval, ApprovalState.USED, reason="The last approval carried it out.", now=now)
    _record("approval.used", approval, actor="lakewarden", now=now)


def approval_lock(approval_id: UUID | str) -> Approval:
    """Take the locks of an approval and its object, in that order, in the caller's transaction.

    For a service that writes both: it must not begin with the object.
    """
    return _locked(approval_id)


def _decision_kind(text: str) -> DecisionKind:
    try:
        return DecisionKind(text.upper())
    except ValueError:
        raise RuleViolation("approval.verdict", "Say APPROVE or REJECT.") from None


def _locked(approval_id: UUID | str) -> Approval:
    try:
        approval = Approval.objects.select_for_update().get(pk=UUID(str(approval_id)))
    except (Approval.DoesNotExist, ValueError):
        raise NotVisible("approval.unknown", "There is no such approval.") from None
    get_kind(approval.kind).lock_object(approval)
    return approval


def _locked_open(open_key: str) -> Approval | None:
    pk = Approval.objects.filter(open_key=open_key).values_list("pk", flat=True).first()
    approval = _locked(pk) if pk is not None else None
    return approval if approval is not None and approval.open_key == open_key else None


def _approve(approval: Approval, kind: ApprovalKind, now: datetime) -> None:
    cooling = kind.cooling_off
    if cooling is None:
        cooling = timedelta(seconds=settings.LAKEWARDEN_COOLING_OFF_SECONDS)
    approval.state = ApprovalState.APPROVED
    approval.approved_at = now
    approval.cool_until = now + cooling
    # Deciding and using have 72 h each: a late second word must not expire in the cooling-off.
    approval.expires_at = now + max(LAPSE, cooling + timedelta(hours=24))
    approval.save(update_fields=["state", "approved_at", "cool_until", "expires_at"])
    _record("approval.approved", approval, actor="lakewarden", now=now, digest=approval.digest)


def _end(approval: Approval, state: ApprovalState, *, reason: str, now: datetime) -> None:
    """Close the locked row; the compare-and-set catches a caller that did not lock."""
    source = approval.state
    if state not in domain.TRANSITIONS[ApprovalState(source)]:
        raise StaleState("approval.closed", f"This is already {source.lower()}.")
    n_changed = Approval.objects.filter(pk=approval.pk, state=source).update(
        state=state,
        ended_at=now,
        end_reason=reason,
        open_key=None,
        used_by_run=approval.used_by_run,
    )
    if n_changed != 1:
        raise StaleState("approval.closed", "Somebody else was first.")
    approval.refresh_from_db()


def _request(approval: Approval, also_requesters: Collection[str] = ()) -> Request:
    return Request.of(
        state=approval.state,
        digest=approval.digest,
        requesters={*approval_requesters(approval), *also_requesters},
        n_needed=approval.n_needed,
        expires_at=approval.expires_at,
        cool_until=approval.cool_until,
    )


def _person(user: User, lake: str, authenticated_at: datetime | None) -> Person:
    """Read the roles on the lake again: the session's may be older than a revocation."""
    fresh = User.objects.get(pk=user.pk)
    return Person(fresh.username, fresh.roles_on(lake), fresh.is_active, authenticated_at)


def _given(approval: Approval) -> list[Given]:
    return [
        Given(
            one.user.username,
            DecisionKind(one.decision),
            one.digest,
            one.user.roles_on(approval.lake),
            one.user.is_active,
        )
        for one in approval.decisions.select_related("user")
    ]


def _record(action: str, approval: Approval, *, actor: str, now: datetime, **data: object) -> None:
    audit_record(
        action,
        actor=actor,
        lake=approval.lake,
        object_type=approval.kind,
        object_id=approval.object_id,
        data={"approval": str(approval.pk), **data},
        now=now,
    )
