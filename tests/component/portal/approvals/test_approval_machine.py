"""Any order of asking, deciding, changing, waiting and leaving: nothing runs without two people.

Before every step TTL, LEVEL, owner, a hold or a role may change, here or at the metastore; the
requesters are the product's own (`requesters_of`), compared with a plain account of this test.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Group
from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from lifecycle.backup.domain.states import HoldKind
from lifecycle.backup.models import Hold
from lifecycle.backup.services.holds import hold_place, hold_release
from lifecycle.planning.services.parties import requesters_of
from portal.access.models import User
from portal.approvals.domain import ApprovalState, DecisionInput
from portal.approvals.kinds import ApprovalKind, register
from portal.approvals.models import Approval
from portal.approvals.services import (
    approval_check,
    approval_decide,
    approval_open,
    approval_use,
    approval_withdraw,
    approvals_lapse,
)
from portal.audit.services import audit_record
from portal.lake.errors import PortalError
from tests.component.conftest import LAKE, People
from tests.component.portal.approvals.machine_limits import EXAMPLES, limits
from tests.component.portal.approvals.proposal_rows import COOL

KIND = "test.machine"
PEOPLE = ("ada", "ben", "cem", "otto", "stan")
ADMINS = ("ada", "ben", "cem")
DIGESTS = ("d1", "d2")
SECOND = timedelta(seconds=1)
Values = tuple[int, int]


@dataclass(frozen=True)
class Change:
    """One change that happens before a step."""

    what: str
    who: str
    values: Values = (1, 60)
    pick: int = 0


def changes() -> st.SearchStrategy[Change | None]:
    """Draw a change of the policy, the owner, a hold or a role, or none."""
    return st.none() | st.builds(
        Change,
        what=st.sampled_from(["here", "there", "owner", "hold", "release", "role"]),
        who=st.sampled_from(ADMINS),
        values=st.tuples(st.sampled_from([0, 1]), st.sampled_from([1, 60, 365])),
        pick=st.integers(0, 3),
    )


@dataclass
class Account:
    """The plain account of who changed what last."""

    values: Values = (1, 365)
    last: dict[str, str] = field(default_factory=dict)
    held: list[tuple[Hold, HoldKind]] = field(default_factory=list)
    admins: set[str] = field(default_factory=lambda: set(ADMINS))

    def set_values(self, who: str, after: Values) -> None:
        """Note who set LEVEL and TTL, each if it changed."""
        for name, old, new in zip(("level", "ttl"), self.values, after, strict=True):
            if old != new:
                self.last[name] = who
        self.values = after


def policy_event(change: Change, before: Values, *, here: bool, who: str, now: datetime) -> None:
    """Record what the portal or the metastore's guard leaves behind after a change."""

    def said(values: Values) -> dict[str, object]:
        level, ttl = values
        return {"level": level, "ttl": ttl} if here else {"LEVEL": str(level), "TTL": str(ttl)}

    keys = ("from", "to") if here else ("before", "after")
    through = {"through": "portal"} if here else {"happened_at": now.isoformat()}
    audit_record(
        "policy.changed",
        actor=who,
        lake=LAKE,
        object_type="table",
        object_id="sales.orders",
        data={keys[0]: said(before), keys[1]: said(change.values), **through},
        now=now,
    )


def requesters(_approval: Approval) -> Collection[str]:
    """Return the requesters as the product computes them for drops of the table."""
    return requesters_of(LAKE, maker="otto", tables={("sales", "orders")}, wishes=())


