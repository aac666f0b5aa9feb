"""The preview of a selection counts what the plan then holds, and an empty one makes no plan."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from lifecycle.backup.models import Hold
from lifecycle.drop.services.preview import plan_preview
from lifecycle.models import DatabaseSetting, DropPlan
from tests.component.lifecycle.plan_world import LAKE, NOW, Item, World, make_world, partitions

pytestmark = pytest.mark.django_db(transaction=True)
ORDERS = ("sales.orders",)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    return make_world(tmp_path)


def hold(partition: str) -> None:
    Hold.objects.create(
        lake=LAKE, db="sales", table="orders", partition=partition, kind="EXTENSION",
        reason="needed", placed_by="alice", placed_at=NOW,
    )  # fmt: skip


def hold_one(world: World) -> None:
    hold("dt=2026-01-02")


def hold_all(world: World) -> None:
    hold("")


def observe(world: World) -> None:
    DatabaseSetting.objects.filter(lake=LAKE).update(mode="OBSERVE")


def nothing(world: World) -> None:
    """Leave the world as it is."""


def plan_first(world: World) -> None:
    world.plan()


@pytest.mark.parametrize("change", [nothing, hold_one, hold_all, observe, plan_first])
def test_the_preview_is_what_the_plan_becomes(
    world: World, change: Callable[[World], None]
) -> None:
    read = Item(part_name="dt=2026-01-09", cls="STILL_READ")
    young = Item(part_name="dt=2026-01-10", cls="NOT_NOW")
    world.scan([*partitions(5), read, young])
    change(world)

    seen = plan_preview(LAKE, world.person("anna"), databases=(), tables=ORDERS, now=NOW)
    plan = world.plan()

    assert (seen.n_items, seen.n_bytes) == (plan.n_items, plan.n_bytes)
    assert seen.n_not_judged == 0
    # The picture of these tests counts no young items of a table; the plan reads the scan's files.
    assert dict(seen.left_out) == {k: n for k, n in plan.left_out.items() if k != "NOT_DUE"}


def test_an_empty_choice_stays_on_the_form_with_its_reasons(world: World) -> None:
    world.scan(partitions(3))
    hold_all(world)
    client = Client()
    client.force_login(world.person("anna"))
    address = "/lifecycle/plans/new/"

    answer = client.post(address, {"tables": "sales.orders", "reason": "old data"})
    by_api = client.post(
        "/api/v1/lifecycle/plans/",
        {"tables": ["sales.orders"], "reason": "old data"},
        content_type="application/json",
    )

    assert answer.status_code == by_api.status_code == 400
    assert "no plan was created" in answer.content.decode()
    assert "3: On hold" in by_api.json()["message"], by_api.json()
    assert not DropPlan.objects.exists()


def test_nothing_chosen_is_said_with_what_to_choose(world: World) -> None:
    world.scan(partitions(3))
    client = Client()
    client.force_login(world.person("anna"))
    address, words = "/lifecycle/plans/new/", "Choose at least one database or table"

    assert words not in client.get(address).content.decode()
    looked = client.get(f"{address}?lake=main&look=1")
    assert looked.status_code == 400
    assert words in looked.content.decode()
    posted = client.post(address, {"reason": "old data"})
    assert posted.status_code == 400
    assert words in posted.content.decode()
    assert 'name="look"' in client.get(address).content.decode()
    assert not DropPlan.objects.exists()


def test_a_plan_that_turns_out_empty_is_not_created_and_did_not_fail(world: World) -> None:
    world.scan(partitions(2))
    hold_all(world)
    plan = world.plan()
    assert plan.state == "NOT_CREATED"
    client = Client()
    client.force_login(world.person("anna"))
    text = client.get(f"/lifecycle/plans/{plan.pk}/").content.decode()
    assert "Not created" in text
    assert ">Failed<" not in text


def test_a_plan_keeps_the_caps_it_was_made_under(world: World, settings: Settings) -> None:
    world.scan(partitions(4))
    plan = world.plan()
    client = Client()
    client.force_login(world.person("bert"))
    before = client.get(f"/lifecycle/plans/{plan.pk}/").context["limits"]

    settings.LAKEWARDEN_PLAN_MAX_ITEMS = before.caps.max_items + 7
    world.scan(partitions(1))
    DatabaseSetting.objects.filter(lake=LAKE).update(mode="NOTIFY")
    after = client.get(f"/lifecycle/plans/{plan.pk}/").context["limits"]

    assert (after.caps, after.n_inventory) == (before.caps, before.n_inventory)


def test_nothing_is_said_of_what_was_left_out_while_a_plan_is_being_made(world: World) -> None:
    world.scan(partitions(2))
    client = Client()
    client.force_login(world.person("anna"))
    answer = client.post(
        "/lifecycle/plans/new/", {"tables": "sales.orders", "reason": "old data"}, follow=True
    )
    assert answer.context["plan"].state == "DRAFTING"
    assert "left out" not in answer.content.decode().lower()
