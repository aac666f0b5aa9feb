"""Runs that destroy start only in the lake's working hours; one that waits says until when."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from lifecycle.drop.services.execution import plans_start_due
from lifecycle.models import DropPlan, PlanState
from portal.access.lakes import get_lake
from portal.lake.errors import ExternalFailure
from portal.lake.working_hours import DAYS
from portal.runs.execution.steps import run_step
from portal.runs.models import Run
from portal.runs.requests.selectors import run_waits
from tests.component.lifecycle.plan_world import (
    LAKE,
    NOW,
    World,
    lake_entry,
    make_world,
    partitions,
)
from tests.support.plan_words import plan_approve

pytestmark = pytest.mark.django_db(transaction=True)
# NOW is Sunday 2026-11-22 10:00 UTC; plans may start a day later, on Monday at 10:00.
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = 86_400
    world = make_world(tmp_path)
    world.scan(partitions(3))
    return world


def set_hours(world: World, text: str) -> None:
    fresh = world.root / "lakes.new"
    fresh.write_text(json.dumps({LAKE: lake_entry(world.root) | {"working_hours": text}}))
    fresh.replace(world.root / "lakes.json")


def approved(world: World) -> DropPlan:
    plan = world.plan()
    for name in ("bert", "carl"):
        plan = plan_approve(
            plan.pk, user=world.person(name), digest=plan.digest, authenticated_at=NOW, now=NOW
        )
    return plan


def days_but_today() -> str:
    """Return hours that are closed now and tomorrow, by the wall clock of the test."""
    today = timezone.now().weekday()
    return f"{DAYS[(today + 2) % 7]}-{DAYS[(today + 5) % 7]} 00:00-24:00"


def page(world: World, url: str) -> str:
    client = Client()
    client.force_login(world.person("bert"))
    return client.get(url).content.decode()


def test_an_approved_plan_waits_for_the_hours_and_says_until_when(world: World) -> None:
    plan = approved(world)
    set_hours(world, "Mon 20:00-22:00")
    for early in (DAY, DAY + 10 * HOUR - timedelta(seconds=1), DAY + 12 * HOUR):
        assert plans_start_due(NOW + early) == []
    text = page(world, f"/lifecycle/plans/{plan.pk}/")
    assert "outside the lake&#x27;s working hours, Mon 20:00-22:00 (UTC)" in text
    assert "after 2026-11-30 20:00 UTC" in text
    (run,) = plans_start_due(NOW + DAY + 10 * HOUR)
    assert run.kind == "lifecycle.drop"
    plan.refresh_from_db()
    assert plan.state == PlanState.RUNNING


@pytest.mark.parametrize("kind", ["lifecycle.drop", "lifecycle.purge"])
def test_a_queued_run_that_destroys_is_not_started_outside_them(world: World, kind: str) -> None:
    set_hours(world, days_but_today())
    run = Run.objects.create(lake=LAKE, kind=kind, requested_by="anna", queued_at=timezone.now())
    assert run_step(run.pk, holder="one") == "QUEUED"
    run.refresh_from_db()
    assert run.epoch == 0
    waits = run_waits(run, now=timezone.now())
    assert "It starts by itself after" in waits
    assert "working hours" in page(world, f"/runs/{run.pk}/")
    set_hours(world, "")
    assert run_waits(run, now=timezone.now()) == ""


def test_what_destroys_nothing_does_not_wait(world: World) -> None:
    set_hours(world, days_but_today())
    assert world.plan().state == PlanState.PENDING


def test_the_red_button_page_and_the_api_show_the_hours(world: World) -> None:
    assert "None are set" in page(world, "/red-button/")
    set_hours(world, days_but_today())
    text = page(world, "/red-button/")
    assert days_but_today() in text
    assert "It starts by itself after" in text
    shown = json.loads(page(world, "/api/v1/red-button/"))
    assert shown["working_hours"] == f"{days_but_today()} (UTC)"
    assert "It starts by itself after" in shown["waits"]


def test_hours_that_cannot_be_read_stop_the_lake_with_their_form(world: World) -> None:
    set_hours(world, "at night")
    with pytest.raises(ExternalFailure, match=r"Mon-Fri 20:00-06:00"):
        get_lake(LAKE)
