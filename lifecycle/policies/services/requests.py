"""Opens, answers, withdraws and moves policy requests.

What a person may ask for is `policy_wishes`, `policy_extensions` and `path_waivers`; what must be
written to the lake is done by a run (`policy_apply`), which reads everything again.
"""

import hashlib
import json
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from lifecycle.models import PolicyRequest
from lifecycle.policies.domain.states import REQUEST_TRANSITIONS, RequestKind, RequestState
from lifecycle.policies.selectors.requests import get_request_for_user, may_accept, requests_visible
from portal.access.models import User
from portal.approvals.changes import Changes
from portal.approvals.domain import DecisionInput
from portal.approvals.models import Approval
from portal.approvals.proposals import ProposalKind
from portal.approvals.selectors import Steps, approvers
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.lake.reasons import check_text
from portal.runs.requests.services import run_request

POLICY_KIND = "lifecycle.policy"
APPROVAL_KIND = "lifecycle.policy_request"
_CONTENT = (
    *("lake", "kind", "db", "table", "partition", "tbl_id", "seen_level", "seen_ttl"),
    *("seen_owner", "level", "ttl", "owner", "rule", "days", "until", "reason", "requested_by"),
)


class PolicyRequests(ProposalKind[PolicyRequest]):
    """Policy requests, as proposals; an offer of a table has no approval: its new owner answers.

    No cooling-off: nothing is destroyed, and what is set can be set back.
    """

    name = APPROVAL_KIND
    title = "Policy request"
    model = PolicyRequest
    page = "lifecycle:policy-request"
    transitions = REQUEST_TRANSITIONS
    open_states = frozenset({RequestState.PENDING})
    cooling_off = timedelta(0)
    audited_as = "policy_request"
    audits_moves = True
    reason_key = "note"
    waits_unasked = True
    closed = ("policy_request.closed", "It is already {state}.")
    changed = ("policy_request.changed", "The request is not the one that was read. Reload it.")
    moved_on = (
        "policy_request.closed",
        "The request has changed since this page was loaded. Reload it.",
    )
    not_maker = ("policy_request.withdraw", "Only the requester may withdraw it.")

    def get_for_user(self, proposal_id: UUID | str, *, user: User) -> PolicyRequest:
        """Return one request, or raise NotVisible."""
        return get_request_for_user(proposal_id, user=user)

    def visible(self, lake: str, user: User) -> QuerySet[PolicyRequest]:
        """Return the requests that a person may see."""
        return requests_visible(lake, user)

    def changes(self, proposal: PolicyRequest, user: User) -> Changes | None:
        """Return the last request of the same kind about the same name."""
        same = ("kind", "db", "table", "partition", "rule")
        rows = self.visible(proposal.lake, user).filter(
            created_at__lt=proposal.created_at, **{name: getattr(proposal, name) for name in same}
        )
        last = rows.order_by("-created_at").first()
        return None if last is None else Changes(last, self.url_of(last))

    def may_decide(self, user: User, lake: str) -> bool:
        """Return True: anybody may be the new owner of a table."""
        return True

    def askable(
        self, proposals: QuerySet[PolicyRequest], user: User, lake: str
    ) -> QuerySet[PolicyRequest]:
        """Keep the offers to a person, where their role decides on nothing else."""
        if super().may_decide(user, lake):
            return proposals
        return proposals.filter(kind=RequestKind.HAND_OVER, owner=user.username)

    def named_deciders(self, proposal: PolicyRequest) -> Collection[str]:
        """Return the new owner of a table that is offered."""
        return (proposal.owner,) if proposal.approval_id is None else ()

    def digest_of(self, proposal: PolicyRequest) -> str:
        """Return the digest of what the request says now."""
        return request_digest(proposal)

    def columns(
        self, proposal: PolicyRequest, to: str, *, by: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Return who decided it, and when and why it ended."""
        fields: dict[str, Any] = {"note": reason}
        if by not in ("", self.system):
            fields["decided_by"] = by
        if to != RequestState.RUNNING:
            fields |= {"ended_at": now, "open_key": None}
        return fields

    def facts(self, proposal: PolicyRequest) -> dict[str, Any]:
        """Return what every audit event of a request says."""
        return {"name": proposal.name, "kind": proposal.kind, "digest": proposal.digest}

    def other_steps(self, proposal: PolicyRequest, user: User) -> Steps:
        """Return what a person may do with an offer."""
        if proposal.state != RequestState.PENDING:
            return Steps()
        may = may_accept(proposal, user)
        return Steps(approve=may, reject=may, withdraw=proposal.requested_by == user.username)

    def check_decidable(self, proposal: PolicyRequest) -> None:
        """Refuse a decision on what is not open any more."""
        if proposal.state not in self.open_states:
            raise self.is_closed(proposal)

    def answer(
        self,
        proposal: PolicyRequest,
        *,
        user: User,
        answer: DecisionInput,
        authenticated_at: datetime | None,
        now: datetime,
    ) -> None:
        """Hand a decision to the approval, or take it as the answer to an offer."""
        if proposal.approval_id is None:
            _answer_offer(proposal, user=user, answer=answer, now=now)
            return
        super().answer(
            proposal, user=user, answer=answer, authenticated_at=authenticated_at, now=now
        )

    def withdraw(
        self, proposal_id: UUID | str, *, user: User, reason: str, now: datetime
    ) -> PolicyRequest:
        """Take a request back before anybody answered it; twice it is StaleState."""
        found = self.get_for_user(proposal_id, user=user)
        if found.requested_by != user.username:
            raise NotAllowed(*self.not_maker)
        return super().withdraw(proposal_id, user=user, reason=reason, now=now)

    def on_approved(self, proposal: PolicyRequest, approval: Approval, *, now: datetime) -> None:
        """Have a run carry it out."""
        request_start(proposal, by=", ".join(approvers(approval)), now=now)


REQUESTS = PolicyRequests()
policy_request_decide = REQUESTS.decide
policy_request_withdraw = REQUESTS.withdraw
request_move = REQUESTS.move


def request_open(
    request: PolicyRequest, *, now: datetime, at_once: bool = False, ask_admin: bool = False
) -> PolicyRequest:
    """Store a new request: carried out at once, waiting for an admin's yes, or for who asked.

    The same request that is open already is given; another one about the same thing is refused.
    """
    request.digest = request_digest(request)
    request.open_key = _open_key(request)
    try:
        with transaction.atomic():
            request.save(force_insert=True)
            REQUESTS.audit("asked", request, actor=request.requested_by, now=now)
            if at_once:
                request_start(request, by=request.requested_by, now=now)
            elif ask_admin:
                REQUESTS.ask_one(request, by=request.requested_by, now=now)
    except IntegrityError:
        known = PolicyRequest.objects.filter(open_key=_open_key(request)).first()
        if known is None:
            raise
        if known.digest == request.digest:
            return known
        raise StaleState(
            "policy_request.open",
            f"A request of {known.requested_by} about {known.name} is open. Have it answered or "
            "withdrawn first.",
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


def request_digest(request: PolicyRequest) -> str:
    """Return the sha256 of what a request says; what is approved is exactly that."""
    content = {name: getattr(request, name) for name in _CONTENT}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


@transaction.atomic
def _answer_offer(
    request: PolicyRequest, *, user: User, answer: DecisionInput, now: datetime
) -> None:
    if not may_accept(request, user):
        raise NotAllowed(
            "policy_request.answer", "The new owner, or an admin who did not ask, answers this."
        )
    # The audit chain's end is locked last everywhere, so the row goes first.
    PolicyRequest.objects.select_for_update().filter(pk=request.pk).first()
    reason = answer.reason.strip()
    if answer.decision == "APPROVE":
        request_start(request, by=user.username, now=now)
    elif answer.decision == "REJECT":
        if not reason:
            raise RuleViolation("policy.reason", "Enter a reason for declining.")
        check_text(reason)
        request_move(request, RequestState.REJECTED, by=user.username, reason=reason, now=now)
    else:
        raise RuleViolation("approval.verdict", "Say APPROVE or REJECT.")


def _open_key(request: PolicyRequest) -> UUID:
    """Return the key of what a request is about: one of a kind may be open."""
    what = request.partition or request.rule
    name = (request.lake, request.kind, request.db, request.table, what)
    return uuid5(NAMESPACE_URL, "\n".join(map(str, name)))
