"""Rows of the inbox: what is asked, who asked, how far it is, and who may still decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from portal.access.models import User
from portal.access.selectors import people_with_roles
from portal.approvals.domain import (
    OPEN,
    ApprovalState,
    DecisionKind,
    Given,
    Request,
    standing_approvers,
)
from portal.approvals.models import Approval, Effect, Proposal
from portal.approvals.selectors import Steps, approval_requesters, requesters_shown
from portal.approvals.waiting import Kind

NAMES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands in the list: its time, its kind and its id."""

    at: datetime
    kind: str
    id: UUID


@dataclass(frozen=True, slots=True)
class InboxRow:
    """One proposal as the inbox shows it."""

    id: UUID
    kind: str
    kind_title: str
    title: str
    effect: Effect
    state: str
    reason: str
    requesters: list[str]
    n_given: int
    n_needed: int
    waits_for: list[str]
    """Everybody who may still approve it, by the rule that decides."""
    waiting_since: datetime
    expires_at: datetime | None
    steps: list[str]
    url: str
    place: Place

    @property
    def waits_for_words(self) -> str:
        """Who may still approve it: three names at most, and how many more."""
        names = self.waits_for
        if len(names) <= NAMES_SHOWN:
            return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
        n_more = len(names) - NAMES_SHOWN
        return f"{', '.join(names[:NAMES_SHOWN])} and {n_more} other{'s' if n_more > 1 else ''}"

    @property
    def progress_words(self) -> str:
        """How many have approved of how many who must."""
        return f"{self.n_given} of {self.n_needed}"


def inbox_rows(
    pairs: Sequence[tuple[Kind, Proposal]], user: User, *, newest: bool = False, now: datetime
) -> list[InboxRow]:
    """Return proposals as the inbox shows them: a fixed number of queries for any number."""
    by_kind: dict[str, list[Any]] = {}
    kinds = {kind.name: kind for kind, _ in pairs}
    for kind, one in pairs:
        by_kind.setdefault(kind.name, []).append(one)
    for name, rows in by_kind.items():
        kinds[name].read_requesters([one for one in rows if _is_open(one.approval)])
    roles = frozenset().union(*(kind.roles for kind in kinds.values()))
    named = {name for kind, one in pairs for name in kind.named_deciders(one)}
    people = people_with_roles(roles, also=named) if pairs else []
    return [_row(kind, one, user, people, newest=newest, now=now) for kind, one in pairs]


def _row(
    kind: Kind,
    one: Proposal,
    user: User,
    people: Sequence[User],
    *,
    newest: bool,
    now: datetime,
) -> InboxRow:
    approval = one.approval
    state: str = one.state
    if approval is not None and state == "PENDING" and approval.state == "APPROVED":
        state = "APPROVED"  # of a kind whose approval waits until it begins
    waits = [
        person.username
        for person in people
        if state == "PENDING" and kind.steps(one, person, now=now).approve
    ]
    stored = getattr(one, "requesters", None) or [getattr(one, "requested_by", "")]
    steps = kind.steps(one, user, now=now) if state in ("PENDING", "APPROVED") else Steps()
    return InboxRow(
        id=one.pk,
        kind=kind.name,
        kind_title=kind.title,
        title=one.title,
        effect=one.effect,
        state=state,
        reason=one.reason,
        requesters=requesters_shown(approval, stored),
        n_given=_n_given(kind, one, people),
        n_needed=1 if approval is None else approval.n_needed,
        waits_for=waits,
        waiting_since=place_of((kind, one)).at,
        expires_at=None if approval is None or state != "PENDING" else approval.expires_at,
        steps=steps.names,
        url=kind.url_of(one),
        place=place_of((kind, one), newest=newest),
    )


def _n_given(kind: Kind, one: Proposal, people: Sequence[User]) -> int:
    """Count the approvals that stand, by the rule that counts them when it runs."""
    approval = one.approval
    if approval is None:
        return 0
    roles = {person.pk: person.roles_on(approval.lake) for person in people}
    given = [
        Given(
            said.user.username,
            DecisionKind(said.decision),
            said.digest,
            roles.get(said.user_id, frozenset()),
            said.user.is_active,
        )
        for said in approval.decisions.all()
    ]
    request = Request.of(
        state=approval.state,
        digest=approval.digest,
        requesters=approval_requesters(approval) if _is_open(approval) else approval.requesters,
        n_needed=approval.n_needed,
        expires_at=approval.expires_at,
        cool_until=approval.cool_until,
    )
    return len(standing_approvers(request, given, roles=kind.roles))


def place_of(pair: tuple[Kind, Proposal], *, newest: bool = False) -> Place:
    """Return where a proposal stands in a list; a decision on it does not move it."""
    kind, one = pair
    is_asked = one.approval is not None and not newest
    at = one.approval.created_at if is_asked and one.approval is not None else one.created_at
    return Place(at, kind.name, one.pk)


def _is_open(approval: Approval | None) -> bool:
    return approval is not None and ApprovalState(approval.state) in OPEN
