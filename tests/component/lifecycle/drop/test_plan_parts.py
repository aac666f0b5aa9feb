"""What is kept of each owner's part of a plan equals a plain recount, whoever looks."""

import random
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from lifecycle.drop.selectors.plans import Loss, plan_loss, plan_tables, plans_visible
from lifecycle.drop.services.store import plan_parts_write
from lifecycle.models import DropPlan, DropPlanPart, DropPlanTable
from portal.access.models import DatabaseAdministrator, OwnerMapping, User
from tests.component.lifecycle.plan_world import LAKE, NOW, World, make_world, partitions

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    return make_world(tmp_path)


def planned(dice: random.Random, n_tables: int = 60) -> DropPlan:
    """Make a plan over tables of many owners, some without one, some without times."""
    plan = DropPlan.objects.create(
        lake=LAKE, requested_by="anna", created_at=NOW, n_tables=n_tables, state="WITHDRAWN"
    )
    for number in range(n_tables):
        old = None if dice.random() < 0.2 else NOW - timedelta(days=dice.randint(60, 400))
        DropPlanTable.objects.create(
            plan=plan,
            lake=LAKE,
            db=dice.choice(("sales", "web", "Sales")),
            table=f"t{number}",
            tbl_id=number,
            kind="PARTITION",
            owner=dice.choice(("alice", "dora", "etl", "", "eve ")),
            db_owner=dice.choice(("dora", "alice", "")),
            n_items=dice.randint(1, 400),
            n_bytes=dice.randint(0, 10**12),
            n_files=dice.randint(0, 900),
            n_still_read=dice.randint(0, 3),
            oldest_at=old,
            newest_at=old and old + timedelta(days=dice.randint(0, 9)),
            is_first_drop=dice.random() < 0.5,
            digest="0" * 64,
        )
    plan_parts_write(plan)
    return plan


def recounted(plan: DropPlan, user: User) -> Loss:
    """Add up the visible tables one by one."""
    rows = list(plan_tables(plan, user))
    return Loss(
        n_tables=len(rows),
        n_items=sum(row.n_items for row in rows),
        n_bytes=sum(row.n_bytes for row in rows),
        n_files=sum(row.n_files for row in rows),
        n_still_read=sum(row.n_still_read for row in rows),
        n_first=sum(row.is_first_drop for row in rows),
        oldest_at=min(_known(row.oldest_at for row in rows), default=None),
        newest_at=max(_known(row.newest_at for row in rows), default=None),
        is_part=len(rows) < plan.n_tables,
    )


def _known(times: Iterable[Any]) -> list[Any]:
    return [time for time in times if time is not None]


def test_each_persons_part_equals_a_plain_recount(world: World) -> None:
    DatabaseAdministrator.objects.create(lake=LAKE, db="web", username="eve")
    OwnerMapping.objects.create(
        lake=LAKE, owner="etl", username="alice", added_by="anna", added_at=NOW
    )
    seen = set()
    for seed in range(6):
        plan = planned(random.Random(seed))
        for name in ("anna", "otto", "alice", "dora", "eve"):
            user = User.objects.get(username=name)
            part = plan_loss(plan, user)
            assert part == recounted(plan, user), (seed, name)
            listed: Any = plans_visible(LAKE, user).get(pk=plan.pk)
            if part.is_part:
                sums = (listed.seen_tables, listed.seen_items, listed.seen_bytes)
                assert sums == (part.n_tables, part.n_items, part.n_bytes)
            seen.add((name, part.is_part))
    assert seen == {(name, name not in ("anna", "otto")) for name, _ in seen}


def test_written_again_they_are_the_same(world: World) -> None:
    plan = planned(random.Random(7))

    def rows() -> list[dict[str, Any]]:
        named = DropPlanPart.objects.order_by("db", "owner", "db_owner")
        return [{**row, "id": 0} for row in named.values()]

    before = rows()
    assert len(before) > 10
    plan_parts_write(plan)
    assert rows() == before


def test_a_plan_that_is_drawn_up_has_them(world: World) -> None:
    world.scan(partitions(3))
    plan = world.plan()
    assert (plan.state, plan.parts.count()) == ("PENDING", 2)
    for name in ("anna", "alice"):
        user = world.person(name)
        assert plan_loss(plan, user) == recounted(plan, user)
        assert plan_loss(plan, user).n_items == 3
    assert not plans_visible(LAKE, world.person("eve")).exists()
