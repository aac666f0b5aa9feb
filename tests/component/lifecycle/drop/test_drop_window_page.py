"""How long data was out of sight stands on the pages of plan and run, and nothing is made up."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from lifecycle.backup.engine.protocol import WINDOW
from lifecycle.drop.services.execution import plan_finish, plans_start_due
from lifecycle.models import DropPlan
from portal.runs.models import Run
from tests.component.lifecycle.plan_world import NOW, World, make_world, partitions
from tests.support.plan_words import plan_approve

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    world = make_world(tmp_path)
    world.scan(partitions(3))
    return world


def running(world: World) -> tuple[DropPlan, Run]:
    """Return an approved plan whose run has begun."""
    plan = world.plan()
    for name in ("bert", "carl"):
        user = world.person(name)
        plan_approve(plan.pk, user=user, digest=plan.digest, authenticated_at=NOW, now=NOW)
    (run,) = plans_start_due(NOW + DAY)
    plan.refresh_from_db()
    return plan, run


def page(world: World, address: str) -> str:
    client = Client()
    client.force_login(world.person("anna"))
    return " ".join(client.get(address).content.decode().split())


@pytest.mark.parametrize(("window", "said"), [(0.417, "0.42 s (limit 5 s)"), (None, "")])
def test_the_longest_window_and_what_was_never_reached_stand_on_the_pages(
    world: World, window: float | None, said: str
) -> None:
    plan, run = running(world)
    report: dict[str, object] = {
        "counts": {"DROPPED": 1, "SKIPPED": 1},
        "skipped": [],
        "window": window,
    }
    plan_finish(plan, run, outcome="cancelled", report=report, now=NOW + DAY)
    text = page(world, f"/lifecycle/plans/{plan.pk}/")
    assert ("to its metadata drop" in text) is bool(said)
    assert said in text
    assert "Not reached" in text
    result = {"counts": {"DROPPED": 1, "SKIPPED": 1}, WINDOW: window, "n_batches": 1}
    Run.objects.filter(pk=run.pk).update(result=result)
    text = page(world, f"/runs/{run.pk}/")
    assert ("Longest seconds from first rename to drop" in text) is bool(said)
    assert "1 in backup, 1 skipped" in text
