"""People, roles, lakes, the registry, fresh logins and how long a session lives."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.backends.signed_cookies import SessionStore
from django.core.management import CommandError, call_command
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone

from portal.access import registry
from portal.access.fresh import (
    authenticated_at,
    is_fresh,
    remember_authentication,
    require_fresh,
)
from portal.access.lakes import all_lakes, get_lake
from portal.access.models import DatabaseAdministrator, LakeRole, User
from portal.access.services import directory_sync, person_create
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import NotVisible, RuleViolation
from portal.people.models import SignInIdentity
from tests.component.conftest import LAKE, People

pytestmark = pytest.mark.django_db


def test_roles_come_from_groups_alone(people: People) -> None:
    assert people.admin.is_lake_admin_of("")
    assert not people.admin.is_lake_operator_of("")
    assert people.operator.is_lake_operator_of("")
    assert people.owner.roles_on("") == frozenset()
    assert people.admin.is_lake_staff_of("")
    assert people.operator.is_lake_staff_of("")
    assert not people.owner.is_lake_staff_of("")
    chief = User.objects.create_superuser("root", password="x")
    assert not chief.is_lake_admin_of("")
    assert not chief.is_lake_staff_of("")
    gone = User.objects.get(pk=people.admin.pk)
    gone.is_active = False
    assert gone.roles_on("") == frozenset()


def test_creating_a_person_again_changes_only_what_is_new(people: People) -> None:
    again = person_create(
        "ada", password="correct horse staple", email="new@example.org", roles=["operator"]
    )
    assert again.pk == people.admin.pk
    assert again.email == "new@example.org"
    assert again.roles_on("") == frozenset({"operator"})
    assert again.check_password("correct horse staple")


@pytest.mark.parametrize(
    "changes", [{"password": "short"}, {"password": "password1234"}, {"roles": ["king"]}]
)
def test_weak_passwords_and_unknown_roles_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(RuleViolation):
        person_create("x", **{"password": "correct horse staple", "email": "", **changes})
    assert not User.objects.filter(username="x").exists()


def test_people_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "people.json"
    person = {"username": "pia", "password": "correct horse staple", "roles": ["admin"]}
    file.write_text(json.dumps([person]), encoding="utf-8")
    out = StringIO()
    call_command("create_people", file=file, stdout=out)
    n_recorded = AuditEvent.objects.count()
    call_command("create_people", file=file, stdout=out)
    assert AuditEvent.objects.count() == n_recorded
    assert User.objects.get(username="pia").is_lake_admin_of("")
    file.write_text(json.dumps([{"username": "pia"}]), encoding="utf-8")
    with pytest.raises(CommandError):
        call_command("create_people", file=file, stdout=out)
    with pytest.raises(CommandError, match=r"missing\.json cannot be read"):
        call_command("create_people", file=tmp_path / "missing.json", stdout=out)
    file.write_text("[", encoding="utf-8")
    with pytest.raises(CommandError, match=r"people\.json cannot be read"):
        call_command("create_people", file=file, stdout=out)


def test_a_file_of_people_takes_no_role_and_records_what_it_gives(
    people: People, lake: LakeConfig, tmp_path: Path
) -> None:
    LakeRole.objects.create(user=people.admin, role="operator", lake=LAKE)
    file = tmp_path / "people.json"
    person = {"username": "ada", "password": "another horse staple", "roles": ["operator"]}
    file.write_text(json.dumps([person]), encoding="utf-8")
    out = StringIO()
    call_command("create_people", file=file, stdout=out)
    ada = User.objects.get(username="ada")
    assert {str(one) for one in ada.stored_grants()} == {"admin", "operator", f"operator@{LAKE}"}
    assert "ada has now: operator." in out.getvalue()
    assert f"ada keeps, though the file does not have it: admin, operator@{LAKE}." in out.getvalue()
    assert (ada.email, ada.check_password("another horse staple")) == (people.admin.email, True)
    told = AuditEvent.objects.filter(object_id="ada").order_by("seq")
    assert [one.action for one in told] == ["person.password_set", "person.role_granted"]
    assert (told[1].actor, told[1].data["role"]) == ("manage.py", "operator")


def test_a_file_of_people_gives_no_role_to_whom_a_log_in_server_gives_them(
    people: People, tmp_path: Path, now: datetime
) -> None:
    SignInIdentity.objects.create(
        user=people.owner, way="ldap", subject="x", first_at=now, last_at=now
    )
    file = tmp_path / "people.json"
    person = {"username": people.owner.username, "password": "another horse staple"}
    file.write_text(json.dumps([{**person, "roles": ["admin"]}]), encoding="utf-8")
    out = StringIO()
    call_command("create_people", file=file, stdout=out)
    assert User.objects.get(pk=people.owner.pk).stored_grants() == frozenset()
    assert "did not get admin: a log-in server gives the roles." in out.getvalue()


def test_administrators_follow_the_directory(tmp_path: Path) -> None:
    file = tmp_path / "directory.json"
    file.write_text(
        json.dumps({"people": {}, "database_administrators": {"sales": ["dora", "olga"]}})
    )
    assert directory_sync(LAKE, path=file) == 2
    assert directory_sync(LAKE, path=file) == 0
    file.write_text(json.dumps({"people": {}, "database_administrators": {"sales": ["dora"]}}))
    assert directory_sync(LAKE, path=file) == 1
    assert [str(row) for row in DatabaseAdministrator.objects.all()] == ["dora of main.sales"]


def test_lakes_are_read_again_when_the_file_changes(lake: LakeConfig, settings: Any) -> None:
    assert get_lake(LAKE) == lake
    with pytest.raises(NotVisible):
        get_lake("other")
    settings.LAKEWARDEN_LAKES.write_text(
        json.dumps({LAKE: lake.as_dict(), "other": {**lake.as_dict(), "lake": "other"}})
    )
    assert set(all_lakes()) == {LAKE, "other"}
    settings.LAKEWARDEN_LAKES.unlink()
    assert all_lakes() == {}


def test_the_menu_has_the_entries_of_which_a_person_may_see_a_page(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_pages", {})
    monkeypatch.setattr(registry, "_entries", {})
    registry.register_entry(registry.Entry("plans", "Plans", "clipboard", 20))
    registry.register_entry(registry.Entry("paths", "Paths?", "route", 10))
    registry.register_entry(registry.Entry("paths", "Paths", "route", 10))
    registry.register_entry(registry.Entry("empty", "Empty", "file", 5))
    admins = frozenset({"admin"})
    registry.register_page(registry.Page("plans", "Drop plans", "plans", 20, admins))
    registry.register_page(registry.Page("paths", "Exceptions", "waivers", 20))
    registry.register_page(registry.Page("paths", "Violations", "paths", 10))
    registry.register_page(registry.Page("paths", "Violations!", "paths", 10))

    def menu(user: User) -> list[tuple[str, list[str]]]:
        return [
            (entry.title, [page.title for page in pages])
            for entry, pages in registry.menu_for(user, LAKE)
        ]

    paths = ("Paths", ["Violations!", "Exceptions"])
    assert menu(people.owner) == [paths]
    assert menu(people.admin) == [paths, ("Plans", ["Drop plans"])]
    assert [page.title for page in registry.pages_for(people.admin, LAKE)] == [
        "Violations!", "Exceptions", "Drop plans",
    ]  # fmt: skip


def test_what_waits_comes_before_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_cards", [])
    registry.register_home_card(lambda request: registry.Card("number", "Due", "3", "/"))
    registry.register_home_card(lambda request: registry.Card("waiting", "Approve", "1", "/"))
    registry.register_home_card(lambda request: None)
    cards = registry.cards_for(HttpRequest())
    assert [card.title for card in cards] == ["Approve", "Due"]


def asked(method: str = "get", **headers: str) -> HttpRequest:
    request: HttpRequest = getattr(RequestFactory(headers=headers), method)("/plans/1/?a=b")
    request.session = SessionStore()
    return request


def test_a_login_is_fresh_for_fifteen_minutes(now: datetime) -> None:
    request = asked()
    assert not is_fresh(request, now)
    remember_authentication(request, now)
    assert authenticated_at(request) == now
    assert is_fresh(request, now + timedelta(seconds=900))
    assert not is_fresh(request, now + timedelta(seconds=901))
    assert not is_fresh(request, now - timedelta(seconds=1))


def test_a_stale_login_is_sent_to_the_password_page_and_back() -> None:
    view = require_fresh(lambda request: HttpResponse("done"))
    sent = view(asked())
    assert sent.status_code == 302
    assert sent["Location"] == "/login/again/?next=%2Fplans%2F1%2F%3Fa%3Db"
    posted = view(asked("post", referer="http://testserver/plans/1/"))
    assert posted["Location"] == "/login/again/?next=%2Fplans%2F1%2F"
    request = asked()
    remember_authentication(request, timezone.now())
    assert view(request).status_code == 200


@pytest.mark.parametrize(
    ("site", "refused"), [("cross-site", True), ("same-site", True), ("same-origin", False)]
)
def test_another_sites_page_cannot_post_here(site: str, refused: bool) -> None:
    answer = Client(headers={"sec-fetch-site": site}).post("/login/", {})
    assert (answer.status_code == 403) is refused
    assert Client(headers={"sec-fetch-site": site}).get("/login/").status_code == 200


def logged_in(user: User, **stamps: float) -> Client:
    client = Client()
    client.force_login(user)
    session = client.session
    for key, value in stamps.items():
        session[key] = value
    session.save()
    return client


@pytest.mark.parametrize(
    ("idle_minutes", "age_hours", "is_in"),
    [(0, 0, True), (29, 11, True), (31, 1, False), (0, 12.1, False)],
)
def test_a_session_ends_idle_or_old(
    people: People, idle_minutes: float, age_hours: float, is_in: bool
) -> None:
    at = datetime.now(tz=UTC).timestamp()
    client = logged_in(
        people.owner, lw_began_at=at - age_hours * 3600, lw_seen_at=at - idle_minutes * 60
    )
    client.get("/theme/")
    assert ("_auth_user_id" in client.session) is is_in


def test_a_page_that_polls_is_no_activity(people: People) -> None:
    at = datetime.now(tz=UTC).timestamp() - 600
    client = logged_in(people.owner, lw_began_at=at, lw_seen_at=at)
    client.get("/theme/", headers={"hx-request": "true"})
    assert client.session["lw_seen_at"] == at
    client.get("/theme/")
    assert client.session["lw_seen_at"] > at
