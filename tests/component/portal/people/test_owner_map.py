"""Tests owner mappings: people behind service accounts are notified, see the data, may act."""

from datetime import datetime
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from lifecycle.core.services.people import People as Reachable
from lifecycle.core.services.people import responsible_of
from lifecycle.inventory.selectors.policy import asker_of
from lifecycle.models import TableFinding
from lifecycle.notices.domain.notice import responsible_for
from lifecycle.planning.selectors.inputs import owns_table
from portal.access.models import DatabaseAdministrator, OwnerMapping, User
from portal.access.visibility import answered_by
from portal.audit.models import AuditEvent
from portal.catalog.selectors import OWNERS
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import NotAllowed, RuleViolation
from portal.people.deprovisioning import person_close
from portal.people.owners import MOST_PEOPLE, owner_map, owner_set
from tests.component.conftest import LAKE, NOW, People
from tests.component.lifecycle.scanned import scan

pytestmark = pytest.mark.django_db(transaction=True)
OWNER = "etl_user"


@pytest.fixture(autouse=True)
def picture(lake: LakeConfig, people: People) -> None:
    """A scanned lake in which a service account owns a table."""
    scan(lake, now=NOW)
    TableFinding.objects.filter(db="sales", table="orders").update(owner=OWNER, db_owner="dbo")


def orders() -> TableFinding:
    return TableFinding.objects.get(db="sales", table="orders")


def put(people: People, *names: str, now: datetime = NOW) -> tuple[str, ...]:
    return owner_set(LAKE, OWNER, names, user=people.admin, reason="etl team", now=now)


def told() -> tuple[str, ...]:
    return responsible_of(orders(), Reachable.of(LAKE)).usernames


def anew(user: User) -> User:
    return User.objects.get(pk=user.pk)


def test_the_people_behind_a_name_are_told_and_may_act(people: People) -> None:
    assert told() == ("ada", "ben", "cem"), "nobody is known, so the admins answer"
    olga, stan = anew(people.owner), anew(people.stranger)
    assert not TableFinding.objects.for_user(olga).filter(pk=orders().pk).exists()
    assert put(people, "olga", "otto") == ("olga", "otto")
    assert told() == ("olga", "otto")
    olga = anew(people.owner)
    assert TableFinding.objects.for_user(olga).filter(pk=orders().pk).exists()
    assert TableFinding.objects.filter(answered_by("olga", owners=OWNERS), pk=orders().pk).exists()
    assert owns_table("olga", lake=LAKE, db="sales", table="orders")
    assert asker_of(olga, orders()).owns
    assert not TableFinding.objects.for_user(stan).filter(pk=orders().pk).exists()
    assert not asker_of(stan, orders()).owns
    assert not owns_table("olga", lake="other", db="sales", table="orders")
    put(people)
    assert not asker_of(anew(people.owner), orders()).owns
    assert told() == ("ada", "ben", "cem")


def test_every_change_is_recorded_once(people: People) -> None:
    put(people, "olga")
    put(people, "olga")
    put(people, "stan")
    events = AuditEvent.objects.filter(object_type="owner", object_id=OWNER).order_by("seq")
    assert [(event.data["before"], event.data["after"]) for event in events] == [
        ([], ["olga"]),
        (["olga"], ["stan"]),
    ]
    assert owner_map(LAKE) == {OWNER: ("stan",)}
    row = OwnerMapping.objects.get()
    assert (row.added_by, row.added_at) == ("ada", NOW)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"owner": ""}, "owner.name"),
        ({"owner": "x" * 129}, "owner.name"),
        ({"owner": "etl\r\nBcc: x"}, "owner.name"),
        ({"usernames": ["nobody"]}, "owner.person"),
        ({"usernames": ["olga\r\nBcc: x"]}, "owner.person"),
        ({"usernames": ["gone"]}, "owner.left"),
        ({"usernames": [OWNER]}, "owner.self"),
        ({"usernames": [f"u{n}" for n in range(MOST_PEOPLE + 1)]}, "owner.many"),
        ({"reason": "  "}, "owner.reason"),
    ],
)
def test_what_is_wrong_is_named(people: People, changes: dict[str, Any], code: str) -> None:
    User.objects.create_user("gone", "gone@example.org", is_active=False)
    said: dict[str, Any] = {"owner": OWNER, "usernames": ["olga"], "reason": "because", **changes}
    with pytest.raises(RuleViolation) as refused:
        owner_set(
            LAKE, said.pop("owner"), said.pop("usernames"), user=people.admin, now=NOW, **said
        )
    assert refused.value.code == code
    assert "\n" not in refused.value.message
    assert not OwnerMapping.objects.exists()


def test_only_an_admin_says_who_stands_behind_a_name(people: People) -> None:
    for user in (people.owner, people.operator, people.stranger):
        with pytest.raises(NotAllowed):
            owner_set(LAKE, OWNER, ["olga"], user=user, reason="because", now=NOW)


def test_a_leaver_is_replaced_by_the_database_owner_then_the_admins(people: People) -> None:
    TableFinding.objects.filter(db="sales", table="orders").update(db_owner="dora")
    put(people, "olga")
    assert told() == ("olga", "dora")
    person_close("olga", user=people.admin, reason="left", now=NOW)
    responsible = responsible_of(orders(), Reachable.of(LAKE))
    assert responsible.usernames == ("dora",)
    assert responsible.left == ("olga",)
    person_close("dora", user=people.admin, reason="left", now=NOW)
    assert told() == ("ada", "ben", "cem")


@pytest.mark.parametrize("email", ["olga@example.org\r\nBcc: x@y.z", "", "no address"])
def test_a_person_without_a_good_address_is_not_written_to(people: People, email: str) -> None:
    put(people, "olga")
    User.objects.filter(username="olga").update(email=email)
    responsible = responsible_of(orders(), Reachable.of(LAKE))
    assert responsible.usernames == ("ada", "ben", "cem")
    assert (responsible.left, responsible.strangers[0]) == ((), "olga")


def test_a_name_that_stands_for_many_is_told_once() -> None:
    found = responsible_for(
        table_owner=OWNER,
        db_owner="olga",
        db_administrators=["", OWNER],
        known={"olga", "stan", OWNER},
        stand_for={OWNER: ("olga", "stan")},
    )
    assert found.usernames == ("olga", "stan")
    assert found.unknown == ()


def test_what_one_person_answers_for_costs_one_query(
    people: People, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    put(people, "olga", "otto")
    DatabaseAdministrator.objects.create(username="olga", lake=LAKE, db="sales")
    DatabaseAdministrator.objects.create(username="olga", lake="other", db="hr")
    with django_assert_num_queries(1):
        condition = answered_by("olga", owners=OWNERS)
    found = TableFinding.objects.current(LAKE).filter(condition)
    assert found.filter(pk=orders().pk).exists()
    assert not TableFinding.objects.filter(answered_by("stan", owners=OWNERS)).exists()
    put(people)
    assert TableFinding.objects.filter(answered_by("olga", owners=OWNERS)).exists()
    DatabaseAdministrator.objects.filter(lake=LAKE).delete()
    assert not TableFinding.objects.filter(
        answered_by("olga", owners=OWNERS), pk=orders().pk
    ).exists()
