"""Tests roles on one lake: who decides, counts, sees and is written to on which lake."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from lifecycle.core.services.people import People as Recipients
from lifecycle.core.services.people import keepers
from portal.access.actors import Actor
from portal.access.lakes import all_lakes
from portal.access.models import LakeRole, User
from portal.access.roles.domain import RoleGrant
from portal.access.scopes import METRICS_SCOPE
from portal.access.selectors import people_of_lake, people_with_roles
from portal.access.services import person_create, roles_set
from portal.access.visibility import may_see, may_see_rows
from portal.approvals.domain import ApprovalState
from portal.approvals.kinds import ApprovalKind, register
from portal.approvals.models import Approval
from portal.approvals.selectors import approval_moves
from portal.approvals.services import approval_check, approval_decide, approval_open, approval_use
from portal.audit.models import AuditEvent
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.notices.models import Notice
from portal.notices.reached import notified_staff
from portal.notices.selectors import notices_for_user
from portal.notices.services import notice_retry
from portal.people.deprovisioning import person_close
from portal.people.role_changes import role_grant, role_take
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from portal.runs.models import Run
from portal.safety.services import (
    emergency_stop_start,
    stop_release_confirm,
    stop_release_propose,
)
from portal.ui.selectors import audit_for_user, get_run_for_user, runs_for_user
from tests.component.conftest import LAKE, People
from tests.component.lifecycle.plan_world import lake_entry

pytestmark = pytest.mark.django_db
OTHER = "archive"
KIND = "test.lake"
PASSWORD = "correct horse staple"


@pytest.fixture(autouse=True)
def governed(tmp_path: Path, settings: Any) -> None:
    """Two lakes, and a kind of approval that two admins give at once."""
    entries = {name: lake_entry(tmp_path) for name in (LAKE, OTHER)}
    (tmp_path / "lakes.json").write_text(json.dumps(entries), encoding="utf-8")
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = 0
    assert set(all_lakes()) == {LAKE, OTHER}
    register(ApprovalKind(KIND))


def made(name: str, *roles: str) -> User:
    return person_create(name, password=PASSWORD, email=f"{name}@example.org", roles=roles)


def asked(lake: str, now: datetime) -> Approval:
    return approval_open(
        KIND,
        lake=lake,
        object_id=lake,
        digest="d1",
        requesters=["otto"],
        summary={},
        now=now,
    )


def approve(approval: Approval, user: User, now: datetime) -> Approval:
    return approval_decide(
        approval.pk,
        user=user,
        decision="APPROVE",
        reason="",
        digest="d1",
        authenticated_at=now,
        now=now,
    )


def test_an_admin_of_one_lake_decides_on_that_lake_alone(now: datetime, people: People) -> None:
    ida = made("ida", f"admin@{LAKE}")
    here, there = asked(LAKE, now), asked(OTHER, now)
    assert approval_moves(here, user=ida, now=now) == {"APPROVE", "REJECT"}
    assert approval_moves(there, user=ida, now=now) == frozenset()
    with pytest.raises(NotAllowed) as refused:
        approve(there, ida, now)
    assert refused.value.code == "approval.role"
    assert approve(here, ida, now).state == ApprovalState.PENDING
    assert approve(here, people.admin, now).state == ApprovalState.APPROVED


def test_two_admins_of_different_lakes_are_not_two(now: datetime, people: People) -> None:
    ida, ivo = made("ida", f"admin@{LAKE}"), made("ivo", f"admin@{OTHER}")
    approval = asked(LAKE, now)
    approve(approval, ida, now)
    with pytest.raises(NotAllowed):
        approve(approval, ivo, now)
    with pytest.raises(StaleState):
        approval_check(KIND, object_id=LAKE, digest="d1", now=now)


@pytest.mark.parametrize("kept", [(), (f"admin@{OTHER}",), (f"operator@{LAKE}",)])
def test_who_lost_the_role_on_the_lake_before_it_runs_does_not_count(
    now: datetime, people: People, kept: tuple[str, ...]
) -> None:
    ida = made("ida", f"admin@{LAKE}")
    approval = asked(LAKE, now)
    approve(approval, people.admin, now)
    approve(approval, ida, now)
    assert approval_check(KIND, object_id=LAKE, digest="d1", now=now).pk == approval.pk
    made("ida", *kept)
    later = now + timedelta(minutes=1)
    with pytest.raises(StaleState) as refused:
        approval_check(KIND, object_id=LAKE, digest="d1", now=later)
    assert refused.value.code == "approval.approvers"
    with pytest.raises(StaleState) as refused:
        approval_use(approval.pk, run_id="r1", now=later)
    assert refused.value.code == "approval.approvers"
    made("ida", "admin")
    assert approval_use(approval.pk, run_id="r1", now=later).state == ApprovalState.USED


def test_the_emergency_stop_ends_by_two_admins_of_its_lake(now: datetime, people: People) -> None:
    ida, ivo = made("ida", f"admin@{LAKE}"), made("ivo", f"admin@{OTHER}")
    emergency_stop_start(lake=LAKE, pressed_by="ivo", reason="a doubt", now=now)
    with pytest.raises(NotAllowed):
        stop_release_propose(lake=LAKE, user=ivo, reason="all is well", now=now)
    press = stop_release_propose(lake=LAKE, user=ida, reason="all is well", now=now)
    assert press.release_id is not None
    with pytest.raises(NotAllowed):
        stop_release_confirm(lake=LAKE, release_id=press.release_id, user=ivo, now=now)
    made("ida", f"admin@{OTHER}")
    with pytest.raises(StaleState) as refused:
        stop_release_confirm(lake=LAKE, release_id=press.release_id, user=people.admin, now=now)
    assert refused.value.code == "red_button.proposer"


def test_what_a_person_sees_is_of_their_lakes(now: datetime, people: People) -> None:
    ida = made("ida", f"operator@{LAKE}")
    runs = {
        lake: Run.objects.create(
            lake=lake, kind="test", queued_at=now, requested_by="ada", unique_key=lake
        )
        for lake in (LAKE, OTHER)
    }
    assert list(runs_for_user(ida, LAKE)) == [runs[LAKE]]
    assert list(runs_for_user(ida, OTHER)) == []
    assert get_run_for_user(runs[LAKE].pk, ida) == runs[LAKE]
    with pytest.raises(NotVisible):
        get_run_for_user(runs[OTHER].pk, ida)
    for lake, is_seen in ((LAKE, True), (OTHER, False)):
        table = TableName.parse(LakeId(lake), "sales.orders")
        assert may_see(ida, table, owner="olga") is is_seen
        assert not may_see_rows(ida, table, owner="olga"), "operators need no data"
        assert Actor.of(ida, lake=lake).is_staff is is_seen
        assert not Actor.of(ida, lake=lake).is_admin
    assert not Actor.of(ida, lake="").is_staff
    assert not audit_for_user(ida, OTHER).exists()


def test_mails_and_their_lists_know_the_lake(now: datetime, people: People) -> None:
    ida, ivo = made("ida", f"admin@{LAKE}"), made("ivo", f"operator@{OTHER}")
    assert set(notified_staff(LAKE)) == {"ada", "ben", "cem", "otto", "ida"}
    assert set(notified_staff(OTHER)) == {"ada", "ben", "cem", "otto", "ivo"}
    assert "ida" in Recipients.of(LAKE).admins
    assert "ida" not in Recipients.of(OTHER).admins
    assert "ivo" in keepers(Recipients.of(OTHER), OTHER)
    assert "ivo" not in keepers(Recipients.of(LAKE), LAKE)
    mail = Notice.objects.create(
        lake=OTHER,
        kind="test",
        day=now.date(),
        recipient="ada",
        email="ada@example.org",
        subject="s",
        text="t",
        queued_at=now,
        not_before=now,
    )
    assert not notices_for_user(ida).exists()
    assert list(notices_for_user(ivo)) == [mail]
    assert list(notices_for_user(ivo, OTHER)) == [mail]
    for user, lake in ((ivo, LAKE), (ida, OTHER), (ida, LAKE)):
        assert not notices_for_user(user, lake).exists()
    with pytest.raises(NotAllowed):
        notice_retry(mail.pk, user=ida, now=now)


def test_what_has_no_lake_needs_the_role_on_all_of_them(now: datetime, people: People) -> None:
    ida = made("ida", f"admin@{LAKE}", f"admin@{OTHER}")
    with pytest.raises(NotAllowed):
        person_close("stan", user=ida, reason="has left us", now=now)
    with pytest.raises(NotAllowed):
        role_grant("stan", f"operator@{LAKE}", user=ida, reason="to help", now=now)
    person_close("stan", user=people.admin, reason="has left us", now=now)
    assert list(people_of_lake({"admin"}, "")) == [people.admin, people.second, people.third]


def test_roles_are_read_once_for_a_person_and_once_for_a_list(people: People) -> None:
    made("ida", f"admin@{LAKE}")
    ida = User.objects.get(username="ida")
    with CaptureQueriesContext(connection) as queries:
        assert ida.is_lake_admin_of(LAKE)
        assert not ida.is_lake_staff_of(OTHER)
        assert not ida.is_portal_staff
        assert ida.staffed_lakes == frozenset({LAKE})
    assert len(queries) == 1
    with CaptureQueriesContext(connection) as queries:
        found = {one.username: one.roles_on(LAKE) for one in people_with_roles({"admin"})}
    assert len(queries) == 2
    assert found["ida"] == {"admin"}
    gone = User.objects.get(username="ida")
    gone.is_active = False
    assert gone.grants == frozenset()


def test_a_role_is_granted_and_taken_with_a_record_on_its_lake(
    now: datetime, people: People
) -> None:
    said: dict[str, Any] = {"user": people.admin, "reason": "to help", "now": now}
    for _ in range(2):
        role_grant("olga", f"operator@{OTHER}", **said)
    assert User.objects.get(username="olga").roles_on(OTHER) == {"operator"}
    event = AuditEvent.objects.get(action="person.role_granted")
    assert (event.lake, event.data["lake"], event.data["after"]) == (
        OTHER,
        OTHER,
        [f"operator@{OTHER}"],
    )
    for role, error in (
        ("admin", NotAllowed),
        (f"admin@{LAKE}", NotAllowed),
        ("operator@mainn", RuleViolation),
        ("king", RuleViolation),
    ):
        with pytest.raises(error):
            role_grant("olga", role, **said)
    with pytest.raises(NotAllowed):
        role_take("ada", "admin", **said)
    role_take("olga", f"operator@{OTHER}", **said)
    assert not LakeRole.objects.exists()
    assert AuditEvent.objects.get(action="person.role_taken").lake == OTHER


def test_the_command_grants_and_takes_and_refuses_in_words(people: People) -> None:
    why = ("--reason", "on call")
    call_command("person_role", "grant", "--user", "olga", "--role", f"admin@{OTHER}", *why)
    assert User.objects.get(username="olga").is_lake_admin_of(OTHER)
    call_command("person_role", "take", "--user", "olga", "--role", f"admin@{OTHER}", *why)
    assert not User.objects.get(username="olga").grants
    for user, role, said in (
        ("olga", "admin@mainn", "There is: archive, main"),
        ("olga", "king", "Give admin or operator"),
        ("nobody", "admin", "no account"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("person_role", "grant", "--user", user, "--role", role, *why)
    assert not LakeRole.objects.exists()


def test_the_record_of_a_lake_tells_its_staff_only_of_its_own_roles(
    now: datetime, people: People
) -> None:
    olga = User.objects.get(username="olga")
    roles_set(olga, frozenset({RoleGrant("operator", LAKE)}))
    said: dict[str, Any] = {"user": User.objects.get(username="ada"), "now": now, "reason": "duty"}
    role_grant("olga", f"operator@{OTHER}", **said)
    person_close("olga", user=said["user"], reason="private", now=now)
    ida = made("ida", f"operator@{OTHER}")
    (told,) = audit_for_user(ida, OTHER).filter(object_type="person")
    assert (told.action, told.data["before"]) == ("person.role_granted", [])
    assert told.data["after"] == [f"operator@{OTHER}"]
    assert audit_for_user(said["user"], OTHER).filter(object_type="person").count() == 2


def test_a_token_for_the_metrics_needs_the_role_on_all_lakes(now: datetime, people: People) -> None:
    ida, wish = made("ida", f"admin@{LAKE}"), TokenParams("m", (METRICS_SCOPE,), 1)
    with pytest.raises(NotAllowed, match="all lakes"):
        token_make("ida", wish, user=ida, now=now)
    assert token_make("ada", wish, user=User.objects.get(username="ada"), now=now).secret


def test_who_names_a_server_is_admin_of_all_lakes(client: Client, people: People) -> None:
    address = f"{reverse('pipelines:pipelines')}?lake={LAKE}"
    for user, has_button in ((made("ida", f"admin@{LAKE}"), False), (people.admin, True)):
        client.force_login(user)
        assert ("Create a pipeline" in client.get(address).content.decode()) is has_button


def test_lists_that_are_of_no_lake_offer_no_lake_to_filter_by(
    client: Client, people: People
) -> None:
    client.force_login(people.admin)
    for name, is_offered in (("ui:people", False), ("ui:tokens", False), ("ui:runs", True)):
        text = client.get(f"{reverse(name)}?lake={OTHER}").content.decode()
        assert ('id="lw-filter-lake"' in text) is is_offered, name
        # The page stays on its lake when the filter is sent.
        assert f'name="lake" value="{OTHER}"' in text or is_offered
