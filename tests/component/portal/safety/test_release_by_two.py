"""Tests who ends an emergency stop: two admins, never one, whatever meets whatever."""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Group

from portal.access.models import User
from portal.audit.models import AuditEvent
from portal.audit.services import audit_verify
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.safety.models import NO_REASON_YET, EmergencyStop
from portal.safety.selectors import emergency_stop_state, emergency_stop_wait, paused_since
from portal.safety.services import (
    emergency_stop_explain,
    emergency_stop_on_danger,
    emergency_stop_start,
    stop_release_confirm,
    stop_release_propose,
    stop_release_withdraw,
)
from tests.component.conftest import LAKE, NOW, People
from tests.support.together import together

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def press(by: str = "olga", *, reason: str = "smoke", at: datetime = NOW) -> EmergencyStop:
    return emergency_stop_start(lake=LAKE, pressed_by=by, reason=reason, now=at)


def propose(user: User, *, at: datetime = NOW) -> UUID:
    found = stop_release_propose(lake=LAKE, user=user, reason="seen", now=at)
    assert found.release_id is not None
    return found.release_id


def confirm(user: User, release_id: UUID, *, at: datetime = NOW) -> None:
    stop_release_confirm(lake=LAKE, release_id=release_id, user=user, now=at)


def refused(error: type[Exception], action: Callable[[], object]) -> str:
    with pytest.raises(error) as caught:
        action()
    return str(getattr(caught.value, "code", ""))


def actions() -> list[tuple[str, str]]:
    return list(AuditEvent.objects.order_by("seq").values_list("action", "actor"))


def test_one_admin_proposes_and_another_one_ends_it(people: People) -> None:
    press()
    assert refused(NotAllowed, lambda: propose(people.operator)) == "red_button.admin"
    proposed = propose(people.admin)
    assert emergency_stop_wait(LAKE), "nothing starts between the two"
    assert refused(NotAllowed, lambda: confirm(people.admin, proposed)) == "red_button.same_person"
    assert refused(NotAllowed, lambda: confirm(people.operator, proposed)) == "red_button.admin"
    assert refused(StaleState, lambda: confirm(people.second, uuid4())) == "red_button.no_release"
    assert emergency_stop_state(LAKE) is not None
    confirm(people.second, proposed, at=NOW + HOUR)
    assert emergency_stop_wait(LAKE) == ""
    assert paused_since(LAKE, NOW) == HOUR
    row = EmergencyStop.objects.get()
    assert (row.released_by, row.release_proposed_by, row.release_reason) == ("ben", "ada", "seen")
    assert actions() == [
        ("red_button.pressed", "olga"),
        ("red_button.release_proposed", "ada"),
        ("red_button.released", "ben"),
    ]
    assert AuditEvent.objects.latest("seq").data == {"reason": "seen", "proposed_by": "ada"}
    assert refused(StaleState, lambda: confirm(people.second, proposed)) == "red_button.released"
    assert audit_verify().broken_at is None


def test_who_pressed_it_may_be_one_of_the_two(people: People) -> None:
    press("ben")
    confirm(people.second, propose(people.admin))
    assert emergency_stop_state(LAKE) is None


def test_the_same_name_in_other_letters_is_the_same_person(people: People) -> None:
    press()
    proposed = propose(people.admin)
    EmergencyStop.objects.update(release_proposed_by="ADA")
    assert refused(NotAllowed, lambda: confirm(people.admin, proposed)) == "red_button.same_person"


def test_a_press_cancels_the_proposal_and_the_first_press_stands(people: People) -> None:
    first = press()
    proposed = propose(people.admin)
    again = press("stan", reason="it burns still")
    assert (again.pk, again.reason, again.release_id) == (first.pk, "smoke", None)
    assert refused(StaleState, lambda: confirm(people.second, proposed)) == "red_button.no_release"
    event = AuditEvent.objects.latest("seq")
    assert (event.action, event.actor) == ("red_button.release_cancelled", "stan")
    assert event.data == {"reason": "it burns still", "proposed_by": "ada"}
    proposed = propose(people.admin)
    emergency_stop_on_danger(LAKE, run_id="7", reason="a file is gone", now=NOW)
    assert refused(StaleState, lambda: confirm(people.second, proposed)) == "red_button.no_release"


