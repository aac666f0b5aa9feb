"""Requesters are computed at every decision and at execution, from the last changes of all."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from lifecycle.backup.domain.states import HoldKind
from lifecycle.backup.models import Hold
from lifecycle.backup.services.holds import hold_place, hold_release
from lifecycle.drop.services.execution import plan_execute
from lifecycle.models import DropPlan, PlanState
from lifecycle.planning.services.parties import requesters_of
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, PortalError, StaleState
from tests.component.lifecycle.plan_world import LAKE, NOW, World, make_world, partitions
from tests.support.plan_words import plan_approve, plan_reject

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)
ORDERS = {("sales", "orders")}


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = 86_400
    world = make_world(tmp_path)
    world.scan(partitions(3))
    return world


def approve(plan: DropPlan, world: World, name: str, now: datetime = NOW) -> DropPlan:
    return plan_approve(
        plan.pk, user=world.person(name), digest=plan.digest, authenticated_at=now, now=now
    )


def code_of(action: Callable[[], object], kind: type[PortalError]) -> str:
    with pytest.raises(kind) as caught:
        action()
    return caught.value.code


def hold(world: World, name: str, now: datetime, kind: HoldKind = HoldKind.LEGAL) -> Hold:
    return hold_place(
        lake=LAKE,
        name=("sales", "orders", ""),
        kind=kind,
        until=None,
        reason="court",
        user=world.person(name),
        now=now,
    )


def release(held: Hold, world: World, name: str, now: datetime) -> None:
    hold_release(held.public_id, user=world.person(name), reason="over", now=now)


def changed_here(actor: str, before: int, after: int, at: datetime, *, level: int = 1) -> None:
    """Record a change of TTL that the portal made."""
    audit_record(
        "policy.changed",
        actor=actor,
        lake=LAKE,
        object_type="table",
        object_id="sales.orders",
        data={
            "from": {"level": level, "ttl": before},
            "to": {"level": 1, "ttl": after},
            "through": "portal",
        },
        now=at,
    )


def changed_there(actor: str, before: int, after: int, at: datetime) -> None:
    """Record a note of the guard about a change of TTL at the metastore."""
    audit_record(
        "policy.changed",
        actor=actor,
        lake=LAKE,
        object_type="table",
        object_id="sales.orders",
        data={
            "happened_at": at.isoformat(),
            "before": {"LEVEL": "1", "TTL": str(before)},
            "after": {"LEVEL": "1", "TTL": str(after)},
        },
        now=at,
    )


def requesters() -> list[str]:
    return requesters_of(LAKE, maker="otto", tables=ORDERS, wishes=())


def test_who_releases_a_hold_after_the_plan_was_drawn_up_may_not_approve_it(world: World) -> None:
    plan = world.plan(maker="otto")
    approve(plan, world, "bert")
    held = hold(world, "carl", NOW)
    release(held, world, "anna", NOW + timedelta(minutes=1))
    refused = partial(approve, plan, world, "anna", NOW + timedelta(minutes=2))
    assert code_of(refused, NotAllowed) == "approval.own"
    assert approve(plan, world, "carl").state == PlanState.APPROVED


def test_an_approver_who_changes_a_ttl_before_the_run_no_longer_counts(world: World) -> None:
    plan = world.plan(maker="otto")
    for name in ("bert", "carl"):
        approve(plan, world, name)
    changed_here("carl", 365, 60, NOW + timedelta(minutes=5))
    assert code_of(lambda: plan_execute(plan.pk, now=NOW + DAY), StaleState) == "approval.approvers"


def test_a_third_person_can_approve_in_place_of_one_who_became_a_requester(world: World) -> None:
    plan = world.plan(maker="otto")
    approve(plan, world, "bert")
    changed_here("bert", 365, 60, NOW)
    assert approve(plan, world, "carl").state == PlanState.PENDING
    assert approve(plan, world, "anna").state == PlanState.APPROVED
    assert plan_execute(plan.pk, now=NOW + DAY).params["plan"] == str(plan.pk)


def test_a_requester_may_still_say_no(world: World) -> None:
    plan = world.plan(maker="otto")
    approve(plan, world, "bert")
    changed_here("bert", 365, 60, NOW)
    ended = plan_reject(
        plan.pk,
        user=world.person("bert"),
        digest=plan.digest,
        authenticated_at=NOW,
        now=NOW,
        reason="my mistake",
    )
    assert ended.state == PlanState.REJECTED


def test_the_last_release_counts_however_early_its_hold_was_placed(world: World) -> None:
    first = hold(world, "bert", NOW)
    second = hold(world, "carl", NOW + timedelta(minutes=1))
    release(second, world, "carl", NOW + timedelta(minutes=2))
    release(first, world, "anna", NOW + timedelta(minutes=3))
    assert requesters() == ["anna", "otto"]


def test_an_owners_extension_does_not_hide_who_released_a_legal_hold(world: World) -> None:
    held = hold(world, "bert", NOW)
    release(held, world, "bert", NOW + timedelta(minutes=1))
    hold(world, "alice", NOW + timedelta(minutes=2), HoldKind.EXTENSION)
    assert requesters() == ["alice", "bert", "otto"]


def test_an_old_change_here_does_not_hide_a_later_one_at_the_metastore(world: World) -> None:
    changed_here("carl", 365, 30, NOW - 9 * DAY)
    changed_there("lw-act", 365, 30, NOW - 9 * DAY + timedelta(seconds=1))
    changed_here("alice", 30, 365, NOW - 8 * DAY)
    changed_there("lw-act", 30, 365, NOW - 8 * DAY + timedelta(seconds=1))
    assert requesters() == ["alice", "otto"]
    changed_there("bert", 365, 30, NOW)
    assert requesters() == ["bert", "otto"]


def test_who_lowered_the_ttl_counts_although_another_changed_the_level_since(world: World) -> None:
    changed_here("bert", 365, 30, NOW - 2 * DAY)
    changed_here("carl", 30, 30, NOW - DAY, level=0)
    assert requesters() == ["bert", "carl", "otto"]
