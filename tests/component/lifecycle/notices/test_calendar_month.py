"""Tests the month of the calendar page: its days count what is due and what is purged."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from lifecycle.models import PartitionRange, TableFinding
from tests.component.lifecycle.backup_world import backup
from tests.component.lifecycle.inventory.test_pictures import due_in
from tests.component.lifecycle.plan_world import NOW, TODAY, World, make_world
from tests.support.clock import start_clock

pytestmark = pytest.mark.django_db(transaction=True)
URL = "/lifecycle/calendar/"


@pytest.fixture
def world(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> World:
    start_clock(monkeypatch, NOW)
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    world = make_world(tmp_path)
    world.scan(
        [due_in(-40, cls="CLEAN_NOW"), due_in(0, cls="CLEAN_NOW"), due_in(3), due_in(40, tbl="b")]
    )
    backup(tmp_path, dropped_at=NOW, purge_after=NOW + timedelta(days=3))
    return world


def page(world: World, query: str = "", *, who: str = "anna") -> str:
    client = Client()
    client.force_login(world.person(who))
    answer = client.get(URL + query)
    assert answer.status_code == 200
    return answer.content.decode()


def days(text: str) -> dict[str, str]:
    """Return what stands in the days of the month that hold something."""
    found = re.findall(r'day=([\d-]+)#list">(.*?)<span class="visually-hidden">', text)
    return {day: " ".join(re.sub("<[^>]+>", " ", words).split()) for day, words in found}


def test_days_count_what_is_due_and_what_is_purged(world: World) -> None:
    later = (TODAY + timedelta(days=3)).isoformat()
    assert days(page(world)) == {
        TODAY.isoformat(): "2 due",
        later: "1 due 1 purged",
    }
    assert days(page(world, "?month=2027-01")) == {"2027-01-01": "1 due"}


def test_the_list_of_a_day_has_what_runs_over_it(world: World) -> None:
    table = TableFinding.objects.get(table="a")
    for first, last in ((1, 4), (4, 9)):
        PartitionRange.objects.create(
            table=table,
            generation=table.generation,
            cls="NOT_NOW",
            n_items=2,
            due_first=TODAY + timedelta(days=first),
            due_last=TODAY + timedelta(days=last),
        )
    shown = page(world, f"?day={TODAY + timedelta(days=3)}")
    assert "sales.a: 4 items due" in shown
    assert "sales.orders: backup of 2026-11-22 is purged" in shown
    assert "sales.a" not in page(world, f"?day={TODAY + timedelta(days=30)}")
    assert "sales.a" not in page(world, f"?day={TODAY - timedelta(days=1)}")


def test_the_api_counts_the_same(world: World) -> None:
    client = Client()
    client.force_login(world.person("anna"))
    shown = client.get("/api/v1/lifecycle/calendar/month/?month=2026-11").json()
    assert len(shown) == 30
    assert [one for one in shown if one["n_due"] or one["n_purged"]] == [
        {"day": "2026-11-22", "n_due": 2, "n_bytes": 200, "n_purged": 0},
        {"day": "2026-11-25", "n_due": 1, "n_bytes": 100, "n_purged": 1},
    ]
    assert client.get("/api/v1/lifecycle/calendar/month/?month=11").status_code == 400


def test_others_see_their_own_days_alone(world: World) -> None:
    assert days(page(world, who="eve")) == {}


def test_a_month_that_is_none_is_told_at_once(world: World) -> None:
    text = page(world, "?month=2026-13&day=x")
    assert "Write a month as 2026-12" in text
    assert days(text)
