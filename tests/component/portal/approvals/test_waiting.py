"""What waits for a person over all kinds: exactly what each kind says, at a fixed price."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from lifecycle.drop.services.plans import DropPlans
from lifecycle.models import PolicyRequest
from lifecycle.policies.domain.states import RequestKind
from lifecycle.policies.services.requests import request_digest
from portal.access.models import User
from portal.access.registry import cards_for
from portal.access.selectors import people_with_roles
from portal.approvals.models import Approval
from portal.approvals.proposals import ProposalKind, proposal_kinds
from portal.approvals.services import approval_decide
from portal.approvals.waiting import n_needs_me, needs_decision_of
from portal.audit.services import audit_record
from tests.component.conftest import LAKE, NOW, People
from tests.component.portal.approvals.proposal_rows import CASES

pytestmark = pytest.mark.usefixtures("lake")


@pytest.fixture
def broken_kind() -> Iterator[None]:
    """A kind of drop plans whose proposals cannot be read."""

    class Broken(DropPlans):
        def visible(self, lake: str, user: User) -> Any:
            raise RuntimeError("the area is ill")

    working = {kind.name: kind for kind in proposal_kinds()}[DropPlans.name]
    Broken().register()
    yield
    working.register()


def ask_all(who: str, *, each: int = 1) -> list[tuple[ProposalKind[Any], Any]]:
    """Make proposals of every kind."""
    return [(case.kind, case.ask(who, NOW, n)) for case in CASES.values() for n in range(each)]


def told(user: User) -> list[tuple[str, Any]]:
    """Return what each kind says waits for a person."""
    return sorted(
        (kind.name, one.pk)
        for kind in proposal_kinds()
        for one in kind.to_decide(LAKE, user, now=NOW)
    )


def found(user: User, now: datetime = NOW) -> list[tuple[str, Any]]:
    """Return what is found over all kinds."""
    return sorted((kind.name, one.pk) for kind, one in needs_decision_of(user, LAKE, now=now).rows)


def test_every_kind_is_in_it_and_nothing_that_the_kind_does_not_say(people: People) -> None:
    made = ask_all("ada")
    assert found(people.second) == told(people.second)
    assert len(found(people.second)) == len(made)
    assert n_needs_me(people.second, LAKE, now=NOW) == len(made)
    for nobody in (people.admin, people.operator, people.owner, people.stranger):
        assert found(nobody) == told(nobody) == []


def test_who_decided_and_what_expired_are_out_of_it(people: People) -> None:
    made = ask_all("ada")
    approval = Approval.objects.get(object_id=str(made[0][1].pk))
    approval_decide(
        approval.pk,
        user=people.second,
        decision="APPROVE",
        reason="",
        digest=approval.digest,
        authenticated_at=NOW,
        now=NOW,
    )
    assert len(found(people.second)) == len(told(people.second)) == len(made) - 1
    assert len(found(people.third)) == len(made)
    assert found(people.third, approval.expires_at) == []


def test_an_offer_without_an_approval_waits_for_its_new_owner(people: People) -> None:
    offer = PolicyRequest(
        **{"lake": LAKE, "requested_by": "olga", "reason": "moving on", "created_at": NOW},
        **{"kind": RequestKind.HAND_OVER, "db": "sales", "table": "orders", "owner": "stan"},
    )
    offer.digest = request_digest(offer)
    offer.save(force_insert=True)
    assert (
        found(people.stranger) == told(people.stranger) == [("lifecycle.policy_request", offer.pk)]
    )
    assert n_needs_me(people.admin, LAKE, now=NOW) == 1
    assert n_needs_me(people.owner, LAKE, now=NOW) == 0


def test_the_longest_wait_comes_first(people: People) -> None:
    ask_all("ada", each=2)
    rows = needs_decision_of(people.second, LAKE, now=NOW).rows
    waits = [one.approval.created_at for _, one in rows if one.approval is not None]
    assert waits == sorted(waits)


def test_it_costs_the_same_for_one_and_for_twenty_of_each_kind(people: People) -> None:
    def cost(user: User) -> int:
        with CaptureQueriesContext(connection) as queries:
            needs_decision_of(user, LAKE, now=NOW)
        return len(queries)

    nothing = cost(people.second)
    ask_all("ada")
    one = cost(people.second)
    for case in CASES.values():
        for n in range(1, 20):
            case.ask("ada", NOW, n)
    assert cost(people.second) == one
    assert nothing <= 3
    assert one <= 40


def test_a_kind_that_cannot_be_read_hides_nothing_of_the_others(
    people: People, broken_kind: None
) -> None:
    made = ask_all("ada")
    answer = needs_decision_of(people.second, LAKE, now=NOW)
    assert [kind.title for kind in answer.broken] == ["Drop plan"]
    assert len(answer.rows) == len(made) - 1


def test_who_may_decide_is_read_with_their_roles_at_once(people: People) -> None:
    with CaptureQueriesContext(connection) as queries:
        found = people_with_roles({"admin"}, also=["stan", "nobody"])
        roles = {one.username: one.roles_on("") for one in found}
    assert len(queries) == 2
    admins = {people.admin.username, people.second.username, people.third.username}
    assert set(roles) == admins | {people.stranger.username}
    assert roles[people.stranger.username] == frozenset()


def test_the_cards_of_home_add_up_to_the_badge(people: People, rf: RequestFactory) -> None:
    for case in CASES.values():
        for n in (0, 1):
            case.ask("otto", timezone.now(), n)
    inbox, n_cards = reverse("ui:approvals"), {}
    for user in (people.admin, people.second, people.operator, people.owner, people.stranger):
        request = rf.get("/", {"lake": LAKE})
        request.user = user
        cards = [card for card in cards_for(request) if card.url.startswith(f"{inbox}?")]
        assert sum(int(card.value) for card in cards) == n_needs_me(user, LAKE), user
        n_cards[user] = len(cards)
    assert n_cards[people.admin] == len(CASES)


def test_the_number_is_kept_until_something_happens(people: People) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            n_needs_me(people.second, LAKE, now=NOW)
        return len(queries)

    ask_all("ada")
    cost()
    assert cost() == 1
    CASES["drop plan"].ask("ada", NOW, 1)
    assert n_needs_me(people.second, LAKE, now=NOW) == len(CASES) + 1
    audit_record(
        "hold.placed", actor="ben", lake=LAKE, object_type="hold", object_id="1", data={}, now=NOW
    )
    assert cost() > 1
    expired = Approval.objects.earliest("expires_at").expires_at
    assert n_needs_me(people.second, LAKE, now=expired) == 0
