"""N8: a legal hold counts whenever it comes: before the plan, before the drop, before the purge.

What the job then does with the portal's word is proven on real metastores (act_cases, purge).
"""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import cast
from uuid import UUID

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from lifecycle.backup.domain.control import Control, ControlReader
from lifecycle.backup.domain.states import HoldKind
from lifecycle.backup.models import Hold
from lifecycle.backup.services.holds import hold_place, hold_release
from lifecycle.drop.services.execution import plans_start_due
from lifecycle.models import PlanState
from lifecycle.policies.services.holding import HoldParams, legal_hold_place
from portal.audit.models import AuditEvent
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.runs.kinds.registry import get_kind
from portal.runs.models import Run
from portal.runs.records.spools import new_spool
from tests.component.lifecycle.plan_world import LAKE, NOW, Item, World, make_world, partitions
from tests.support.plan_words import plan_approve

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = 86_400
    world = make_world(tmp_path)
    world.scan(partitions(3))
    return world


def hold(world: World, *, partition: str = "", who: str = "bert") -> Hold:
    """Place a hold as the page does: on what the last scan saw."""
    wish = HoldParams(LAKE, "sales", "orders", partition, None, "case 12")
    return legal_hold_place(wish, user=world.person(who), now=NOW)


def hold_one(world: World, table: str) -> Hold:
    """Hold one partition of a table, as somebody whose approval no plan needs."""
    return hold_place(
        lake=LAKE,
        name=("sales", table, "dt=2026-01-02"),
        kind=HoldKind.LEGAL,
        until=None,
        reason="case 12",
        user=world.person("anna"),
        now=NOW,
    )


def told(run: Run, tmp_path: Path) -> Control:
    """Return what the run's job reads after the portal's beat, as it does before it is started."""
    Run.objects.filter(pk=run.pk).update(epoch=1)
    run.refresh_from_db()
    spool = new_spool(run)
    spool.create()
    Run.objects.filter(pk=run.pk).update(spool=str(spool.root))
    run.refresh_from_db()
    get_kind(run.kind).beat(run)
    return ControlReader(spool.read_control, spool.read_part)()


def test_a_hold_before_the_plan_keeps_a_partition_and_its_whole_table_out(world: World) -> None:
    world.scan([*partitions(2), Item(tbl="whole", tbl_id=2, part_name="")])
    hold_one(world, "orders")
    hold_one(world, "whole")
    plan = world.plan(tables=("sales.orders", "sales.whole"))
    assert (plan.n_items, plan.left_out) == (1, {"HELD": 2})


def test_a_hold_between_approval_and_drop_is_told_to_the_job_before_it_starts(
    world: World, tmp_path: Path
) -> None:
    plan = world.plan()
    for name in ("bert", "carl"):
        plan = plan_approve(
            plan.pk, user=world.person(name), digest=plan.digest, authenticated_at=NOW, now=NOW
        )
    assert plan.state == PlanState.APPROVED
    placed = hold_one(world, "orders")
    (run,) = plans_start_due(NOW + DAY)
    control = told(run, tmp_path)
    kept = [
        day
        for day in (1, 2, 3)
        if control.hold_on("sales", "orders", f"dt=2026-01-0{day}", now=NOW + DAY)
    ]
    assert kept == [2]
    hold_release(placed.public_id, user=world.person("carl"), reason="case closed", now=NOW)
    assert told(run, tmp_path).holds == ()


def test_a_hold_between_drop_and_purge_is_told_to_the_purge(world: World, tmp_path: Path) -> None:
    run = Run.objects.create(
        lake=LAKE, kind="lifecycle.purge", requested_by="schedule", queued_at=NOW
    )
    assert told(run, tmp_path).holds == ()
    hold(world)
    found = told(run, tmp_path).hold_on("sales", "orders", "dt=2026-01-01", now=NOW)
    assert found is not None
    assert found.reason == "case 12"


def test_the_page_shows_standing_and_ended_holds_and_exports_them(world: World) -> None:
    hold_one(world, "whole")
    ended = hold(world)
    hold_release(ended.public_id, user=world.person("carl"), reason="case closed", now=NOW)
    client = Client()
    client.force_login(world.person("bert"))

    def page(query: str) -> str:
        response = client.get(f"/lifecycle/holds/?{query}")
        assert response.status_code == 200
        return b"".join(cast("Iterable[bytes]", response)).decode()

    assert 'sales.whole</code></a> <code class="lw-path">dt=2026-01-02</code>' in page("")
    assert "sales.orders" not in page("")
    assert "sales.whole" not in page("state=ended")
    assert "Ended by carl" in page("state=ended")
    assert f"/holds/{ended.public_id}/release/" not in page("state=ended")
    assert "No hold fits the filter" in page("kind=RESTORE")
    assert "No hold fits the filter" in page("db=hr")
    (line,) = page("state=ended&format=csv").splitlines()[1:]
    assert ",sales,orders,,LEGAL,,case 12,bert," in line
    assert ",carl," in line
    text = page("db=sales&table=whole")
    assert text.count('id="id_db"') == text.count('id="place-db"') == 1


def test_only_admins_place_and_release_a_legal_hold_and_both_are_audited(world: World) -> None:
    for name in ("otto", "alice"):
        with pytest.raises(NotAllowed):
            hold(world, who=name)
    with pytest.raises(NotVisible):
        hold(world, partition="dt=none")
    placed = hold(world)
    for name in ("otto", "alice"):
        with pytest.raises(NotAllowed):
            hold_release(placed.public_id, user=world.person(name), reason="over", now=NOW)
    with pytest.raises(RuleViolation):
        hold_release(placed.public_id, user=world.person("carl"), reason=" ", now=NOW)
    hold_release(placed.public_id, user=world.person("carl"), reason="over", now=NOW)
    with pytest.raises(StaleState):
        hold_release(placed.public_id, user=world.person("carl"), reason="over", now=NOW)
    events = AuditEvent.objects.filter(object_type="hold").order_by("seq")
    assert [(one.action, one.actor) for one in events] == [
        ("hold.placed", "bert"),
        ("hold.released", "carl"),
    ]
    assert all(UUID(one.object_id) == placed.public_id for one in events)
