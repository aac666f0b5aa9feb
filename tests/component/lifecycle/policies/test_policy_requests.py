"""Other values, more days, another owner: who may ask, who answers, and what is kept of it."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from lifecycle.backup.domain.states import HoldKind
from lifecycle.backup.models import Hold
from lifecycle.backup.services.holds import hold_release
from lifecycle.inventory.selectors.policy import asked_here
from lifecycle.models import PolicyRequest, PolicySnapshot, TableFinding
from lifecycle.policies.domain.policy import Values
from lifecycle.policies.selectors.requests import (
    get_request_for_user,
    requests_visible,
)
from lifecycle.policies.services.extensions import (
    ExtensionParams,
    extension_offer,
    extension_request,
    near_due_on,
    put_off_from,
)
from lifecycle.policies.services.request_params import (
    HandoverParams,
    SetParams,
    hand_over_request,
    policy_set_request,
)
from lifecycle.policies.services.requests import (
    REQUESTS,
    policy_request_decide,
    policy_request_withdraw,
    request_digest,
)
from portal.access.models import User
from portal.approvals.domain import DecisionInput
from portal.approvals.models import Approval
from portal.approvals.services import approvals_lapse
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import NotAllowed, NotVisible, PortalError, RuleViolation, StaleState
from portal.runs.models import Run
from portal.runs.requests.services import run_drive
from tests.component.conftest import LAKE, NOW, People
from tests.component.lifecycle.scanned import scan, set_mode

pytestmark = pytest.mark.django_db(transaction=True)
ORDERS = ("sales", "orders")
LIFE = Values(1, 60)
PART = "dt=2026-08-01"
# The first due day of sales.orders has passed, so 30 days more count from today.
UNTIL = NOW.date() + timedelta(days=30)


@pytest.fixture(autouse=True)
def picture(lake: LakeConfig, people: People) -> None:
    """A scanned lake of which one database is written to."""
    scan(lake, now=NOW)
    set_mode("sales", "NOTIFY")


def wish(
    wanted: Values, *, seen: Values = LIFE, reason: str = "because", **names: str
) -> SetParams:
    return SetParams(names.get("db", "sales"), names.get("table", "orders"), seen, wanted, reason)


def set_(user: User, wanted: Values, **changes: Any) -> PolicyRequest:
    return policy_set_request(LAKE, wish(wanted, **changes), user=user, now=NOW)


def extend(
    user: User, *, days: int = 30, until: date = UNTIL, partition: str = ""
) -> PolicyRequest:
    said = ExtensionParams(*ORDERS, partition, days, until, "the audit still reads it")
    return extension_request(LAKE, said, user=user, now=NOW)


def give(user: User, owner: str, *, seen: str = "olga") -> PolicyRequest:
    return hand_over_request(
        LAKE, HandoverParams(*ORDERS, seen, owner, "I leave"), user=user, now=NOW
    )


def decide(
    request: PolicyRequest,
    user: User,
    decision: str = "APPROVE",
    *,
    at: datetime = NOW,
    digest: str = "",
) -> PolicyRequest:
    return policy_request_decide(
        request.pk,
        user=user,
        answer=DecisionInput(decision, "so it is", digest or request.digest),
        authenticated_at=at,
        now=at,
    )


def code(ask: Callable[[], object]) -> str:
    with pytest.raises(PortalError) as error:
        ask()
    return error.value.code


def test_an_admins_wish_runs_at_once_and_an_owners_waits_for_one_admin(people: People) -> None:
    at_once = set_(people.admin, Values(1, 90))
    assert (at_once.state, at_once.run is not None, at_once.approval) == ("RUNNING", True, None)
    assert Run.objects.filter(kind="lifecycle.policy").count() == 1
    PolicyRequest.objects.all().delete()

    waits = set_(people.owner, Values(0, 60))
    assert (waits.state, waits.run_id, waits.needs_admin) == ("PENDING", None, True)
    assert waits.approval is not None
    assert waits.approval.n_needed == 1
    assert waits.what_if["before"]["now"] == {
        "n": 1,
        "n_bytes": 1000,
        "n_files": 1,
        "n_unmeasured": 0,
    }
    assert waits.what_if["after"]["stays"]["n"] == 4
    assert code(lambda: decide(waits, people.owner)) == "approval.role"
    assert code(lambda: decide(waits, people.operator)) == "approval.role"
    other = "0" * 64
    assert code(lambda: decide(waits, people.admin, digest=other)) == "policy_request.changed"
    assert decide(waits, people.admin).state == "RUNNING"
    assert code(lambda: decide(waits, people.second)) == "policy_request.closed"


@pytest.mark.parametrize(
    ("who", "wanted", "changes", "expected"),
    [
        ("stranger", Values(1, 90), {}, "table.missing"),
        ("operator", Values(1, 90), {}, "policy.role"),
        ("admin", Values(1, 90), {"reason": " "}, "policy.reason"),
        ("admin", Values(1, 0), {}, "policy.values"),
        ("admin", LIFE, {}, "policy.same"),
        ("admin", Values(1, 90), {"seen": Values(1, 61)}, "policy.stale"),
        ("admin", Values(1, 90), {"table": "nothing"}, "table.missing"),
        ("admin", Values(1, 90), {"db": "web", "table": "logs"}, "policy.observed"),
        ("admin", Values(1, 90), {"table": "Odd Name"}, "name.grammar"),
        ("owner", Values(1, 90), {"table": ""}, "database.missing"),
        ("operator", Values(1, 90), {"table": ""}, "policy.unread"),
    ],
)
def test_what_may_not_be_asked(
    people: People, who: str, wanted: Values, changes: dict[str, Any], expected: str
) -> None:
    user = getattr(people, who)
    assert code(lambda: set_(user, wanted, **changes)) == expected
    assert not PolicyRequest.objects.exists()
    assert not AuditEvent.objects.filter(action__startswith="policy").exists()


def test_what_new_tables_get_is_read_first_and_set_by_an_admin(people: People) -> None:
    PolicySnapshot.objects.create(lake=LAKE, db="sales", level=1, ttl=30, seen_at=NOW)
    seen = Values(1, 30)
    ask = {"table": "", "seen": seen}
    assert code(lambda: set_(people.operator, LIFE, **ask)) == "policy.role"
    request = set_(people.admin, LIFE, **ask)
    assert (request.state, str(request)) == ("RUNNING", "SET sales")


def test_asked_twice_it_is_one_request_and_another_wish_has_to_wait(people: People) -> None:
    first = set_(people.owner, Values(0, 60))
    assert set_(people.owner, Values(0, 60)).pk == first.pk
    assert code(lambda: set_(people.owner, Values(1, 90))) == "policy_request.open"
    policy_request_withdraw(first.pk, user=people.owner, reason="no", now=NOW)
    assert set_(people.owner, Values(1, 90)).pk != first.pk
    assert Approval.objects.filter(state="WITHDRAWN").count() == 1


def test_a_request_that_nobody_answers_lapses_and_a_refused_one_says_why(people: People) -> None:
    request = set_(people.owner, Values(0, 60))
    assert approvals_lapse(NOW + timedelta(days=4)) == 1
    request.refresh_from_db()
    assert (request.state, request.open_key) == ("LAPSED", None)
    again = set_(people.owner, Values(0, 60))
    refused = decide(again, people.admin, "REJECT")
    assert (refused.state, refused.decided_by, refused.note) == ("REJECTED", "ada", "so it is")


def test_a_run_that_cannot_reach_the_metastore_leaves_everything_and_says_so(
    people: People,
) -> None:
    request = set_(people.admin, Values(1, 90))
    run = run_drive(str(request.run_id))
    request.refresh_from_db()
    assert (run.state, request.state) == ("FAILED", "FAILED")
    assert "does not answer" in request.note
    assert not AuditEvent.objects.filter(action="policy.changed").exists()
    assert set_(people.admin, Values(1, 90)).pk != request.pk


def test_a_request_that_was_tampered_with_or_went_out_of_bounds_is_not_run(
    people: People,
) -> None:
    request = set_(people.admin, Values(1, 30))
    PolicyRequest.objects.filter(pk=request.pk).update(ttl=1)
    run_drive(str(request.run_id))
    request.refresh_from_db()
    assert (request.state, request.note) == ("FAILED", "The request is not what was asked for.")

    observed = set_(people.admin, Values(1, 30))
    set_mode("sales", "OBSERVE")
    run_drive(str(observed.run_id))
    observed.refresh_from_db()
    assert observed.state == "FAILED"
    assert "Monitor only" in observed.note


def test_a_table_whose_items_all_fall_due_later_is_offered_no_more_days(people: People) -> None:
    found = TableFinding.objects.get(table="orders")
    assert near_due_on(found) == found.next_due_on
    found.n_clean_now = found.n_soon = found.n_still_read = 0
    found.n_not_now = 5
    found.save()
    assert found.next_due_on is not None
    assert near_due_on(found) is None
    assert put_off_from("main", ("sales", "orders", ""), user=people.owner)[1] is None


# -- more days ---------------------------------------------------------------------------------


def test_an_owner_keeps_data_30_days_more_by_a_hold_with_an_end(people: People) -> None:
    found = TableFinding.objects.get(table="orders")
    offer = extension_offer(found, "", found.next_due_on, days=30, now=NOW)
    assert offer is not None
    assert (offer.until, offer.needs_admin) == (UNTIL, False)
    request = extend(people.owner)
    hold = Hold.objects.get()
    assert (request.state, request.hold) == ("DONE", hold)
    assert (hold.kind, hold.table, hold.placed_by) == (HoldKind.EXTENSION, "orders", "olga")
    assert hold.until is not None
    assert timezone.localtime(hold.until, lake_zone()).date() == UNTIL
    assert code(lambda: extend(people.owner)) == "extension.stale"
    assert Hold.objects.count() == 1
    hold_release(hold.public_id, user=people.owner, reason="not needed", now=NOW)


def lake_zone() -> Any:
    from zoneinfo import ZoneInfo

    return ZoneInfo("Europe/Berlin")


def test_more_than_the_days_of_a_year_needs_an_admin(people: People) -> None:
    for number in (1, 2, 3):
        extend(people.owner, until=NOW.date() + timedelta(days=30 * number))
    fourth = extend(people.owner, until=NOW.date() + timedelta(days=120))
    assert (fourth.state, fourth.needs_admin, fourth.hold) == ("PENDING", True, None)
    assert Hold.objects.count() == 3
    assert code(lambda: decide(fourth, people.owner)) == "approval.role"
    granted = decide(fourth, people.admin)
    assert (granted.state, granted.decided_by) == ("DONE", "ada")
    assert Hold.objects.count() == 4
    assert Approval.objects.get().state == "USED"
    # Days of a partition add to its table's: nothing is left for it either.
    part = extend(people.owner, partition=PART, until=NOW.date() + timedelta(days=150))
    assert part.state == "PENDING"


def test_an_admins_extension_is_granted_at_once_and_uses_up_nothing(people: People) -> None:
    extend(people.admin, days=300, until=NOW.date() + timedelta(days=300))
    own = extend(people.owner, days=90, until=NOW.date() + timedelta(days=390))
    assert own.state == "DONE"


@pytest.mark.parametrize(
    ("who", "changes", "expected"),
    [
        ("stranger", {}, "table.missing"),
        ("operator", {}, "policy.role"),
        ("owner", {"partition": "dt=nothing"}, "item.missing"),
        ("owner", {"partition": "dt=2026-11-01"}, "extension.not_due"),
        ("owner", {"days": 0, "until": NOW.date()}, "extension.days"),
        ("owner", {"days": 31}, "extension.stale"),
    ],
)
def test_what_is_not_put_off(
    people: People, who: str, changes: dict[str, Any], expected: str
) -> None:
    assert code(lambda: extend(getattr(people, who), **changes)) == expected
    assert not Hold.objects.exists()


# -- another owner -----------------------------------------------------------------------------


def test_a_table_is_handed_over_when_its_new_owner_accepts(people: People) -> None:
    request = give(people.owner, "stan")
    assert (request.state, request.approval) == ("PENDING", None)
    assert REQUESTS.to_decide(LAKE, people.stranger, now=NOW) == [request]
    assert REQUESTS.steps(request, people.owner, now=NOW).names == ["withdraw"]
    assert code(lambda: decide(request, people.owner)) == "policy_request.answer"
    assert code(lambda: decide(request, people.operator)) == "policy_request.answer"
    assert code(lambda: decide(request, people.stranger, "MAYBE")) == "approval.verdict"
    other = "0" * 64
    assert code(lambda: decide(request, people.stranger, digest=other)) == "policy_request.changed"
    accepted = decide(request, people.stranger)
    assert (accepted.state, accepted.decided_by) == ("RUNNING", "stan")


def test_an_admin_accepts_for_the_new_owner_but_not_their_own_offer(people: People) -> None:
    request = give(people.admin, "stan")
    assert code(lambda: decide(request, people.admin)) == "policy_request.answer"
    assert decide(request, people.second).state == "RUNNING"


def test_an_offer_may_be_declined_or_taken_back(people: People) -> None:
    assert decide(give(people.owner, "stan"), people.stranger, "REJECT").state == "REJECTED"
    again = give(people.owner, "stan")
    with pytest.raises(NotAllowed):
        policy_request_withdraw(again.pk, user=people.stranger, reason="", now=NOW)
    gone = policy_request_withdraw(again.pk, user=people.owner, reason="", now=NOW)
    assert gone.state == "WITHDRAWN"
    with pytest.raises(StaleState):
        policy_request_withdraw(again.pk, user=people.owner, reason="", now=NOW)


@pytest.mark.parametrize(
    ("who", "owner", "seen", "expected"),
    [
        ("stranger", "stan", "olga", "table.missing"),
        ("operator", "stan", "olga", "policy.role"),
        ("owner", "nobody_known", "olga", "policy.owner"),
        ("owner", "olga", "olga", "policy.same"),
        ("owner", "stan", "paul", "policy.stale"),
    ],
)
def test_what_is_not_handed_over(
    people: People, who: str, owner: str, seen: str, expected: str
) -> None:
    assert code(lambda: give(getattr(people, who), owner, seen=seen)) == expected


def test_each_person_sees_the_requests_that_concern_them(people: People) -> None:
    request = give(people.owner, "stan")
    db_owner = User.objects.create_user("sara")
    for user in (people.owner, people.stranger, people.admin, people.operator, db_owner):
        assert list(requests_visible(LAKE, user)) == [request], user
    assert not requests_visible(LAKE, people.dba)
    with pytest.raises(NotVisible):
        get_request_for_user(request.pk, user=people.dba)


def test_the_digest_covers_everything_that_a_request_says(people: People) -> None:
    request = set_(people.owner, Values(0, 60))
    digests = {request_digest(request)}
    for field, value in (
        ("ttl", 61), ("level", 1), ("seen_ttl", 1), ("table", "x"), ("partition", "p=1"),
        ("owner", "x"), ("reason", "y"), ("requested_by", "z"), ("until", UNTIL), ("days", 1),
    ):  # fmt: skip
        changed = PolicyRequest.objects.get(pk=request.pk)
        setattr(changed, field, value)
        digests.add(request_digest(changed))
    assert len(digests) == 11


def test_a_change_of_the_portals_own_is_no_alarm_where_no_guard_tells_of_it(
    people: People,
) -> None:
    after = {"TTL": "90", "LEVEL": "1"}
    assert not asked_here(LAKE, *ORDERS, after, at=NOW)
    request = set_(people.owner, Values(1, 90))
    assert not asked_here(LAKE, *ORDERS, after, at=NOW)
    decide(request, people.admin)
    assert asked_here(LAKE, *ORDERS, after, at=NOW)
    assert not asked_here(LAKE, *ORDERS, {"TTL": "91", "LEVEL": "1"}, at=NOW)
    assert not asked_here(LAKE, "sales", "stray", after, at=NOW)
    assert not asked_here(LAKE, *ORDERS, after, at=NOW + timedelta(days=8))
    PolicyRequest.objects.update(state="DONE", ended_at=NOW)
    assert asked_here(LAKE, *ORDERS, after, at=NOW + timedelta(minutes=10))
    late = NOW + timedelta(minutes=11)
    assert not asked_here(LAKE, *ORDERS, after, at=late), "somebody else's, to the same values"


def test_a_reason_is_always_asked_for(people: People) -> None:
    with pytest.raises(RuleViolation):
        extension_request(
            LAKE, ExtensionParams(*ORDERS, "", 30, UNTIL, " "), user=people.owner, now=NOW
        )
