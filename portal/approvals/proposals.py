"""The base of every kind of proposal: how it moves, is decided, withdrawn and ended.

A proposal is a row with a state, a digest and an approval. Each kind says which columns a move
writes, what its errors are called and what follows the last approval; the machine is this one.
Locks are taken in the order approval, proposal, what hangs on it, end of the audit chain.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from portal.access.models import User
from portal.access.roles.domain import ADMIN
from portal.approvals.changes import Compared, stale_content
from portal.approvals.domain import ApprovalState, DecisionInput, DecisionKind
from portal.approvals.kinds import ApprovalKind, register
from portal.approvals.models import Approval, Proposal
from portal.approvals.rows import in_order, may_be_open_to, named, with_decisions
from portal.approvals.selectors import Steps, steps_of
from portal.approvals.services import (
    approval_carried_out,
    approval_decide,
    approval_open,
    approval_withdraw,
)
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, NotVisible, StaleState
from portal.lake.reasons import check_reason, check_text

P = TypeVar("P", bound=Proposal)
ErrorText = tuple[str, str]
"""The code of an error and its message, in which {state} is filled in."""
Narrow = Callable[[QuerySet[Any]], QuerySet[Any]]
MOST_TO_DECIDE = 500

_registered: "dict[str, ProposalKind[Any]]" = {}


class ProposalKind(Compared[P]):
    """One kind of proposal; every method that changes a row runs in one transaction."""

    name: ClassVar[str]
    title: ClassVar[str]
    model: type[P]
    transitions: ClassVar[Mapping[Any, Collection[str]]]
    open_states: ClassVar[frozenset[str]] = frozenset({"PENDING", "APPROVED"})
    ends: ClassVar[Mapping[ApprovalState, str]] = {
        ApprovalState.REJECTED: "REJECTED",
        ApprovalState.LAPSED: "LAPSED",
        ApprovalState.WITHDRAWN: "WITHDRAWN",
    }
    """The state in which the end of its approval leaves a proposal."""
    roles: ClassVar[frozenset[str]] = frozenset({ADMIN})
    cooling_off: ClassVar[timedelta | None] = None
    acts_at_once: ClassVar[bool] = False
    """Whether the last approval carries it out, so that nothing uses the approval later."""
    audited_as: ClassVar[str]
    object_type: ClassVar[str] = ""
    """In the audit record; empty = `audited_as`."""
    system: ClassVar[str] = "system"
    reason_key: ClassVar[str] = "reason"
    """The name under which the audit record has the reason of an end."""
    audits_moves: ClassVar[bool] = False
    """Whether every move is recorded, and not only the ends."""

    page: ClassVar[str] = ""
    """The URL name of the page of one proposal, which takes its id."""
    waits_unasked: ClassVar[bool] = False
    """Whether some proposals wait for a person without an approval."""

    closed: ClassVar[ErrorText]
    changed: ClassVar[ErrorText]
    moved_on: ClassVar[ErrorText]
    no_reason: ClassVar[ErrorText | None] = None
    not_maker: ClassVar[ErrorText | None] = None
    """Refuses who withdraws what was not put to people yet; None = it always is."""

    # What each kind says.

    def get_for_user(self, proposal_id: UUID | str, *, user: User) -> P:
        """Return one proposal, or raise NotVisible, whether it exists or not."""
        raise NotImplementedError

    def about(self, proposals: QuerySet[P], text: str, user: User) -> QuerySet[P]:
        """Keep what is about a database or table whose name begins so, as far as `user` sees."""
        return proposals.filter(named(text))

    def url_of(self, proposal: P) -> str:
        """Return the address of its page."""
        return reverse(self.page, args=[proposal.pk])

    def lake_of(self, proposal: P) -> str:
        """Return the lake of a proposal."""
        lake: str = getattr(proposal, "lake")  # noqa: B009 - not every kind has the column
        return lake

    def digest_of(self, proposal: P) -> str:
        """Return the digest of the content as the rows are now."""
        return proposal.digest

    def requesters(self, proposal: P) -> Collection[str]:
        """Return who counts as a requester now, beside those who were stored."""
        return ()

    def requesters_of(self, proposals: Sequence[P]) -> Mapping[UUID, Collection[str]]:
        """Return the same for many; kinds that read rows for it read them once for all."""
        if type(self).requesters is ProposalKind.requesters:
            return {}
        return {one.pk: self.requesters(one) for one in proposals}

    def askable(self, proposals: QuerySet[P], user: User, lake: str) -> QuerySet[P]:
        """Narrow the waiting proposals of a lake to those that a person might decide."""
        return proposals

    def named_deciders(self, proposal: P) -> Collection[str]:
        """Return who may decide without a role, by name."""
        return ()

    def columns(
        self, proposal: P, to: str, *, by: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Return what a move writes beside the state."""
        return {}

    def facts(self, proposal: P) -> dict[str, Any]:
        """Return what every audit event of a proposal says."""
        return {"digest": proposal.digest}

    def check_answer(self, proposal: P, answer: DecisionInput, *, user: User) -> None:
        """Refuse an answer that the kind does not take."""

    def other_steps(self, proposal: P, user: User) -> Steps:
        """Return what a person may do with a proposal that does not wait for a decision."""
        return Steps()

    def on_approved(self, proposal: P, approval: Approval, *, now: datetime) -> None:
        """Follow the last approval."""
        self.move(proposal, "APPROVED", now=now)
        self.audit("approved", proposal, actor=self.system, now=now)

    # What is the same for all.

    def open(
        self,
        proposal: P,
        *,
        digest: str = "",
        requesters: Collection[str],
        summary: Mapping[str, Any],
        n_needed: int = 2,
        now: datetime,
    ) -> Approval:
        """Ask people about a proposal; the caller stores the approval with it."""
        return approval_open(
            self.name,
            lake=self.lake_of(proposal),
            object_id=str(proposal.pk),
            digest=digest or proposal.digest,
            requesters=list(requesters),
            summary=summary,
            n_needed=n_needed,
            now=now,
        )

    def ask_one(self, proposal: P, *, by: str, now: datetime) -> None:
        """Ask one person about a stored proposal, which has its approval then."""
        words = {"title": str(proposal), "reason": proposal.reason}
        proposal.approval = self.open(proposal, requesters=[by], summary=words, n_needed=1, now=now)
        proposal.save(update_fields=["approval"])

    def move(
        self,
        proposal: P,
        to: str,
        *,
        now: datetime,
        by: str = "",
        reason: str = "",
        **fields: Any,
    ) -> None:
        """Move a proposal to another state by compare-and-set; the object follows.

        Raises:
            StaleState: it is no longer where this object says, or the step does not exist.
        """
        source = proposal.state
        fields = self.columns(proposal, to, by=by, reason=reason, now=now) | fields
        allowed = to in self.transitions.get(source, ())
        rows = self.model._default_manager.filter(pk=proposal.pk, state=source)
        if not (allowed and rows.update(state=to, **fields)):
            code, message = self.moved_on
            raise StaleState(code, message, id=proposal.pk, state=source, to=to)
        proposal.state = to
        for name, value in fields.items():
            setattr(proposal, name, value)
        if self.audits_moves:
            self._audit_move(proposal, to, by=by, reason=reason, now=now)

    def end(self, proposal: P, to: str, *, by: str, reason: str, now: datetime) -> None:
        """Move a proposal to an end and record who ended it and why."""
        self.move(proposal, to, by=by, reason=reason, now=now)
        if not self.audits_moves:
            self._audit_move(proposal, to, by=by, reason=reason, now=now)

    def audit(self, what: str, proposal: P, *, actor: str, now: datetime, **data: Any) -> None:
        """Write what happened into the audit chain, in the caller's transaction."""
        audit_record(
            f"{self.audited_as}.{what}",
            actor=actor,
            lake=self.lake_of(proposal),
            object_type=self.object_type or self.audited_as,
            object_id=str(proposal.pk),
            data={**self.facts(proposal), **data},
            now=now,
        )

    def decide(
        self,
        proposal_id: UUID | str,
        *,
        user: User,
        answer: DecisionInput,
        authenticated_at: datetime | None,
        now: datetime,
    ) -> P:
        """Record one person's decision on exactly the content with the digest that they read.

        Raises:
            NotVisible, NotAllowed: not this person's to see or to decide, or no fresh login.
            StaleState: it waits for no decision, is not what was read, or was decided already.
            RuleViolation: a rejection without a reason.
        """
        found = self.get_for_user(proposal_id, user=user)
        self.check_decidable(found)
        if not answer.digest == found.digest == self.digest_of(found):
            is_told, page = self.may_decide(user, self.lake_of(found)), self.url_of(found)
            raise stale_content(self.changed, found, read=answer.digest, is_told=is_told, page=page)
        if self.no_reason is not None and answer.decision == DecisionKind.REJECT:
            check_reason(answer.reason, *self.no_reason)
        self.check_answer(found, answer, user=user)
        self.answer(found, user=user, answer=answer, authenticated_at=authenticated_at, now=now)
        return self.get_for_user(proposal_id, user=user)

    def check_decidable(self, proposal: P) -> None:
        """Refuse a decision on what does not wait for one."""
        if proposal.state not in self.open_states or proposal.approval_id is None:
            raise self.is_closed(proposal)

    def answer(
        self,
        proposal: P,
        *,
        user: User,
        answer: DecisionInput,
        authenticated_at: datetime | None,
        now: datetime,
    ) -> None:
        """Hand a decision to the approval."""
        if proposal.approval_id is None:
            raise self.is_closed(proposal)
        approval_decide(
            proposal.approval_id,
            user=user,
            decision=answer.decision,
            reason=answer.reason.strip(),
            digest=answer.digest,
            authenticated_at=authenticated_at,
            now=now,
        )

    @transaction.atomic
    def withdraw(self, proposal_id: UUID | str, *, user: User, reason: str, now: datetime) -> P:
        """Take a proposal back, by who asked for it, until the first decision.

        Raises:
            NotVisible, NotAllowed: not this person's to see or to take back.
            StaleState: somebody has decided already, or it is closed; so it is the second time.
        """
        found = self.get_for_user(proposal_id, user=user)
        if found.state == "PENDING" and found.approval_id is not None:
            approval_withdraw(found.approval_id, user=user, reason=reason, now=now)
            return self.get_for_user(proposal_id, user=user)
        if self.not_maker is None:
            raise self.is_closed(found)
        if user.username != getattr(found, "requested_by", None):
            raise NotAllowed(*self.not_maker)
        check_text(reason)
        to = self.ends[ApprovalState.WITHDRAWN]
        self.end(found, to, by=user.username, reason=reason.strip(), now=now)
        return found

    def steps(self, proposal: P, user: User, *, now: datetime) -> Steps:
        """Return what the server would let a person do with a proposal."""
        if proposal.state in self.open_states and proposal.approval is not None:
            return steps_of(proposal.approval, user, now=now)
        return self.other_steps(proposal, user)

    def may_decide(self, user: User, lake: str) -> bool:
        """Return whether a person decides on a lake's proposals of this kind at all."""
        return bool(user.roles_on(lake) & self.roles)

    def to_decide(
        self, lake: str, user: User, *, now: datetime, among: Narrow | None = None
    ) -> list[P]:
        """Return the proposals that wait for a person's approval, the oldest first.

        A fixed number of queries for any number of them. `among` narrows them further.
        """
        if not self.may_decide(user, lake):
            return []
        waiting = self.askable(self.visible(lake, user).filter(state="PENDING"), user, lake)
        narrowed = waiting if among is None else among(waiting)
        rows = list(in_order(with_decisions(narrowed))[:MOST_TO_DECIDE])
        self.read_requesters([one for one in rows if may_be_open_to(one, user)])
        return [one for one in rows if self.steps(one, user, now=now).approve]

    def read_requesters(self, proposals: Sequence[P]) -> None:
        """Read who counts as a requester of each, so that nothing is asked a row."""
        unread = [(one, one.approval) for one in proposals if one.approval is not None]
        unread = [(one, its) for one, its in unread if its.also_requesters is None]
        also = self.requesters_of([one for one, _ in unread])
        for one, approval in unread:
            approval.also_requesters = also.get(one.pk, ())

    def register(self) -> None:
        """Tell the platform of the approval behind every proposal of this kind."""
        _registered[self.name] = self
        register(
            ApprovalKind(
                name=self.name,
                title=self.title,
                roles=self.roles,
                lock_object=self._lock,
                requesters=self._requesters,
                on_approved=self._approved,
                on_ended=self._ended,
                cooling_off=self.cooling_off,
            )
        )

    def proposal_of(self, approval: Approval) -> P:
        """Return the proposal that an approval is about."""
        return self.model._default_manager.get(pk=approval.object_id)

    def _lock(self, approval: Approval) -> None:
        self.model._default_manager.select_for_update().filter(pk=approval.object_id).first()

    def _requesters(self, approval: Approval) -> Collection[str]:
        if type(self).requesters is ProposalKind.requesters:
            return ()  # without reading the row: lists ask this for each of theirs
        return self.requesters(self.proposal_of(approval))

    def _approved(self, approval: Approval, now: datetime) -> None:
        proposal = self.proposal_of(approval)
        if not approval.digest == proposal.digest == self.digest_of(proposal):
            raise StaleState(*self.changed)
        self.on_approved(proposal, approval, now=now)
        if self.acts_at_once:
            approval_carried_out(approval, now=now)

    def _ended(self, approval: Approval, by: str, now: datetime) -> None:
        try:
            proposal = self.proposal_of(approval)
        except ObjectDoesNotExist:
            return  # it was deleted with what it is about, as a pipeline's requests are
        if proposal.state not in self.open_states:
            return  # it ended for a reason of its own
        to = self.ends[ApprovalState(approval.state)]
        self.end(proposal, to, by=by or self.system, reason=approval.end_reason, now=now)

    def _audit_move(self, proposal: P, to: str, *, by: str, reason: str, now: datetime) -> None:
        said = {self.reason_key: reason}
        self.audit(to.lower(), proposal, actor=by or self.system, now=now, **said)

    def is_closed(self, proposal: P) -> StaleState:
        """Return the error of a step on what waits for no decision."""
        code, message = self.closed
        return StaleState(code, message.format(state=proposal.state.lower()))


def proposal_kinds() -> "list[ProposalKind[Any]]":
    """Return every kind that registered, by name."""
    return [_registered[name] for name in sorted(_registered)]


def get_proposal_kind(name: str) -> "ProposalKind[Any]":
    """Return a kind by name.

    Raises:
        NotVisible: `approval.kind`, none of that name registered.
    """
    if name not in _registered:
        raise NotVisible("approval.kind", f"No approval of the kind '{name}' is known.", kind=name)
    return _registered[name]
