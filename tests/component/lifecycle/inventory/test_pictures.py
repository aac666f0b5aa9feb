"""Tests the home page's pictures of what is due."""

from datetime import date, timedelta
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from lifecycle.inventory.models.findings import TrendPoint
from lifecycle.models import LatestScan, TableFinding
from tests.component.lifecycle.plan_world import LAKE, TODAY, Item, World, make_world
from tests.component.portal.ui.test_home_pictures import client_of, picture, table_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    return make_world(tmp_path)


def due_next(days: dict[str, int]) -> None:
    for table, in_days in days.items():
        day = TODAY + timedelta(days=in_days)
        assert TableFinding.objects.filter(table=table).update(next_due_on=day)


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def test_tables_are_counted_by_the_week_in_which_data_is_due_next(world: World) -> None:
    world.scan([Item(tbl=name, tbl_id=n) for n, name in enumerate("abcde", start=1)])
    due_next({"a": -40, "b": -1, "c": 0, "d": 21, "e": 500})
    rows = table_of(picture(client_of(world.person("anna")), "due-by-week"))
    assert len(rows) == 13
    assert rows.pop("overdue") == ["2"]
    assert [cells[0] for cells in rows.values()][:4] == ["1", "0", "0", "1"]
    first = monday(TODAY)
    assert next(iter(rows)) == f"{first:%b} {first.day}"


def test_an_owner_gets_their_own_tables_alone(world: World) -> None:
    world.scan([Item(tbl="a"), Item(tbl="b", tbl_id=2)])
    due_next({"a": -1, "b": -1})
    TableFinding.objects.filter(table="b").update(owner="eve", db_owner="")
    assert table_of(picture(client_of(world.person("alice")), "due-by-week"))["overdue"] == ["1"]


def test_the_classes_are_drawn_by_day(world: World) -> None:
    world.scan([Item()])
    assert LatestScan.objects.filter(lake=LAKE).exists()
    for days_ago, value in ((1, 2048), (0, 1024)):
        TrendPoint.objects.create(
            lake=LAKE, day=TODAY - timedelta(days=days_ago), metric="class.SOON.bytes", value=value
        )
    rows = table_of(picture(client_of(world.person("anna")), "classes"))
    assert [cells[1] for cells in rows.values()] == ["2.0 KiB", "1.0 KiB"]
