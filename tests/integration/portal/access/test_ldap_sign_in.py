"""Log-in by a real LDAP directory: bind, groups, StartTLS, and every way it can fail."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from ldap3 import MODIFY_ADD, MODIFY_DELETE, Connection, Server

from portal.access.models import User
from portal.access.services import person_create
from portal.connectors.ldap import Ldap
from portal.connectors.sign_in_config import LdapConfig, SignInConfig
from portal.lake.errors import ExternalFailure
from portal.people.deprovisioning import ldap_leavers
from portal.people.models import SignInIdentity
from stack.ledger import Ledger
from stack.servers.ldap import GROUPS, PEOPLE, SERVICE, LdapServer

PASSWORD = "the company's own password"
EVERYBODY = {
    "ada": ["lake-admins", "staff"],
    "ben": ["lake-admins"],
    "olga": ["staff"],
    "eve": [],
    "a*b": ["staff"],
}
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LdapServer]:
    var = tmp_path_factory.mktemp("ldap")
    ledger = Ledger(var / "stack.json")
    server = LdapServer(var, ledger=ledger, people=EVERYBODY, password=PASSWORD)
    server.start()
    server.wait_ready()
    yield server
    server.stop()


@pytest.fixture
def ways(directory: LdapServer, tmp_path: Path, settings: Any) -> dict[str, Any]:
    settings.LAKEWARDEN_SIGN_IN = tmp_path / "sign_in.json"
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    said = {
        "ldap": {
            "url": directory.url,
            "start_tls": True,
            "ca_file": str(directory.ca_file),
            "user_base": PEOPLE,
            "group_base": GROUPS,
            "bind_dn": SERVICE,
            "bind_password_file": str(directory.password_file),
        },
        "roles": {"admin": ["lake-admins"], "owner": ["staff"]},
    }
    write(settings, said)
    return said


def write(settings: Any, said: dict[str, Any]) -> None:
    settings.LAKEWARDEN_SIGN_IN.unlink(missing_ok=True)
    settings.LAKEWARDEN_SIGN_IN.write_text(json.dumps(said), encoding="utf-8")


def come(name: str, password: str = PASSWORD) -> tuple[Client, str]:
    client = Client()
    answer = client.post(reverse("ui:login"), {"username": name, "password": password})
    return client, answer.content.decode()


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def ldap_of(said: dict[str, Any], **changes: Any) -> Ldap:
    config = SignInConfig.from_dict({**said, "ldap": {**said["ldap"], **changes}}).ldap
    assert isinstance(config, LdapConfig)
    return Ldap(config)


def test_a_bind_as_the_person_lets_them_in_with_their_roles(ways: dict[str, Any]) -> None:
    client, _ = come("ADA")
    assert is_in(client)
    user = User.objects.get(username="ada")
    assert user.roles_on("") == {"admin"}
    assert (user.email, user.first_name) == ("ada@example.com", "Ada Example")
    subject = SignInIdentity.objects.get(user=user).subject
    assert len(subject) > len("ldap://127.0.0.1:1 ") + 30, "the entry's UUID, not its name"
    olga, _ = come("olga")
    assert is_in(olga)
    assert User.objects.get(username="olga").roles_on("") == frozenset()


@pytest.mark.parametrize("password", ["wrong", "", " "])
def test_a_wrong_or_empty_password_lets_nobody_in(ways: dict[str, Any], password: str) -> None:
    client, _ = come("ada", password)
    assert not is_in(client)
    assert ldap_of(ways).sign_in("ada", password) is None


@pytest.mark.parametrize("name", ["*", "ad*", "ada)(uid=*", "(|(uid=*))", "ada,ou=people", "\\2a"])
def test_a_name_is_never_a_filter(ways: dict[str, Any], name: str) -> None:
    assert ldap_of(ways).sign_in(name, PASSWORD) is None
    assert ldap_of(ways).look_up(name) is None
    by_dn = ldap_of(ways, user_base="", user_dn=f"uid={{username}},{PEOPLE}")
    assert by_dn.sign_in(name, PASSWORD) is None


def test_a_name_with_odd_signs_is_found_as_it_stands(ways: dict[str, Any]) -> None:
    found = ldap_of(ways).look_up("a*b")
    assert found is not None
    assert found.groups == frozenset({"staff"})


def test_without_a_service_account_the_name_is_bound_to_at_once(ways: dict[str, Any]) -> None:
    ldap = ldap_of(
        ways, user_base="", bind_dn="", bind_password_file="", user_dn=f"uid={{username}},{PEOPLE}"
    )
    found = ldap.sign_in("ada", PASSWORD)
    assert found is not None
    assert found.groups == frozenset({"lake-admins", "staff"})
    assert not ldap.can_look_up


def test_who_is_in_no_group_is_told_so(ways: dict[str, Any]) -> None:
    client, page = come("eve")
    assert not is_in(client)
    assert "none of the groups" in page
    assert not User.objects.filter(username="eve").exists()


def test_a_group_that_is_gone_takes_the_role_and_other_sessions(
    ways: dict[str, Any], directory: LdapServer
) -> None:
    first, _ = come("ben")
    assert User.objects.get(username="ben").roles_on("") == {"admin"}
    member = {"member": [(MODIFY_DELETE, [f"uid=ben,{PEOPLE}"])]}
    root = Connection(Server(directory.url), "cn=root", PASSWORD, auto_bind=True)
    try:
        assert root.modify(f"cn=lake-admins,{GROUPS}", member)
        again, page = come("ben")
        assert not is_in(again)
        assert "none of the groups" in page
        assert User.objects.get(username="ben").roles_on("") == frozenset()
        assert first.get(reverse("ui:profile")).status_code == 302
    finally:
        back = {"member": [(MODIFY_ADD, [f"uid=ben,{PEOPLE}"])]}
        root.modify(f"cn=lake-admins,{GROUPS}", back)
        root.unbind()


def test_who_is_gone_from_the_directory_has_left(
    ways: dict[str, Any], directory: LdapServer, settings: Any
) -> None:
    clients = {name: come(name)[0] for name in ("ada", "ben", "olga")}
    assert ldap_leavers(now=timezone.now()) == []
    member = {"member": [(MODIFY_DELETE, [f"uid=ada,{PEOPLE}"])]}
    entry = {"cn": "Ben", "sn": "Example", "userPassword": PASSWORD}
    root = Connection(Server(directory.url), "cn=root", PASSWORD, auto_bind=True)
    try:
        assert root.modify(f"cn=lake-admins,{GROUPS}", member)
        assert root.delete(f"uid=ben,{PEOPLE}")
        assert ldap_leavers(now=timezone.now()) == ["ben"]
        assert ldap_leavers(now=timezone.now()) == []
        assert User.objects.get(username="ada").roles_on("") == frozenset(), (
            "the group was looked up"
        )
        assert clients["ben"].get(reverse("ui:profile")).status_code == 302
        assert clients["olga"].get(reverse("ui:profile")).status_code == 200
        assert not User.objects.get(username="ben").is_active
        assert root.add(f"uid=ben,{PEOPLE}", "inetOrgPerson", entry)
        again, page = come("ben")
        assert not is_in(again), "another person of the same name"
        assert "somebody else" in page or "none of the groups" in page
    finally:
        back = {"member": [(MODIFY_ADD, [f"uid={name},{PEOPLE}" for name in ("ada", "ben")])]}
        root.modify(
            f"cn=lake-admins,{GROUPS}", {"member": [(MODIFY_DELETE, [f"uid=ben,{PEOPLE}"])]}
        )
        root.modify(f"cn=lake-admins,{GROUPS}", back)
        root.unbind()
    write(settings, {**ways, "ldap": {**ways["ldap"], "url": "ldap://127.0.0.1:1"}})
    with pytest.raises(ExternalFailure):
        ldap_leavers(now=timezone.now())
    assert User.objects.get(username="olga").is_active, "a server that is down closes nobody"


def test_a_proof_by_password_reads_the_groups_anew(
    ways: dict[str, Any], directory: LdapServer
) -> None:
    client, _ = come("ada")
    session = client.session
    session["lw_authenticated_at"] = 0.0
    session.save()
    answer = client.post(reverse("ui:fresh-login"), {"password": "wrong"})
    assert "not your password" in answer.content.decode()
    answer = client.post(reverse("ui:fresh-login"), {"password": PASSWORD, "next": "/audit/"})
    assert answer["Location"] == "/audit/"
    assert client.session["lw_authenticated_at"] > 1


def test_local_accounts_stand_beside_the_directory_and_keep_their_name(
    ways: dict[str, Any], settings: Any
) -> None:
    person_create("root", password="correct horse staple", email="", roles=["admin"])
    person_create("ada", password="correct horse staple", email="", roles=["operator"])
    assert is_in(come("root", "correct horse staple")[0])
    assert is_in(come("ada", "correct horse staple")[0])
    taken, page = come("ada")
    assert not is_in(taken)
    assert "already" in page
    write(settings, {**ways, "local": False})
    assert not is_in(come("root", "correct horse staple")[0])
    assert is_in(come("olga")[0])


def test_what_is_wrong_with_the_directory_is_told_in_words(
    ways: dict[str, Any], settings: Any
) -> None:
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"url": "ldap://127.0.0.1:1"}, "ldap.down"),
        ({"ca_file": ""}, "ldap.down"),
        ({"bind_dn": f"cn=nobody,{PEOPLE}"}, "ldap.service_account"),
        ({"bind_password_file": "/no/such/file"}, "sign_in.secret_file"),
        ({"user_filter": "(|(uid={username})(uid=*))"}, "ldap.ambiguous"),
    )
    for changes, code in wrong:
        with pytest.raises(ExternalFailure) as failed:
            ldap_of(ways, **changes).sign_in("ada", PASSWORD)
        assert failed.value.code == code, changes
        assert PASSWORD not in failed.value.message
    write(settings, {**ways, "ldap": {**ways["ldap"], "url": "ldap://127.0.0.1:1"}})
    for _ in range(7):  # an outage is nobody's failed log-in
        client, page = come("ada")
        assert "cannot be asked" in page
        assert not is_in(client)


def test_plain_ldap_has_to_be_asked_for(ways: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="in the clear"):
        ldap_of(ways, start_tls=False)
    plain = ldap_of(ways, start_tls=False, allow_plain=True)
    assert plain.sign_in("ada", PASSWORD) is not None


def test_a_bind_password_that_is_replaced_counts_at_the_next_log_in(
    ways: dict[str, Any], directory: LdapServer, tmp_path: Path, settings: Any
) -> None:
    file = tmp_path / "bind_password"
    file.write_text("former\n", encoding="utf-8")
    write(settings, {**ways, "ldap": {**ways["ldap"], "bind_password_file": str(file)}})
    client, page = come("ada")
    assert not is_in(client)
    assert "cannot be asked" in page
    file.write_text(f"{directory.password}\nformer\n", encoding="utf-8")
    assert is_in(come("ada")[0])
