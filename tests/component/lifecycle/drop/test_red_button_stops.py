"""The emergency stop stops whatever destroys, however it would begin, and every page says why."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from lifecycle.backup.domain.control import Control
from lifecycle.drop.services.execution import plans_start_due
from lifecycle.drop.services.standing_plans import standing_plans_make
from lifecycle.drop.services.standing_rules import RuleParams, standing_rule_request
from lifecycle.models import DropPlan, PlanState
from portal.lake.errors import NotAllowed, StaleState
from portal.runs.claims.services import run_claim
from portal.runs.execution import steps
from portal.runs.execution.steps import run_step
from portal.runs.kinds.registry import get_kind
from portal.runs.models import Outbox, Run
from portal.runs.requests.selectors import run_waits
from portal.safety.services import emergency_stop_start, stop_release_propose
from tasks.schedule import schedule
from tests.component.lifecycle.plan_world import LAKE, NOW, TODAY, World, make_world, partitions
from tests.support.plan_words import plan_approve
from tests.support.stop import end_stop

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)
WHY = "Somebody counts the orders again"


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_DIRECTORY = tmp_path / "directory.json"
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = 86_400
    world = make_world(tmp_path)
    world.scan(partitions(3))
    return world


def press() -> None:
    emergency_stop_start(lake=LAKE, pressed_by="otto", reason=WHY, now=NOW)


def release(world: World) -> None:
    bert, carl = world.person("bert"), world.person("carl")
    end_stop(LAKE, bert, carl, reason="found", now=NOW + DAY)


def approved(world: World) -> DropPlan:
    plan = world.plan()
    for name in ("bert", "carl"):
        plan = plan_approve(
            plan.pk, user=world.person(name), digest=plan.digest, authenticated_at=NOW, now=NOW
        )
    return plan


def test_an_approved_plan_waits_and_starts_after_the_release(world: World) -> None:
    plan = approved(world)
    press()
    assert plans_start_due(NOW + DAY) == []
    plan.refresh_from_db()
    assert plan.outcome["blocked"]["code"] == "red_button.on"
    release(world)
    (run,) = plans_start_due(NOW + DAY)
    assert run.kind == "lifecycle.drop"


@pytest.mark.parametrize("epoch", [1, 2])
def test_no_try_of_a_drop_is_submitted_while_it_is_on(world: World, epoch: int) -> None:
    approved(world)
    (run,) = plans_start_due(NOW + DAY)
    press()
    Run.objects.filter(pk=run.pk).update(epoch=epoch)
    run.refresh_from_db()
    with pytest.raises(NotAllowed, match=WHY):
        get_kind(run.kind).prepare(run)
    assert Control.read({"red_button": WHY}).stop == f"emergency stop: {WHY}"


def test_a_queued_drop_waits_says_why_and_goes_on_after_the_release(world: World) -> None:
    plan = approved(world)
    (run,) = plans_start_due(NOW + DAY)
    press()
    assert run_step(run.pk, holder="one") == "QUEUED"
    run.refresh_from_db()
    assert run.epoch == 0
    assert WHY in run_waits(run, now=timezone.now())
    Outbox.objects.filter(row_id=str(run.pk)).delete()
    release(world)
    assert Outbox.objects.filter(row_id=str(run.pk)).count() == 1, "workers are notified at once"
    assert run_waits(run, now=NOW) == ""
    plan.refresh_from_db()
    assert plan.state == PlanState.RUNNING


def test_a_drop_whose_worker_met_the_press_at_the_fence_is_queued_again(
    world: World, settings: Settings, tmp_path: Path
) -> None:
    settings.LAKEWARDEN_VAR = tmp_path
    plan = approved(world)
    (run,) = plans_start_due(NOW + DAY)
    claimed = run_claim(run.pk, holder="one", now=timezone.now())
    assert claimed is not None
    press()
    steps._start(claimed, holder="one")
    assert run_step(run.pk, holder="two") == "QUEUED"
    run.refresh_from_db()
    assert (run.error, run.submitted_at) == (None, None)
    assert WHY in run.message
    plan.refresh_from_db()
    assert plan.state == PlanState.RUNNING, "it need not be created again"
    assert run_step(run.pk, holder="three") == "QUEUED", "still pressed"


def test_a_purge_that_was_asked_for_before_ends_without_a_claim(world: World) -> None:
    params: dict[str, list[str]] = {"batches": []}
    run = Run.objects.create(
        lake=LAKE, kind="lifecycle.purge", params=params, requested_by="schedule", queued_at=NOW
    )
    press()
    assert get_kind(run.kind).scheduled_params(LAKE, now=NOW) is None
    with pytest.raises(NotAllowed, match=WHY):
        get_kind(run.kind).prepare(run)


def test_the_clock_makes_plans_of_standing_rules_only_while_it_is_off(world: World) -> None:
    wish = RuleParams("sales", "orders", 10, 10**9, TODAY + 9 * DAY, "daily")
    standing_rule_request(LAKE, wish, user=world.person("anna"), now=NOW)
    press()
    assert standing_plans_make(LAKE, NOW) == []
    schedule(NOW)
    made = Run.objects.filter(kind="lifecycle.standing_plans")
    assert not made.exists()
    release(world)
    schedule(NOW + DAY)
    schedule(NOW + DAY + timedelta(minutes=5))
    assert made.count() == 1
    assert run_step(made.get().pk, holder="one") == "DONE"


@pytest.mark.parametrize(
    "url",
    [
        *("/", "/runs/", "/red-button/", "/health/", "/audit/", "/lifecycle/plans/"),
        *("/lifecycle/standing-rules/", "/lifecycle/backups/", "/lifecycle/holds/"),
        *("/lifecycle/paths/", "/lifecycle/expiring/", "/nothing-here/"),
    ],
)
def test_every_page_says_why(world: World, url: str) -> None:
    press()
    client = Client()
    client.force_login(world.person("bert"))
    assert WHY in client.get(url).content.decode()


def test_a_plan_page_says_why_to_its_owner_too(world: World) -> None:
    plan = approved(world)
    press()
    client = Client()
    client.force_login(world.person("alice"))
    assert WHY in client.get(f"/lifecycle/plans/{plan.pk}/").content.decode()
    assert plan.state == PlanState.APPROVED
    bert = world.person("bert")
    with pytest.raises(StaleState):
        stop_release_propose(lake="other", user=bert, reason="x", now=timezone.now())