def test_a_proposal_is_withdrawn_by_any_admin_and_expires_after_a_day(people: People) -> None:
    press()
    proposed = propose(people.admin)

    def withdraw(user: User) -> EmergencyStop:
        return stop_release_withdraw(lake=LAKE, user=user, now=NOW)

    assert refused(NotAllowed, lambda: withdraw(people.operator)) == "red_button.admin"
    withdraw(people.second)
    assert refused(StaleState, lambda: withdraw(people.admin)) == "red_button.no_release"
    assert refused(StaleState, lambda: confirm(people.third, proposed)) == "red_button.no_release"
    proposed = propose(people.admin)
    late = NOW + DAY
    assert refused(StaleState, lambda: confirm(people.second, proposed, at=late)) == (
        "red_button.no_release"
    )
    confirm(people.admin, propose(people.second, at=late), at=late)
    assert [action for action, _ in actions()][-3:] == [
        "red_button.release_expired",
        "red_button.release_proposed",
        "red_button.released",
    ]


def test_one_proposal_waits_at_a_time(people: People) -> None:
    press()
    proposed = propose(people.admin)
    assert propose(people.admin) == proposed, "asked twice it changes nothing"
    assert refused(StaleState, lambda: propose(people.second)) == "red_button.release_pending"
    assert refused(RuleViolation, lambda: stop_release_propose(
        lake=LAKE, user=people.third, reason=" ", now=NOW
    )) == "red_button.reason"  # fmt: skip


def test_a_proposal_of_somebody_who_is_no_admin_any_more_ends_nothing(people: People) -> None:
    press()
    proposed = propose(people.admin)
    people.admin.groups.remove(Group.objects.get(name="admin"))
    assert refused(StaleState, lambda: confirm(people.second, proposed)) == "red_button.proposer"
    stop_release_withdraw(lake=LAKE, user=people.second, now=NOW)
    assert emergency_stop_state(LAKE) is not None


def test_the_reason_may_follow_and_is_a_note_of_its_own(people: People) -> None:
    assert press(reason="").reason == NO_REASON_YET
    assert NO_REASON_YET in emergency_stop_wait(LAKE)

    def explain(user: User) -> EmergencyStop:
        return emergency_stop_explain(lake=LAKE, user=user, reason="smoke ", now=NOW)

    assert refused(NotAllowed, lambda: explain(people.stranger)) == "red_button.explain"
    assert explain(people.owner).reason == "smoke"
    assert refused(StaleState, lambda: explain(people.owner)) == "red_button.explained"
    assert actions() == [("red_button.pressed", "olga"), ("red_button.explained", "olga")]


@pytest.mark.django_db(transaction=True)
def test_two_who_press_at_once_make_one_press(people: People) -> None:
    assert together(lambda: press("olga"), lambda: press("stan")) == ["", ""]
    assert EmergencyStop.objects.count() == 1
    assert [action for action, _ in actions()] == ["red_button.pressed"]


@pytest.mark.django_db(transaction=True)
def test_a_press_that_meets_a_confirmation_leaves_the_stop_on(people: People) -> None:
    press()
    proposed = propose(people.admin)
    codes = together(lambda: confirm(people.second, proposed), lambda: press("stan"))
    assert codes in (["", ""], ["red_button.no_release", ""])
    standing = emergency_stop_state(LAKE)
    assert standing is not None
    assert standing.pressed_by == ("stan" if codes[0] == "" else "olga")
    assert standing.release_id is None


@pytest.mark.django_db(transaction=True)
def test_two_who_confirm_at_once_end_it_once(people: People) -> None:
    press()
    proposed = propose(people.admin)
    codes = together(
        lambda: confirm(people.second, proposed), lambda: confirm(people.third, proposed)
    )
    assert sorted(codes) == ["", "red_button.released"]
    assert [action for action, _ in actions()].count("red_button.released") == 1
