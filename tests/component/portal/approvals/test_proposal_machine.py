"""The approval machine over every kind of proposal: no kind runs without its people."""

from datetime import datetime
from typing import Any

import pytest
from hypothesis.stateful import invariant, run_state_machine_as_test

from portal.access.models import User
from portal.approvals.domain import ApprovalState, DecisionInput
from portal.approvals.models import Approval, Proposal
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.portal.approvals.machine_limits import EXAMPLES, limits
from tests.component.portal.approvals.proposal_rows import CASES, COOL, Case
from tests.component.portal.approvals.test_approval_machine import PEOPLE, Approvals


class Proposals(Approvals):
    """The same machine over the proposals of one kind, as its pages and API move them."""

    case: Case

    def __init__(self) -> None:
        super().__init__()
        self.n_made = 0
        self.proposal: Proposal | None = None

    def put(self, who: str, digest: str) -> bool:
        """Make another proposal once the last has ended."""
        if not self.ended:
            return False
        self.proposal = self.case.ask(who, self.now, self.n_made)
        self.asked = self.proposal.digest
        self.n_made += 1
        return True

    def say(
        self, approval: Approval, who: str, answer: DecisionInput, *, authenticated_at: datetime
    ) -> None:
        """Let a person decide on the proposal."""
        self.case.kind.decide(
            approval.object_id,
            user=User.objects.get(username=who),
            answer=answer,
            authenticated_at=authenticated_at,
            now=self.now,
        )

    def take_back(self, approval: Approval, who: str) -> None:
        """Let a person withdraw the proposal."""
        user = User.objects.get(username=who)
        self.case.kind.withdraw(approval.object_id, user=user, reason="", now=self.now)

    @invariant()
    def the_proposal_follows_its_approval(self) -> None:
        if self.proposal is None:
            return
        found = self.case.kind.model._default_manager.get(pk=self.proposal.pk)
        assert found.approval is not None
        state = ApprovalState(found.approval.state)
        expected = {
            ApprovalState.PENDING: "PENDING",
            ApprovalState.APPROVED: self.case.approved,
            ApprovalState.USED: self.case.approved,
            **self.case.kind.ends,
        }[state]
        if self.approved_at and self.case.approved not in self.case.kind.open_states:
            # The last word set it going; that its approval lapses later takes nothing back.
            expected = self.case.approved
        assert found.state == expected
        for name in (who for who in PEOPLE if self._is_admin(who)):
            steps = self.case.kind.steps(found, User.objects.get(username=name), now=self.now)
            assert not (steps.approve and name in self._requesters())

    def _requesters(self) -> set[str]:
        changers = self.account.last.values() if self.case.rests_on_policy else ()
        return {self.asker, *changers}


@pytest.mark.django_db
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", CASES)
def test_no_kind_of_proposal_runs_without_its_people_in_any_order(
    name: str, people: People, lake: LakeConfig, settings: Any
) -> None:
    case = CASES[name]
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = COOL.total_seconds()
    values = {
        "case": case,
        "cool": case.cool,
        "n_needed": case.n_needed,
        "acts_at_once": case.kind.acts_at_once,
    }
    run_state_machine_as_test(
        type("Machine", (Proposals,), values),
        settings=limits(max(EXAMPLES // 10, 1)),
    )
