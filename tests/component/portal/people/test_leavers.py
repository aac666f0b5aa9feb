"""Tests departures: sessions, approvals and notifications of leavers end, and only theirs."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from lifecycle.core.services.people import People as Reachable
from portal.access.models import User
from portal.access.services import person_create
from portal.approvals.kinds import ApprovalKind, register
from portal.approvals.services import approval_check, approval_decide, approval_open
from portal.audit.models import AuditEvent
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.people.deprovisioning import departed, directory_leavers, person_close, person_reopen
from portal.people.models import Deactivation
from tests.component.conftest import LAKE, People

PASSWORD = "correct horse staple"
KIND = "test.leaver"
pytestmark = pytest.mark.usefixtures("lake")


def close(people: People, name: str, now: datetime) -> None:
    person_close(name, user=people.admin, reason="left the company", now=now)


def test_a_leavers_sessions_end_and_do_not_come_back(people: People, now: datetime) -> None:
    client = Client()
    client.force_login(people.owner)
    assert client.get(reverse("ui:profile")).status_code == 200
    close(people, "olga", now)
    close(people, "olga", now)
    assert client.get(reverse("ui:profile")).status_code == 302
    form = {"username": "olga", "password": PASSWORD}
    Client().post(reverse("ui:login"), form)
    assert departed() == {"olga"}
    assert AuditEvent.objects.filter(action="person.left", object_id="olga").count() == 1
    person_reopen("olga", user=people.admin, reason="back again", now=now)
    assert client.get(reverse("ui:profile")).status_code == 302, "the old session stays ended"
    client.post(reverse("ui:login"), form)
    assert "_auth_user_id" not in client.session, "nor does the old password come back"
    person_create("olga", password=PASSWORD, email="olga@example.org")
    client.post(reverse("ui:login"), form)
    assert "_auth_user_id" in client.session
    assert departed() == frozenset()


@pytest.mark.parametrize("who", ["owner", "operator", "dba"])
def test_only_an_admin_closes_and_never_themselves(people: People, now: datetime, who: str) -> None:
    user: User = getattr(people, who)
    for step in (person_close, person_reopen):
        with pytest.raises(NotAllowed):
            step("stan", user=user, reason="because", now=now)
    with pytest.raises(NotAllowed):
        close(people, "ada", now)
    with pytest.raises(NotVisible):
        close(people, "nobody\r\nBcc: x", now)
    with pytest.raises(RuleViolation):
        person_close("stan", user=people.admin, reason=" ", now=now)
    assert departed() == frozenset()


def test_the_approval_of_a_leaver_does_not_count(people: People, now: datetime) -> None:
    register(ApprovalKind(KIND))
    approval = approval_open(
        KIND,
        lake=LAKE,
        object_id="00000000-0000-4000-8000-000000000001",
        digest="d",
        requesters=["olga"],
        n_needed=2,
        summary={},
        now=now,
    )
    for user in (people.second, people.third):
        approval_decide(
            approval.pk,
            user=user,
            decision="APPROVE",
            reason="",
            digest="d",
            authenticated_at=now,
            now=now,
        )
    later = now + timedelta(hours=25)
    approval_check(KIND, object_id=approval.object_id, digest="d", now=later)
    close(people, "cem", now)
    with pytest.raises(StaleState) as refused:
        approval_check(KIND, object_id=approval.object_id, digest="d", now=later)
    assert refused.value.code == "approval.approvers"


def directory(path: Path, *names: str) -> Path:
    said = {name: {"name": name.title(), "email": f"{name}@example.org"} for name in names}
    path.write_text(json.dumps({"people": said}), encoding="utf-8")
    return path


def test_who_is_gone_from_the_directory_has_left(
    people: People, now: datetime, tmp_path: Path, settings: Any
) -> None:
    file = tmp_path / "directory.json"
    settings.LAKEWARDEN_DIRECTORY = file
    everybody = ("olga", "dora", "ada", "erna")
    assert directory_leavers(directory(file, *everybody), now=now) == []
    assert "olga" in Reachable.of(LAKE).addresses
    assert directory_leavers(directory(file, "dora", "ada"), now=now) == ["erna", "olga"]
    assert directory_leavers(file, now=now) == []
    gone = Reachable.of(LAKE)
    assert "olga" not in gone.addresses
    assert {"olga", "erna"} <= gone.left
    assert not User.objects.get(username="olga").is_active
    assert User.objects.get(username="ben").is_active, "never was in the directory"
    directory_leavers(directory(file, *everybody), now=now)
    assert departed() == {"olga"}, "an account is opened by an admin alone"


def test_a_broken_directory_closes_nobody(people: People, now: datetime, tmp_path: Path) -> None:
    file = directory(tmp_path / "directory.json", "olga", "dora", "ada", "ben", "cem")
    directory_leavers(file, now=now)
    assert directory_leavers(directory(file, "ada", "ben"), now=now) == []
    assert directory_leavers(directory(file), now=now) == []
    assert not Deactivation.objects.exists()
    assert directory_leavers(directory(file, "dora", "ada", "ben", "cem"), now=now) == ["olga"]
