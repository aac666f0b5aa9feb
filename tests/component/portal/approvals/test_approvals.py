"""Asking for approval, deciding, withdrawing, lapsing, using: allowed, refused, and the races."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group

from portal.access.models import User
from portal.approvals.domain import ApprovalState
from portal.approvals.kinds import ApprovalKind, register
from portal.approvals.models import Approval, Decision
from portal.approvals.selectors import approval_moves
from portal.approvals.services import (
    approval_check,
    approval_decide,
    approval_open,
    approval_use,
    approval_withdraw,
    approvals_lapse,
)
from portal.audit.services import audit_verify
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from tests.component.conftest import LAKE, People
from tests.support.together import together

pytestmark = pytest.mark.django_db
KIND = "test.drop"
COOL = timedelta(hours=24)


@pytest.fixture
def told(settings: Any) -> list[str]:
    """What the kind's hooks were told, in order."""
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = COOL.total_seconds()
    heard: list[str] = []

    register(
        ApprovalKind(
            KIND,
            on_approved=lambda approval, now: heard.append("approved"),
            on_ended=lambda approval, by, now: heard.append(approval.state.lower()),
        )
    )
    return heard


def ask(now: datetime, *, digest: str = "d1", by: str = "otto") -> Approval:
    return approval_open(
        KIND,
        lake=LAKE,
        object_id="plan-1",
        digest=digest,
        requesters=[by],
        summary={"n": 1},
        now=now,
    )


def say(
    approval: Approval,
    user: User,
    now: datetime,
    *,
    decision: str = "APPROVE",
    reason: str = "no longer wanted",
    digest: str = "d1",
    login: datetime | None = None,
) -> Approval:
    return approval_decide(
        approval.pk,
        user=user,
        decision=decision,
        reason=reason,
        digest=digest,
        authenticated_at=login or now,
        now=now,
    )


def check(now: datetime, digest: str = "d1", run_id: str = "") -> Approval:
    return approval_check(KIND, object_id="plan-1", digest=digest, now=now, run_id=run_id)


def test_two_people_approve_and_after_cooling_off_it_may_run_once(
    now: datetime, people: People, told: list[str]
) -> None:
    approval = ask(now)
    say(approval, people.admin, now)
    with pytest.raises(StaleState):
        check(now + COOL)
    after = say(approval, people.second, now)
    assert (after.state, after.cool_until, told) == (
        ApprovalState.APPROVED,
        now + COOL,
        ["approved"],
    )
    with pytest.raises(StaleState) as early:
        check(now + COOL - timedelta(seconds=1))
    assert early.value.code == "approval.cooling_off"
    assert check(now + COOL).pk == approval.pk
    assert approval_use(approval.pk, run_id="r1", now=now + COOL).state == ApprovalState.USED
    assert approval_use(approval.pk, run_id="r1", now=now + COOL).state == ApprovalState.USED
    with pytest.raises(StaleState):
        approval_use(approval.pk, run_id="r2", now=now + COOL)
    assert check(now + COOL, run_id="r1").pk == approval.pk
    with pytest.raises(StaleState):
        check(now + COOL, run_id="r2")
    assert audit_verify().broken_at is None


def test_nobody_decides_on_what_they_asked_for_superuser_included(
    now: datetime, people: People, told: list[str]
) -> None:
    User.objects.filter(pk=people.admin.pk).update(is_superuser=True)
    approval = ask(now, by="ADA")
    for person in (people.admin, people.owner, people.operator, people.stranger):
        with pytest.raises(NotAllowed):
            say(approval, person, now)
    User.objects.filter(pk=people.stranger.pk).update(is_superuser=True)
    with pytest.raises(NotAllowed):
        say(approval, people.stranger, now)
    assert not Decision.objects.exists()


def test_one_person_counts_once(now: datetime, people: People, told: list[str]) -> None:
    approval = ask(now)
    say(approval, people.admin, now)
    with pytest.raises(StaleState):
        say(approval, people.admin, now)
    assert Decision.objects.count() == 1


