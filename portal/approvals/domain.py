"""Rules of approvals: who may decide, the resulting state, and what may run now. Pure."""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from portal.lake.errors import NotAllowed, RuleViolation, StaleState

LAPSE = timedelta(hours=72)
FRESH = timedelta(minutes=15)
MIN_REASON = 3


class ApprovalState(StrEnum):
    """The states of an approval; only PENDING and APPROVED are open."""

    PENDING = "PENDING"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    LAPSED = "LAPSED"
    WITHDRAWN = "WITHDRAWN"
    USED = "USED"


class DecisionKind(StrEnum):
    """What a person may say."""

    APPROVE = "APPROVE"
    REJECT = "REJECT"


OPEN = frozenset({ApprovalState.PENDING, ApprovalState.APPROVED})
TRANSITIONS: dict[ApprovalState, frozenset[ApprovalState]] = {
    ApprovalState.PENDING: frozenset(
        {
            ApprovalState.APPROVED,
            ApprovalState.REJECTED,
            ApprovalState.LAPSED,
            ApprovalState.WITHDRAWN,
        }
    ),
    # A rejection still ends what was approved, until it is used.
    ApprovalState.APPROVED: frozenset(
        {
            ApprovalState.USED,
            ApprovalState.REJECTED,
            ApprovalState.LAPSED,
            ApprovalState.WITHDRAWN,
        }
    ),
    ApprovalState.REJECTED: frozenset(),
    ApprovalState.LAPSED: frozenset(),
    ApprovalState.WITHDRAWN: frozenset(),
    ApprovalState.USED: frozenset(),
}


@dataclass(frozen=True, slots=True)
class Request:
    """What an approval asks, as far as the rules look at it."""

    state: ApprovalState
    digest: str
    requesters: frozenset[str]
    n_needed: int
    expires_at: datetime
    cool_until: datetime | None = None

    @classmethod
    def of(
        cls,
        *,
        state: str,
        digest: str,
        requesters: Collection[str],
        n_needed: int,
        expires_at: datetime,
        cool_until: datetime | None,
    ) -> "Request":
        """Build from stored values; names are compared without regard to case."""
        names = frozenset(name.casefold() for name in requesters)
        return cls(ApprovalState(state), digest, names, n_needed, expires_at, cool_until)


@dataclass(frozen=True, slots=True)
class Person:
    """Who wants to decide; a superuser is a person like any other."""

    username: str
    roles: frozenset[str]
    """Those that they have on the lake that it is about."""
    is_active: bool
    authenticated_at: datetime | None


@dataclass(frozen=True, slots=True)
class DecisionInput:
    """What a person sent in, not judged yet, and the digest of what they read."""

    decision: str
    reason: str
    digest: str
    typed: str = ""
    """The name that a big plan asks for."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person says, and about which content."""

    decision: DecisionKind
    reason: str
    digest: str


@dataclass(frozen=True, slots=True)
class Given:
    """A decision that stands, with the roles its author has now on the lake that it is about."""

    username: str
    decision: DecisionKind
    digest: str
    roles: frozenset[str]
    is_active: bool


def check_decision(
    request: Request, person: Person, answer: Answer, *, roles: frozenset[str], now: datetime
) -> None:
    """Refuse a decision that may not be taken.

    Raises:
        NotAllowed: not in the role, a requester's approval, or the login is not fresh.
        StaleState: no longer open, expired, or the content is not what the person saw.
        RuleViolation: a rejection without a reason.
    """
    if not person.is_active or not person.roles & roles:
        raise NotAllowed("approval.role", "Your role may not decide on this.")
    # A requester may still say no: stopping is always safe.
    is_own = person.username.casefold() in request.requesters
    if is_own and answer.decision is DecisionKind.APPROVE:
        raise NotAllowed(
            "approval.own",
            "You requested this or last changed what it is based on, so others must decide.",
        )
    if request.state not in OPEN or (
        request.state is ApprovalState.APPROVED and answer.decision is DecisionKind.APPROVE
    ):
        raise StaleState("approval.closed", f"This is already {request.state.lower()}.")
    if request.expires_at <= now:
        raise StaleState("approval.lapsed", "This expired; it has to be requested again.")
    if answer.digest != request.digest:
        raise StaleState(
            "approval.changed", "The content changed since you opened it. Read it again, please."
        )
    check_fresh(person.authenticated_at, now)
    if answer.decision is DecisionKind.REJECT and len(answer.reason.strip()) < MIN_REASON:
        raise RuleViolation("approval.reason", "Enter a reason for rejecting it.")


def check_fresh(authenticated_at: datetime | None, now: datetime) -> None:
    """Refuse when the password was not given within the last 15 minutes."""
    if authenticated_at is None or not timedelta(0) <= now - authenticated_at <= FRESH:
        raise NotAllowed(
            "approval.fresh_login", "Log in again first: this needs a login of the last 15 minutes."
        )


def state_after(
    request: Request, given: Sequence[Given], *, roles: frozenset[str]
) -> ApprovalState:
    """Return the state that the decisions amount to: one rejection ends it.

    Only those count who are still entitled and have not become requesters since their decision.
    """
    if any(one.decision is DecisionKind.REJECT for one in given):
        return ApprovalState.REJECTED
    if len(standing_approvers(request, given, roles=roles)) >= request.n_needed:
        return ApprovalState.APPROVED
    return ApprovalState.PENDING


def check_execution(
    request: Request,
    given: Sequence[Given],
    *,
    digest: str,
    roles: frozenset[str],
    now: datetime,
) -> None:
    """Refuse to run what is not approved as it stands now.

    Raises:
        StaleState: other content, not approved, expired, still cooling off, or too few of those
            who approved are still in their role.
    """
    if digest != request.digest:
        raise StaleState("approval.changed", "The content is not what was approved.")
    if request.state is not ApprovalState.APPROVED:
        raise StaleState("approval.not_approved", f"This is {request.state.lower()}, not approved.")
    if request.expires_at <= now:
        raise StaleState("approval.lapsed", "The approval expired before it was used.")
    if request.cool_until is None or now < request.cool_until:
        raise StaleState("approval.cooling_off", "The cooling-off time is not over yet.")
    count_standing(request, given, roles=roles)


def count_standing(request: Request, given: Sequence[Given], *, roles: frozenset[str]) -> None:
    """Refuse when too few distinct, entitled people stand behind the content.

    Raises:
        StaleState: fewer than needed.
    """
    standing = standing_approvers(request, given, roles=roles)
    if len(standing) < request.n_needed:
        raise StaleState(
            "approval.approvers",
            "Somebody who approved this is no longer in the role, or has since changed what it "
            "is based on; it has to be requested again.",
            standing=len(standing),
            needed=request.n_needed,
        )


def standing_approvers(
    request: Request, given: Sequence[Given], *, roles: frozenset[str]
) -> frozenset[str]:
    """Return those whose approval counts now: entitled, of this content, and no requesters."""
    approvers = frozenset(
        one.username.casefold()
        for one in given
        if one.decision is DecisionKind.APPROVE
        and one.digest == request.digest
        and one.is_active
        and one.roles & roles
    )
    return approvers - request.requesters


def content_digest(content: Any) -> str:
    """Return the sha256 of what a proposal says, as plain values; just that is approved."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
