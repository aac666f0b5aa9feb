"""Any order of asking, deciding, changing, waiting and leaving: nothing runs without two people."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Group
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from portal.access.models import User
from portal.approvals.domain import ApprovalState
from portal.approvals.kinds import ApprovalKind, register
from portal.approvals.models import Approval
from portal.approvals.services import (
    approval_check,
    approval_decide,
    approval_open,
    approval_withdraw,
    approvals_lapse,
)
from portal.lake.errors import PortalError
from tests.component.conftest import LAKE, People

KIND = "test.machine"
COOL = timedelta(hours=1)
PEOPLE = ("ada", "ben", "cem", "otto", "stan")
DIGESTS = ("d1", "d2")


class Approvals(RuleBasedStateMachine):
    """Keeps its own plain account of who may stand behind what, and compares."""

    def __init__(self) -> None:
        super().__init__()
        self.saved = transaction.savepoint()
        self.now = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
        self.admins = {"ada", "ben", "cem"}
        self.requester = ""
        self.digest = ""
        self.yes: dict[str, datetime] = {}
        self.ended = True
        self.asked_at = self.now
        self.approved_at: datetime | None = None

    def teardown(self) -> None:
        transaction.savepoint_rollback(self.saved)

    @rule(who=st.sampled_from(PEOPLE), digest=st.sampled_from(DIGESTS))
    def ask(self, who: str, digest: str) -> None:
        approval_open(
            KIND,
            lake=LAKE,
            object_id="p",
            digest=digest,
            requesters=[who],
            summary={},
            now=self.now,
        )
        if self.ended or digest != self.digest:
            self.requester, self.digest, self.yes = who, digest, {}
            self.ended, self.asked_at, self.approved_at = False, self.now, None

    @rule(
        who=st.sampled_from(PEOPLE),
        verdict=st.sampled_from(["APPROVE", "APPROVE", "APPROVE", "REJECT"]),
        digest=st.sampled_from(DIGESTS),
        login_minutes=st.sampled_from([0, 5, 20]),
    )
    def decide(self, who: str, verdict: str, digest: str, login_minutes: int) -> None:
        approval = self._newest()
        if approval is None:
            return
        try:
            approval_decide(
                approval.pk,
                user=User.objects.get(username=who),
                verdict=verdict,
                reason="because",
                digest=digest,
                authenticated_at=self.now - timedelta(minutes=login_minutes),
                now=self.now,
            )
        except PortalError:
            return
        # It was taken, so by our own account it must have been allowed.
        assert who in self.admins
        assert who != self.requester
        assert digest == self.digest
        assert login_minutes <= 15
        assert not self.ended
        if verdict == "REJECT":
            self.ended, self.yes = True, {}
        else:
            assert who not in self.yes
            assert self.approved_at is None
            self.yes[who] = self.now
            if len(self.yes) == 2:
                self.approved_at = self.now

    @rule(who=st.sampled_from(PEOPLE))
    def withdraw(self, who: str) -> None:
        approval = self._newest()
        if approval is None:
            return
        try:
            approval_withdraw(
                approval.pk, user=User.objects.get(username=who), reason="", now=self.now
            )
        except PortalError:
            return
        assert who == self.requester
        assert not self.yes
        self.ended = True

    @rule(minutes=st.sampled_from([1, 30, 61, 24 * 60]))
    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule()
    def lapse(self) -> None:
        approvals_lapse(self.now)
        began = self.approved_at or self.asked_at
        if self.now - began >= timedelta(hours=72):
            self.ended = True

    @rule(who=st.sampled_from(["ada", "ben", "cem"]))
    def leave_or_join(self, who: str) -> None:
        user, group = User.objects.get(username=who), Group.objects.get(name="admin")
        if who in self.admins:
            user.groups.remove(group)
            self.admins.discard(who)
        else:
            user.groups.add(group)
            self.admins.add(who)

    @invariant()
    def it_runs_only_for_two_who_still_stand_behind_it(self) -> None:
        for digest in DIGESTS:
            try:
                approval_check(KIND, object_id="p", digest=digest, now=self.now)
            except PortalError:
                may = False
            else:
                may = True
            standing = {who for who in self.yes if who in self.admins and who != self.requester}
            expected = (
                not self.ended
                and digest == self.digest
                and self.approved_at is not None
                and len(standing) >= 2
                and self.approved_at + COOL <= self.now
                and self.now - self.approved_at < timedelta(hours=72)
            )
            assert may == expected

    @invariant()
    def at_most_one_is_open(self) -> None:
        assert Approval.objects.filter(state__in=["PENDING", "APPROVED"]).count() <= 1

    def _newest(self) -> Approval | None:
        open_states = [ApprovalState.PENDING, ApprovalState.APPROVED]
        return (
            Approval.objects.filter(state__in=open_states).first()
            or Approval.objects.order_by("-created_at").first()
        )


@pytest.mark.django_db
def test_nothing_runs_without_two_people_in_any_order(people: People) -> None:
    register(ApprovalKind(KIND, cooling_off=COOL))
    run_state_machine_as_test(
        Approvals,
        settings=settings(
            max_examples=40,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