def test_one_rejection_ends_it_and_needs_a_reason(
    now: datetime, people: People, told: list[str]
) -> None:
    approval = ask(now)
    say(approval, people.admin, now)
    with pytest.raises(RuleViolation):
        say(approval, people.second, now, decision="REJECT", reason=" ")
    assert say(approval, people.second, now, decision="REJECT").state == ApprovalState.REJECTED
    with pytest.raises(StaleState):
        say(approval, people.third, now)
    assert told == ["rejected"]


def test_who_approved_may_still_stop_it_before_it_runs(
    now: datetime, people: People, told: list[str]
) -> None:
    approval = ask(now)
    say(approval, people.admin, now)
    say(approval, people.second, now)
    assert say(approval, people.admin, now, decision="REJECT").state == ApprovalState.REJECTED
    with pytest.raises(StaleState):
        check(now + COOL)


def test_a_login_that_is_not_fresh_is_refused(
    now: datetime, people: People, told: list[str]
) -> None:
    approval = ask(now)
    with pytest.raises(NotAllowed) as caught:
        say(approval, people.admin, now, login=now - timedelta(minutes=16))
    assert caught.value.code == "approval.fresh_login"
    with pytest.raises(NotAllowed):
        approval_decide(
            approval.pk,
            user=people.admin,
            decision="APPROVE",
            reason="",
            digest="d1",
            authenticated_at=None,
            now=now,
        )


def test_changed_content_is_asked_for_again(now: datetime, people: People, told: list[str]) -> None:
    first = ask(now)
    say(first, people.admin, now)
    assert ask(now).pk == first.pk
    second = ask(now, digest="d2")
    assert second.pk != first.pk
    first.refresh_from_db()
    assert first.state == ApprovalState.WITHDRAWN
    with pytest.raises(StaleState):
        say(second, people.second, now)
    say(second, people.second, now, digest="d2")
    say(second, people.third, now, digest="d2")
    with pytest.raises(StaleState):
        check(now + COOL)
    assert check(now + COOL, "d2").pk == second.pk


def test_it_lapses_undecided_and_unused(now: datetime, people: People, told: list[str]) -> None:
    ask(now)
    assert approvals_lapse(now + timedelta(hours=71)) == 0
    assert approvals_lapse(now + timedelta(hours=72)) == 1
    assert approvals_lapse(now + timedelta(hours=72)) == 0
    second = ask(now)
    late = now + timedelta(hours=71)
    say(second, people.admin, late)
    say(second, people.second, late)
    assert check(late + COOL).pk == second.pk
    assert approvals_lapse(late + timedelta(hours=72)) == 1
    with pytest.raises(StaleState):
        check(late + timedelta(hours=72))
    assert told == ["lapsed", "approved", "lapsed"]


def test_approvers_must_still_be_in_their_role(
    now: datetime, people: People, told: list[str]
) -> None:
    approval = ask(now)
    say(approval, people.admin, now)
    say(approval, people.second, now)
    people.second.groups.remove(Group.objects.get(name="admin"))
    with pytest.raises(StaleState) as caught:
        check(now + COOL)
    assert caught.value.code == "approval.approvers"
    people.second.groups.add(Group.objects.get(name="admin"))
    User.objects.filter(pk=people.admin.pk).update(is_active=False)
    with pytest.raises(StaleState):
        approval_use(approval.pk, run_id="r1", now=now + COOL)


def test_only_the_requester_withdraws_and_only_before_a_decision(
    now: datetime, people: People, told: list[str]
) -> None:
    approval = ask(now)
    with pytest.raises(NotAllowed):
        approval_withdraw(approval.pk, user=people.admin, reason="x", now=now)
    taken = approval_withdraw(approval.pk, user=people.operator, reason="a mistake", now=now)
    assert (taken.state, taken.end_reason, told) == (
        ApprovalState.WITHDRAWN,
        "a mistake",
        ["withdrawn"],
    )
    second = ask(now)
    say(second, people.admin, now)
    with pytest.raises(StaleState):
        approval_withdraw(second.pk, user=people.operator, reason="x", now=now)