class Approvals(RuleBasedStateMachine):
    """Keeps its own plain account of who may stand behind what, and compares."""

    cool = COOL
    n_needed = 2
    acts_at_once = False
    """Whether the last approval carries out what is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.saved = transaction.savepoint()
        self.now = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
        self.account = Account()
        self.asker = ""
        self.asked = ""
        self.digest = ""
        self.yes: set[str] = set()
        self.ended = True
        self.used = False
        self.requested_at = self.now
        self.approved_at: datetime | None = None

    def teardown(self) -> None:
        transaction.savepoint_rollback(self.saved)

    def put(self, who: str, digest: str) -> bool:
        """Ask people about a content; says whether it was asked."""
        approval_open(
            KIND,
            lake=LAKE,
            object_id="p",
            digest=digest,
            requesters=[who],
            summary={},
            now=self.now,
        )
        return True

    def say(
        self, approval: Approval, who: str, answer: DecisionInput, *, authenticated_at: datetime
    ) -> None:
        """Let a person decide."""
        approval_decide(
            approval.pk,
            user=User.objects.get(username=who),
            decision=answer.decision,
            reason=answer.reason,
            digest=answer.digest,
            authenticated_at=authenticated_at,
            now=self.now,
        )

    def take_back(self, approval: Approval, who: str) -> None:
        """Let a person withdraw what was asked."""
        user = User.objects.get(username=who)
        approval_withdraw(approval.pk, user=user, reason="", now=self.now)

    def happens(self, change: Change | None) -> None:
        """Let a change happen a second after what was before."""
        self.now += SECOND
        if change is not None:
            getattr(self, f"_{change.what}")(change)
            self.now += SECOND

    def _here(self, change: Change) -> None:
        """Change the policy in the portal; the guard repeats it under the portal's own name."""
        before = self.account.values
        if before == change.values:
            return
        policy_event(change, before, here=True, who=change.who, now=self.now)
        self.now += SECOND
        policy_event(change, before, here=False, who="lw-act", now=self.now)
        self.account.set_values(change.who, change.values)

    def _there(self, change: Change) -> None:
        before = self.account.values
        if before != change.values:
            policy_event(change, before, here=False, who=change.who, now=self.now)
            self.account.set_values(change.who, change.values)

    def _owner(self, change: Change) -> None:
        audit_record(
            "owner.changed",
            actor=change.who,
            lake=LAKE,
            object_type="table",
            object_id="sales.orders",
            data={"through": "portal"},
            now=self.now,
        )
        self.account.last["owner"] = change.who

    def _hold(self, change: Change) -> None:
        kind = HoldKind.LEGAL if change.pick % 2 else HoldKind.EXTENSION
        if not self._is_admin(change.who) and kind is HoldKind.LEGAL:
            return
        held = hold_place(
            lake=LAKE,
            name=("sales", "orders", ""),
            kind=kind,
            until=None,
            reason="court",
            user=User.objects.get(username=change.who),
            now=self.now,
        )
        self.account.held.append((held, kind))
        self.account.last[f"hold {kind}"] = change.who

    def _release(self, change: Change) -> None:
        if not self.account.held or not self._is_admin(change.who):
            return
        held, kind = self.account.held.pop(change.pick % len(self.account.held))
        user = User.objects.get(username=change.who)
        hold_release(held.public_id, user=user, reason="over", now=self.now)
        self.account.last[f"hold {kind}"] = change.who

    def _role(self, change: Change) -> None:
        user, group = User.objects.get(username=change.who), Group.objects.get(name="admin")
        if self._is_admin(change.who):
            user.groups.remove(group)
            self.account.admins.discard(change.who)
        else:
            user.groups.add(group)
            self.account.admins.add(change.who)

    @rule(before=changes(), who=st.sampled_from(["otto", *PEOPLE]), digest=st.sampled_from(DIGESTS))
    def ask(self, before: Change | None, who: str, digest: str) -> None:
        self.happens(before)
        if not self.put(who, digest):
            return
        if self.ended or digest != self.digest:
            self.asker, self.digest, self.yes = who, self.asked or digest, set()
            self.ended, self.used, self.requested_at = False, False, self.now
            self.approved_at = None

    @rule(
        before=changes(),
        who=st.sampled_from(PEOPLE),
        decision=st.sampled_from(["APPROVE", "APPROVE", "APPROVE", "REJECT"]),
        is_other=st.sampled_from([False, False, False, True]),
        login_minutes=st.sampled_from([0, 5, 20]),
    )
    def decide(
        self, before: Change | None, who: str, decision: str, is_other: bool, login_minutes: int
    ) -> None:
        self.happens(before)
        approval = self._newest()
        if approval is None:
            return
        is_approval = decision == "APPROVE"
        allowed = (
            not self.ended
            and not self._is_lapsed()
            and self._is_admin(who)
            and not is_other
            and login_minutes <= 15
            and not (is_approval and (who in self._requesters() or who in self.yes))
            and not (self.approved_at is not None and (is_approval or not self.cool))
        )
        try:
            self.say(
                approval,
                who,
                DecisionInput(decision, "because", "other" if is_other else self.digest),
                authenticated_at=self.now - timedelta(minutes=login_minutes),
            )
        except PortalError:
            assert not allowed
            return
        assert allowed
        if not is_approval:
            self.ended, self.yes = True, set()
            return
        self.yes.add(who)
        if len(self._standing()) >= self.n_needed:
            self.approved_at = self.now
            self.ended = self.acts_at_once

    @rule(before=changes(), who=st.sampled_from(PEOPLE))
    def withdraw(self, before: Change | None, who: str) -> None:
        self.happens(before)
        approval = self._newest()
        if approval is None:
            return
        try:
            self.take_back(approval, who)
        except PortalError:
            return
        assert who == self.asker
        assert not self.yes
        self.ended = True

    @rule(before=changes(), minutes=st.sampled_from([1, 30, 61, 24 * 60]))
    def wait(self, before: Change | None, minutes: int) -> None:
        self.happens(before)
        self.now += timedelta(minutes=minutes)

    @rule(before=changes())
    def lapse(self, before: Change | None) -> None:
        self.happens(before)
        approvals_lapse(self.now)
        if self._is_lapsed():
            self.ended = True

    @rule(before=changes())
    def start(self, before: Change | None) -> None:
        """Spend the approval on a run, as the start of a drop does."""
        self.happens(before)
        approval = self._newest()
        if approval is None or self.used:
            return
        may = self._may_run()
        with pytest.raises(PortalError):
            approval_check(
                approval.kind, object_id=approval.object_id, digest="other", now=self.now
            )
        try:
            approval_use(approval.pk, run_id="r1", now=self.now)
        except PortalError:
            assert not may
            return
        assert may
        self.ended = self.used = True

    @invariant()
    def it_runs_only_for_two_who_still_stand_behind_it(self) -> None:
        newest = self._newest()
        if newest is None:
            return
        run_id = "r1" if self.used else ""
        try:
            approval_check(
                newest.kind,
                object_id=newest.object_id,
                digest=self.digest,
                now=self.now,
                run_id=run_id,
            )
        except PortalError:
            may = False
        else:
            may = True
        stands = len(self._standing()) >= self.n_needed
        assert may == (stands if self.used else self._may_run())

    @invariant()
    def at_most_one_is_open(self) -> None:
        assert Approval.objects.filter(state__in=["PENDING", "APPROVED"]).count() <= 1

    def _is_admin(self, who: str) -> bool:
        return who in self.account.admins

    def _requesters(self) -> set[str]:
        return {self.asker, "otto", *self.account.last.values()}

    def _standing(self) -> set[str]:
        return {who for who in self.yes if self._is_admin(who)} - self._requesters()

    def _is_lapsed(self) -> bool:
        return self.now - (self.approved_at or self.requested_at) >= timedelta(hours=72)

    def _may_run(self) -> bool:
        return (
            not self.ended
            and self.approved_at is not None
            and len(self._standing()) >= self.n_needed
            and self.approved_at + self.cool <= self.now
            and not self._is_lapsed()
        )

    def _newest(self) -> Approval | None:
        open_states = [ApprovalState.PENDING, ApprovalState.APPROVED]
        return (
            Approval.objects.filter(state__in=open_states).first()
            or Approval.objects.order_by("-created_at").first()
        )


@pytest.mark.django_db
@pytest.mark.timeout(0)
def test_nothing_runs_without_two_people_in_any_order(people: People) -> None:
    register(ApprovalKind(KIND, cooling_off=COOL, requesters=requesters))
    run_state_machine_as_test(Approvals, settings=limits(EXAMPLES))
