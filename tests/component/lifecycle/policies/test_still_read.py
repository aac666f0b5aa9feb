"""Data that is recently read goes only when its owner says so.

Who may, until when, and in a plan.
"""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from lifecycle.drop.services.deletion_requests import deletion_request
from lifecycle.models import DeletionConsent, DropPlan, SamplePartition, TableFinding
from lifecycle.policies.services.deletion_consents import (
    ConsentParams,
    deletion_consent_give,
    deletion_consent_withdraw,
    recently_read_names,
)
from portal.access.models import OwnerMapping, User
from portal.audit.models import AuditEvent
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from tests.component.lifecycle.plan_world import (
    LAKE,
    NOW,
    TODAY,
    World,
    changed,
    make_world,
    partitions,
)

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)
UNTIL = TODAY + 9 * DAY


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    """Three due partitions of alice's, one of which was read lately."""
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_DIRECTORY = tmp_path / "directory.json"
    world = make_world(tmp_path)
    one, *others = partitions(3)
    world.scan([changed(one, cls="STILL_READ"), *others])
    table = TableFinding.objects.get(table="orders")
    for part_id, (name, cls) in enumerate(
        (("dt=2026-01-01", "STILL_READ"), ("dt=2026-01-02", "CLEAN_NOW")), start=1
    ):
        SamplePartition.objects.create(table=table, part_id=part_id, partition=name, cls=cls)
    return world


def say(user: User, **changes: Any) -> DeletionConsent:
    said: dict[str, Any] = {"db": "sales", "table": "orders", "partition": "", "until": UNTIL}
    wish = ConsentParams(**(said | {"reason": "a crawler reads it"} | changes))
    return deletion_consent_give(LAKE, wish, user=user, now=NOW)


def names(today: date = TODAY) -> list[str]:
    return [one.partition for one in recently_read_names(LAKE, today=today)]


def left(plan: DropPlan) -> int:
    return int(plan.left_out.get("STILL_READ", 0))


def test_it_stays_out_of_a_plan_until_its_owner_says_yes(world: World) -> None:
    before = world.plan()
    assert (before.n_items, left(before)) == (2, 1)
    DropPlan.objects.update(state="WITHDRAWN")
    yes = say(world.person("alice"), partition="dt=2026-01-01")
    assert say(world.person("alice"), partition="dt=2026-01-01").pk == yes.pk
    plan = world.plan()
    assert (plan.n_items, left(plan)) == (3, 0)
    assert "alice" in plan.requesters, "who let it go does not approve that it goes"
    event = AuditEvent.objects.get(action="still_read.yes")
    assert (event.actor, event.object_id) == ("alice", "sales.orders")


@pytest.mark.parametrize("name", ["anna", "otto", "dora"])
def test_nobody_says_it_for_an_owner_who_is_there(world: World, name: str) -> None:
    with pytest.raises(NotAllowed):
        say(world.person(name))
    with pytest.raises(NotVisible):
        say(world.person("eve"))
    if name == "dora":
        ask: dict[str, Any] = {"lake": LAKE, "name": ("sales", "orders", ""), "reason": "old"}
        with pytest.raises(NotAllowed):
            deletion_request(**ask, with_recently_read=True, user=world.person(name), now=NOW)
    assert not DeletionConsent.objects.exists()


def test_an_admin_who_owns_the_table_may(world: World) -> None:
    TableFinding.objects.update(owner="anna")
    assert say(world.person("anna")).given_by == "anna"
    with pytest.raises(NotVisible):
        say(world.person("alice"))


def test_for_an_owner_who_left_the_owner_of_the_database_says_it(world: World) -> None:
    say(world.person("alice"))
    assert names() == [""]
    User.objects.filter(username="alice").update(is_active=False)
    assert names() == [], "the word of who left counts no more"
    assert say(world.person("dora")).given_by == "dora"
    assert names() == [""]
    with pytest.raises(NotAllowed):
        say(world.person("anna"))


def test_the_people_behind_a_service_account_say_it(world: World) -> None:
    TableFinding.objects.update(owner="etl")
    OwnerMapping.objects.create(
        lake=LAKE, owner="etl", username="alice", added_by="anna", added_at=NOW
    )
    alice = User.objects.get(username="alice")
    assert say(alice).given_by == "alice"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"reason": " "}, "still_read.reason"),
        ({"until": TODAY - DAY}, "still_read.until"),
        ({"until": TODAY + 31 * DAY}, "still_read.until"),
        ({"partition": "dt=2026-01-02"}, "still_read.none"),
    ],
)
def test_what_cannot_be_said(world: World, changes: dict[str, Any], code: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        say(world.person("alice"), **changes)
    assert refused.value.code == code


def test_it_ends_by_its_day_by_being_taken_back_and_with_the_table(world: World) -> None:
    yes = say(world.person("alice"))
    assert names(UNTIL) == [""]
    assert names(UNTIL + DAY) == []
    TableFinding.objects.update(tbl_id=77)
    assert names() == [], "a table of that name created again is another one"
    TableFinding.objects.update(tbl_id=1)
    with pytest.raises(NotVisible):
        deletion_consent_withdraw(LAKE, yes.public_id, user=world.person("eve"), now=NOW)
    with pytest.raises(NotAllowed):
        deletion_consent_withdraw(LAKE, yes.public_id, user=world.person("otto"), now=NOW)
    deletion_consent_withdraw(LAKE, yes.public_id, user=world.person("bert"), now=NOW)
    assert names() == []
    with pytest.raises(StaleState):
        deletion_consent_withdraw(LAKE, yes.public_id, user=world.person("alice"), now=NOW)
    assert left(world.plan()) == 1


def test_the_pages_and_the_api(world: World) -> None:
    client = Client()
    client.force_login(world.person("alice"))
    url = reverse("lifecycle:still-read")
    assert "No consents yet" in client.get(url).content.decode()
    why = reverse("lifecycle:why", args=["sales", "orders"])
    assert "despite recent reads" in client.get(f"{why}?partition=dt%3D2026-01-01").content.decode()
    assert (
        "despite recent reads"
        not in client.get(f"{why}?partition=dt%3D2026-01-02").content.decode()
    )
    body = {
        "db": "sales",
        "table": "orders",
        "partition": "dt=2026-01-01",
        "until": (timezone.now() + DAY).date().isoformat(),
        "reason": "a crawler reads it",
    }
    assert client.post(reverse("lifecycle:still-read-new"), body).status_code == 302
    assert "a crawler reads it" in client.get(url).content.decode()
    assert "dt=2026-01-01" in client.get(f"{url}?format=csv").getvalue().decode()
    api = reverse("lifecycle-api:still-read")
    made = client.post(api, body | {"partition": ""}, content_type="application/json")
    assert made.status_code == 201
    assert len(client.get(api).json()["results"]) == 2
    end = reverse("lifecycle-api:still-read-end", args=[made.json()["id"]])
    assert client.post(end).status_code == 204
    assert len(client.get(api).json()["results"]) == 1
    client.force_login(world.person("bert"))
    assert client.post(api, body, content_type="application/json").status_code == 403
    page = client.get(f"{why}?partition=dt%3D2026-01-01").content.decode()
    assert "despite recent reads" not in page, "an admin is not asked for the owner's yes"
