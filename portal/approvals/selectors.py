"""Queries of the decisions on an object, and of what a person may do with an approval now."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from portal.access.models import User
from portal.approvals.domain import OPEN, ApprovalState, DecisionKind
from portal.approvals.kinds import get_kind
from portal.approvals.models import Approval, Decision

OWN = "You requested it, or last changed what it is based on, so others must approve."
GIVEN = "You have approved it; you may still reject it until it runs."


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps that are open to a person now, and why approving is not; services check again."""

    approve: bool = False
    reject: bool = False
    withdraw: bool = False
    undo: bool = False
    bring_back: bool = False
    blocked_reason: str = ""

    @property
    def names(self) -> list[str]:
        """The steps, as the API gives them."""
        every = ("approve", "reject", "withdraw", "undo", "bring_back")
        return [name for name in every if getattr(self, name)]


def approval_latest(kind: str, object_id: str) -> Approval | None:
    """Return the open approval of an object (there is at most one), else the newest that ended."""
    rows = Approval.objects.filter(kind=kind, object_id=object_id)
    return rows.exclude(open_key=None).first() or rows.order_by("-created_at").first()


def approval_requesters(approval: Approval) -> list[str]:
    """Return everyone who counts as a requester now, sorted.

    Those who were stored when it was asked for stay requesters; who has since changed what it
    rests on comes in addition.
    """
    also = approval.also_requesters
    if also is None:
        also = get_kind(approval.kind).requesters(approval)
    return sorted({*approval.requesters, *also})


def approvers(approval: Approval) -> list[str]:
    """Return who decided on an approval, in order; of one that was given, who gave it."""
    return list(approval.decisions.order_by("at").values_list("user__username", flat=True))


def requesters_shown(approval: Approval | None, stored: Sequence[str]) -> list[str]:
    """Return whom a page names as requesters: as of now while it is open, else as stored."""
    if approval is None or ApprovalState(approval.state) not in OPEN:
        return list(stored)
    return approval_requesters(approval)


def is_requester(approval: Approval, user: User) -> bool:
    """Return whether a person may not approve because the request is theirs."""
    names = {name.casefold() for name in approval_requesters(approval)}
    return user.username.casefold() in names


def decisions_of(approval: Approval | None) -> list[Decision]:
    """Return who said what, in order; nobody where no approval was asked for."""
    if approval is None:
        return []
    return list(approval.decisions.select_related("user").order_by("at"))


def approval_moves(approval: Approval, *, user: User, now: datetime) -> frozenset[str]:
    """Return what the server would let the person do now: APPROVE, REJECT, WITHDRAW.

    A fresh login is asked for when it is done.
    """
    state = ApprovalState(approval.state)
    if state not in OPEN or approval.expires_at <= now:
        return frozenset()
    said = {one.user_id: one.decision for one in approval.decisions.all()}
    moves: set[str] = set()
    if _asked(approval, user) and state is ApprovalState.PENDING and not said:
        moves.add("WITHDRAW")
    if user.roles_on(approval.lake) & get_kind(approval.kind).roles and not moves:
        moves.add(DecisionKind.REJECT)
        may_approve = state is ApprovalState.PENDING and user.pk not in said
        if may_approve and not is_requester(approval, user):
            moves.add(DecisionKind.APPROVE)
    return frozenset(moves)


def steps_of(approval: Approval, user: User, *, now: datetime) -> Steps:
    """Return what an approval lets a person do now, and why not where they might expect it."""
    moves = approval_moves(approval, user=user, now=now)
    is_open = ApprovalState(approval.state) in OPEN and approval.expires_at > now
    blocked_reason = ""
    if is_open and DecisionKind.APPROVE not in moves:
        has_decided = any(one.user_id == user.pk for one in approval.decisions.all())
        if is_requester(approval, user):
            blocked_reason = OWN
            if "WITHDRAW" in moves:
                blocked_reason += " You may withdraw it."
            elif DecisionKind.REJECT in moves:
                blocked_reason += " You may reject it."
        elif has_decided:
            blocked_reason = GIVEN
    return Steps(
        approve=DecisionKind.APPROVE in moves,
        reject=DecisionKind.REJECT in moves,
        withdraw="WITHDRAW" in moves,
        blocked_reason=blocked_reason,
    )


def _asked(approval: Approval, user: User) -> bool:
    return user.username.casefold() in {name.casefold() for name in approval.requesters}
