"""Who may decide, what decisions amount to, and when the approved thing may run."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from portal.approvals.domain import (
    Answer,
    ApprovalState,
    DecisionKind,
    Given,
    Person,
    Request,
    check_decision,
    check_execution,
    state_after,
)
from portal.lake.errors import NotAllowed, PortalError, RuleViolation, StaleState

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
ROLES = frozenset({"admin"})
REQUEST = Request(
    state=ApprovalState.PENDING,
    digest="d1",
    requesters=frozenset({"rita"}),
    n_needed=2,
    expires_at=NOW + timedelta(hours=1),
)
APPROVED = replace(REQUEST, state=ApprovalState.APPROVED, cool_until=NOW)
ADA = Person("ada", ROLES, is_active=True, authenticated_at=NOW - timedelta(minutes=1))
YES = Answer(DecisionKind.APPROVE, "", "d1")


def test_an_admin_with_a_fresh_login_may_decide() -> None:
    check_decision(REQUEST, ADA, YES, roles=ROLES, now=NOW)


@pytest.mark.parametrize(
    ("request_", "person", "answer", "error", "code"),
    [
        (REQUEST, replace(ADA, username="Rita"), YES, NotAllowed, "approval.own"),
        (REQUEST, replace(ADA, roles=frozenset()), YES, NotAllowed, "approval.role"),
        (REQUEST, replace(ADA, is_active=False), YES, NotAllowed, "approval.role"),
        (REQUEST, replace(ADA, authenticated_at=None), YES, NotAllowed, "approval.fresh_login"),
        (
            REQUEST,
            replace(ADA, authenticated_at=NOW - timedelta(seconds=901)),
            YES,
            NotAllowed,
            "approval.fresh_login",
        ),
        (
            REQUEST,
            replace(ADA, authenticated_at=NOW + timedelta(seconds=1)),
            YES,
            NotAllowed,
            "approval.fresh_login",
        ),
        (replace(REQUEST, expires_at=NOW), ADA, YES, StaleState, "approval.lapsed"),
        (replace(REQUEST, state=ApprovalState.REJECTED), ADA, YES, StaleState, "approval.closed"),
        (APPROVED, ADA, YES, StaleState, "approval.closed"),
        (REQUEST, ADA, replace(YES, digest="d2"), StaleState, "approval.changed"),
        (REQUEST, ADA, Answer(DecisionKind.REJECT, " ", "d1"), RuleViolation, "approval.reason"),
    ],
)
def test_who_may_not_decide(
    request_: Request, person: Person, answer: Answer, error: type[PortalError], code: str
) -> None:
    with pytest.raises(error) as caught:
        check_decision(request_, person, answer, roles=ROLES, now=NOW)
    assert caught.value.code == code


def test_an_approved_thing_can_still_be_rejected() -> None:
    check_decision(
        APPROVED, ADA, Answer(DecisionKind.REJECT, "no longer", "d1"), roles=ROLES, now=NOW
    )


@pytest.mark.parametrize(
    ("decisions", "state"),
    [
        ([], ApprovalState.PENDING),
        (["APPROVE"], ApprovalState.PENDING),
        (["APPROVE", "APPROVE"], ApprovalState.APPROVED),
        (["APPROVE", "REJECT"], ApprovalState.REJECTED),
        (["APPROVE", "APPROVE", "REJECT"], ApprovalState.REJECTED),
    ],
)
def test_one_rejection_ends_it(decisions: list[str], state: ApprovalState) -> None:
    given = [
        Given(f"person {number}", DecisionKind(one), "d1", ROLES, is_active=True)
        for number, one in enumerate(decisions)
    ]
    assert state_after(REQUEST, given, roles=ROLES) is state


def word_of(name: str, **changes: object) -> Given:
    known: dict[str, object] = {
        "decision": DecisionKind.APPROVE,
        "digest": "d1",
        "roles": ROLES,
        "is_active": True,
    }
    return Given(name, **{**known, **changes})  # type: ignore[arg-type]  # a test's table


TWO = [word_of("ada"), word_of("ben")]


def test_what_two_approved_may_run_after_cooling_off() -> None:
    check_execution(APPROVED, TWO, digest="d1", roles=ROLES, now=NOW)


@pytest.mark.parametrize(
    ("request_", "given", "digest", "code"),
    [
        (APPROVED, TWO, "d2", "approval.changed"),
        (REQUEST, TWO, "d1", "approval.not_approved"),
        (replace(APPROVED, expires_at=NOW), TWO, "d1", "approval.lapsed"),
        (
            replace(APPROVED, cool_until=NOW + timedelta(seconds=1)),
            TWO,
            "d1",
            "approval.cooling_off",
        ),
        (APPROVED, TWO[:1], "d1", "approval.approvers"),
        (APPROVED, [word_of("ada"), word_of("ADA")], "d1", "approval.approvers"),
        (APPROVED, [word_of("ada"), word_of("rita")], "d1", "approval.approvers"),
        (
            APPROVED,
            [word_of("ada"), word_of("ben", roles=frozenset())],
            "d1",
            "approval.approvers",
        ),
        (APPROVED, [word_of("ada"), word_of("ben", is_active=False)], "d1", "approval.approvers"),
        (APPROVED, [word_of("ada"), word_of("ben", digest="d0")], "d1", "approval.approvers"),
    ],
)
def test_what_may_not_run(request_: Request, given: list[Given], digest: str, code: str) -> None:
    with pytest.raises(StaleState) as caught:
        check_execution(request_, given, digest=digest, roles=ROLES, now=NOW)
    assert caught.value.code == code