def test_what_a_person_is_offered_is_what_the_server_allows(
    now: datetime, people: People, told: list[str]
) -> None:
    approval = ask(now)
    assert approval_moves(approval, user=people.admin, now=now) == {"APPROVE", "REJECT"}
    assert approval_moves(approval, user=people.operator, now=now) == {"WITHDRAW"}
    assert approval_moves(approval, user=people.stranger, now=now) == frozenset()
    say(approval, people.admin, now)
    assert approval_moves(approval, user=people.admin, now=now) == {"REJECT"}
    assert approval_moves(approval, user=people.operator, now=now) == frozenset()


def test_nonsense_is_refused(now: datetime, people: People, told: list[str]) -> None:
    approval = ask(now)
    with pytest.raises(RuleViolation):
        say(approval, people.admin, now, decision="MAYBE")
    with pytest.raises(NotVisible):
        approval_withdraw("no-uuid", user=people.admin, reason="", now=now)
    with pytest.raises(RuleViolation):
        approval_open(
            KIND, lake=LAKE, object_id="p", digest="d", requesters=[], summary={}, now=now
        )
    with pytest.raises(StaleState):
        approval_check(KIND, object_id="never-asked", digest="d", now=now)


def at_once(*deeds: Callable[[], object]) -> list[str]:
    """Do all deeds at the same moment; returns the codes of those that were refused."""
    return [code for code in together(*deeds) if code]


@pytest.mark.django_db(transaction=True)
def test_two_approve_at_the_same_moment(now: datetime, people: People, told: list[str]) -> None:
    for n in range(10):
        approval = approval_open(
            KIND,
            lake=LAKE,
            object_id=f"race-{n}",
            digest="d1",
            requesters=["otto"],
            summary={},
            now=now,
        )
        users = (people.admin, people.second)
        assert at_once(*[lambda u=user: say(approval, u, now) for user in users]) == []  # noqa: B023 - used within the turn
        approval.refresh_from_db()
        assert approval.state == ApprovalState.APPROVED
    assert told == ["approved"] * 10
    assert audit_verify().broken_at is None


@pytest.mark.django_db(transaction=True)
def test_one_who_clicks_twice_counts_once(now: datetime, people: People, told: list[str]) -> None:
    approval = ask(now)
    twice = [lambda: say(approval, people.admin, now)] * 4
    assert at_once(*twice) == ["approval.decided"] * 3
    approval.refresh_from_db()
    assert approval.state == ApprovalState.PENDING


@pytest.mark.django_db(transaction=True)
def test_approve_and_reject_at_the_same_moment_never_runs(
    now: datetime, people: People, told: list[str]
) -> None:
    for n in range(10):
        approval = approval_open(
            KIND,
            lake=LAKE,
            object_id=f"race-{n}",
            digest="d1",
            requesters=["otto"],
            summary={},
            now=now,
        )
        say(approval, people.admin, now)
        refused = at_once(
            lambda: say(approval, people.second, now),  # noqa: B023 - used within the turn
            lambda: say(approval, people.third, now, decision="REJECT"),  # noqa: B023 - (as above)
        )
        approval.refresh_from_db()
        assert approval.state == ApprovalState.REJECTED
        assert set(refused) <= {"approval.closed"}


@pytest.mark.django_db(transaction=True)
def test_of_many_runs_one_uses_an_approval(now: datetime, people: People, told: list[str]) -> None:
    approval = ask(now)
    say(approval, people.admin, now)
    say(approval, people.second, now)
    runs = [f"r{n}" for n in range(6)]
    uses = [lambda run=run: approval_use(approval.pk, run_id=run, now=now + COOL) for run in runs]
    refused = at_once(*uses)
    assert len(refused) == 5
    approval.refresh_from_db()
    assert approval.used_by_run in runs


@pytest.mark.django_db(transaction=True)
def test_change_and_second_approval_at_the_same_moment(
    now: datetime, people: People, told: list[str]
) -> None:
    for _ in range(10):
        Approval.objects.update(open_key=None)
        first = ask(now)
        say(first, people.admin, now)
        at_once(lambda: say(first, people.second, now), lambda: ask(now, digest="d2"))  # noqa: B023 - used within the turn
        with pytest.raises(StaleState):
            check(now + COOL, "d2")
        with pytest.raises(StaleState):
            check(now + COOL, "d1")
