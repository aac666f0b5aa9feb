"""Opens, answers, withdraws and moves policy requests.

What a person may ask for is `policy_wishes`, `policy_extensions` and `path_waivers`; what must be
written to the lake is done by a run (`policy_apply`), which reads everything again.
"""

import hashlib
import json
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from django.db import IntegrityError, transaction

from lifecycle.models import PolicyRequest
from lifecycle.policies.domain.states import REQUEST_TRANSITIONS, RequestState
from lifecycle.policies.selectors.requests import get_request_for_user, may_accept
from portal.access.models import User
from portal.approvals.domain import SaidWord
from portal.approvals.services import approval_decide, approval_open, approval_withdraw
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.lake.reasons import check_text
from portal.runs.requests.services import run_request

POLICY_KIND = "lifecycle.policy"
APPROVAL_KIND = "lifecycle.policy_request"
_CONTENT = (
    *("lake", "kind", "db", "table", "partition", "tbl_id", "seen_level", "seen_ttl"),
    *("seen_owner", "level", "ttl", "owner", "rule", "days", "until", "reason", "requested_by"),
)


def policy_request_decide(
    request_id: UUID | str,
    *,
    user: User,
    word: SaidWord,
    authenticated_at: datetime | None,
    now: datetime,
) -> PolicyRequest:
    """Say yes or no to exactly the request that was read: an admin, or a table's new owner.

    Raises:
        NotAllowed: not this person's to decide, their own wish, or no fresh login.
        StaleState: it is not open any more, or not the one that was read.
        RuleViolation: a no without a reason.
    """
    request = get_request_for_user(request_id, user=user)
    if request.state != RequestState.PENDING:
        raise StaleState("policy_request.closed", f"It is already {request.state.lower()}.")
    if word.digest != request_digest(request):
        raise StaleState(
            "policy_request.changed", "The request is not the one that you read. Reload it."
        )
    if request.approval_id is not None:
        approval_decide(
            request.approval_id,
            user=user,
            verdict=word.verdict,
            reason=word.reason,
            digest=word.digest,
            authenticated_at=authenticated_at,
            now=now,
        )
    else:
        _answer_offer(request, user=user, word=word, now=now)
    return get_request_for_user(request_id, user=user)


@transaction.atomic
def policy_request_withdraw(
    request_id: UUID | str, *, user: User, reason: str, now: datetime
) -> PolicyRequest:
    """Take a request back before anybody answered it; twice it is StaleState."""
    request = get_request_for_user(request_id, user=user)
    if request.requested_by != user.username:
        raise NotAllowed("policy_request.withdraw", "Only who asked for it may take it back.")
    if request.approval_id is not None:
        approval_withdraw(request.approval_id, user=user, reason=reason, now=now)
    else:
        check_text(reason)
        request_move(
            request, RequestState.WITHDRAWN, by=user.username, note=reason.strip(), now=now
        )
    return get_request_for_user(request_id, user=user)


def request_open(
    request: PolicyRequest, *, now: datetime, at_once: bool = False, ask_admin: bool = False
) -> PolicyRequest:
    """Store a new request: carried out at once, waiting for an admin's yes, or for who asked.

    The same wish that is open already is given; another one about the same thing is refused.
    """
    request.digest = request_digest(request)
    request.open_key = _open_key(request)
    try:
        with transaction.atomic():
            request.save(force_insert=True)
            _audit("policy_request.asked", request, actor=request.requested_by, now=now)
            if at_once:
                request_start(request, by=request.requested_by, now=now)
            elif ask_admin:
                _ask_an_admin(request, now=now)
    except IntegrityError:
        known = PolicyRequest.objects.filter(open_key=_open_key(request)).first()
        if known is None:
            raise
        if known.digest == request.digest:
            return known
        raise StaleState(
            "policy_request.open",
            f"A request of {known.requested_by} about {known.name} is open. Have it answered or "
            "taken back first.",
        ) from None
    return request


def request_start(request: PolicyRequest, *, by: str, now: datetime) -> None:
    """Have a run carry a request out, inside the caller's transaction."""
    run = run_request(
        POLICY_KIND,
        lake=request.lake,
        params={"request": str(request.pk)},
        requested_by=request.requested_by,
        reason=request.reason,
        unique_key=f"policy:{request.pk}",
        subject=("policy_request", str(request.pk)),
        now=now,
    )
    request_move(request, RequestState.RUNNING, by=by, now=now, run=run)


def request_move(
    request: PolicyRequest,
    to: RequestState,
    *,
    now: datetime,
    by: str = "",
    note: str = "",
    **fields: Any,
) -> None:
    """Move a request by compare-and-set, in the caller's transaction; the object follows.

    Raises:
        StaleState: it is no longer where this object says, or the step does not exist.
    """
    source = RequestState(request.state)
    fields |= {"decided_by": by or request.decided_by, "note": note}
    if to is not RequestState.RUNNING:
        fields |= {"ended_at": now, "open_key": None}
    allowed = to in REQUEST_TRANSITIONS[source]
    rows = PolicyRequest.objects.filter(pk=request.pk, state=source)
    if not (allowed and rows.update(state=to, **fields)):
        raise StaleState(
            "policy_request.closed", "The request has moved on since this page was made. Reload it."
        )
    request.state = to
    for name, value in fields.items():
        setattr(request, name, value)
    _audit(f"policy_request.{to.lower()}", request, actor=by or "system", now=now, note=note)


def request_digest(request: PolicyRequest) -> str:
    """Return the sha256 of what a request says; what is approved is exactly that."""
    content = {name: getattr(request, name) for name in _CONTENT}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _ask_an_admin(request: PolicyRequest, *, now: datetime) -> None:
    request.approval = approval_open(
        APPROVAL_KIND,
        lake=request.lake,
        object_id=str(request.pk),
        digest=request.digest,
        requesters=[request.requested_by],
        summary={"title": str(request), "reason": request.reason},
        n_needed=1,
        now=now,
    )
    request.save(update_fields=["approval"])


@transaction.atomic
def _answer_offer(request: PolicyRequest, *, user: User, word: SaidWord, now: datetime) -> None:
    if not may_accept(request, user):
        raise NotAllowed(
            "policy_request.answer", "The new owner, or an admin who did not ask, answers this."
        )
    # The audit chain's end is locked last everywhere, so the row goes first.
    PolicyRequest.objects.select_for_update().filter(pk=request.pk).first()
    reason = word.reason.strip()
    if word.verdict == "APPROVE":
        request_start(request, by=user.username, now=now)
    elif word.verdict == "REJECT":
        if not reason:
            raise RuleViolation("policy.reason", "Say why you do not take it.")
        check_text(reason)
        request_move(request, RequestState.REJECTED, by=user.username, note=reason, now=now)
    else:
        raise RuleViolation("approval.verdict", "Say APPROVE or REJECT.")


def _open_key(request: PolicyRequest) -> UUID:
    """Return the key of what a request is about: one of a kind may be open."""
    what = request.partition or request.rule
    name = (request.lake, request.kind, request.db, request.table, what)
    return uuid5(NAMESPACE_URL, "\n".join(map(str, name)))


def _audit(
    action: str, request: PolicyRequest, *, actor: str, now: datetime, **data: object
) -> None:
    audit_record(
        action,
        actor=actor,
        lake=request.lake,
        object_type="policy_request",
        object_id=str(request.pk),
        data={"name": request.name, "kind": request.kind, "digest": request.digest, **data},
        now=now,
    )
