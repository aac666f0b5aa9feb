"""Tests log-ins that a server vouches for: their own account, with the roles of their groups."""

from datetime import datetime

import pytest

from portal.access.models import User
from portal.audit.models import AuditEvent
from portal.connectors.identity import Identity
from portal.connectors.lake_config import LakeConfig
from portal.connectors.sign_in_config import OidcConfig, SignInConfig
from portal.lake.errors import NotAllowed
from portal.people.deprovisioning import person_close
from portal.people.domain import Way
from portal.people.models import SignInIdentity
from portal.people.provisioning import person_arrives
from tests.component.conftest import NOW, People
from tests.support.together import together

pytestmark = pytest.mark.django_db(transaction=True)
ROLES: dict[str, tuple[str, ...]] = {"admin": ("lake-admins",), "owner": ("staff",)}
CONFIG = SignInConfig(roles=ROLES)


@pytest.fixture(autouse=True)
def governed(lake: LakeConfig) -> None:
    """One lake, in whose record things stand."""


def arrive(
    subject: str,
    username: str,
    *groups: str,
    way: Way = Way.OIDC,
    config: SignInConfig = CONFIG,
    now: datetime = NOW,
) -> User:
    said = Identity(subject, username, "Nora New", "nora@example.org", frozenset(groups))
    return person_arrives(said, way, config=config, now=now)


def refusal(*args: str, way: Way = Way.OIDC, config: SignInConfig = CONFIG) -> str:
    with pytest.raises(NotAllowed) as refused:
        arrive(*args, way=way, config=config)
    return refused.value.code


def test_two_first_log_ins_at_one_instant_are_one_person() -> None:
    assert together(*[lambda: arrive("x 1", "nora", "staff")] * 4) == [""] * 4
    assert User.objects.filter(username="nora").count() == 1
    assert SignInIdentity.objects.count() == 1


def test_an_account_hangs_on_the_subject_and_not_on_the_name() -> None:
    nora = arrive("x 1", "nora", "staff")
    assert arrive("x 1", "nora.renamed", "staff").pk == nora.pk
    assert refusal("x 2", "nora", "lake-admins") == "sign_in.other_person"
    assert refusal("x 2", "NORA", "lake-admins") == "sign_in.other_person"
    assert User.objects.get(username="nora").roles_on("") == frozenset()


def test_another_way_in_needs_an_operators_word_too() -> None:
    nora = arrive("x 1", "nora", "staff")
    assert refusal("entry 1", "nora", "staff", way=Way.LDAP) == "sign_in.name_taken"
    adopting = SignInConfig(roles=ROLES, adopt_local=True)
    assert arrive("entry 1", "nora", "staff", way=Way.LDAP, config=adopting).pk == nora.pk
    assert SignInIdentity.objects.get(user=nora).way == Way.LDAP


def test_a_closed_account_stays_closed(people: People) -> None:
    arrive("x 1", "nora", "lake-admins")
    person_close("nora", user=people.admin, reason="left", now=NOW)
    assert refusal("x 1", "nora", "lake-admins") == "sign_in.closed"
    assert not User.objects.get(username="nora").is_active


def test_roles_follow_the_groups_and_are_recorded_when_they_change() -> None:
    for groups in (["staff"], ["lake-admins"], ["lake-admins", "staff"], ["staff"]):
        arrive("x 1", "nora", *groups)
    assert refusal("x 1", "nora") == "sign_in.no_group"
    events = AuditEvent.objects.filter(action="person.roles").order_by("seq")
    assert [event.data["after"] for event in events] == [["admin"], []]
    assert refusal("x 9", "newcomer") == "sign_in.no_group"
    assert not User.objects.filter(username="newcomer").exists()


def test_only_people_of_the_domain_come_in() -> None:
    oidc = OidcConfig(issuer="https://id.example.com", client_id="x", username_domain="example.com")
    config = SignInConfig(roles=ROLES, oidc=oidc)
    assert arrive("x 1", "Nora@Example.com", "staff", config=config).username == "nora"
    assert refusal("x 2", "ada@evil.com", "lake-admins", config=config) == "sign_in.domain"
