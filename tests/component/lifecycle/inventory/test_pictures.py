"""Tests what is due by day, and the home page's pictures of it."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from lifecycle.inventory.models.findings import TrendPoint
from lifecycle.inventory.selectors.due_days import due_by_day
from lifecycle.inventory.services.due_days import DAYS_AHEAD, due_days_load
from lifecycle.models import DueDay, ScanSnapshot, TableFinding
from tests.component.lifecycle.plan_world import LAKE, TODAY, Item, World, make_world
from tests.component.portal.ui.test_home_pictures import client_of, picture, table_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    return make_world(tmp_path)


def due_in(days: int, *, cls: str = "NOT_NOW", tbl: str = "a", n_bytes: int | None = 100) -> Item:
    """Return an item that is due in some days from the scan's."""
    due_on = TODAY + timedelta(days=days)
    updated = datetime(due_on.year, due_on.month, due_on.day, tzinfo=UTC) - timedelta(days=60)
    part = f"dt={days + 1000}"
    return Item(tbl=tbl, tbl_id=ord(tbl), part_name=part, cls=cls, updated=updated, n_bytes=n_bytes)


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def test_each_item_counts_on_its_day_and_what_is_overdue_today(world: World) -> None:
    anna, alice = world.person("anna"), world.person("alice")
    world.scan(
        [
            *(due_in(-40, cls="CLEAN_NOW"), due_in(0, cls="CLEAN_NOW", n_bytes=None)),
            *(due_in(3, cls="SOON"), due_in(3, cls="SOON", tbl="b"), due_in(30)),
            *(due_in(-2, cls="STILL_READ"), due_in(2, cls="HELD"), due_in(DAYS_AHEAD + 1)),
        ]
    )
    TableFinding.objects.filter(table="b").update(owner="eve", db_owner="")
    assert due_days_load(ScanSnapshot.objects.get()) == DueDay.objects.count()
    far = TODAY + timedelta(days=400)
    days = {0: (2, 100), 3: (2, 200), 30: (1, 100)}
    of_all = {TODAY + timedelta(days=n): counted for n, counted in days.items()}
    assert due_by_day(LAKE, anna, until=far) == of_all
    assert due_by_day(LAKE, alice, until=far) == of_all | {TODAY + timedelta(days=3): (1, 100)}
    assert due_by_day(LAKE, anna, until=TODAY) == {TODAY: (2, 100)}


def test_the_picture_adds_a_week_up(world: World) -> None:
    world.scan([due_in(-40, cls="CLEAN_NOW"), due_in(14), due_in(14, tbl="b"), due_in(80)])
    rows = table_of(picture(client_of(world.person("anna")), "due-by-week"))
    assert len(rows) == 13
    assert rows.pop("due now") == ["1"]
    first = monday(TODAY)
    assert next(iter(rows)) == f"{first:%b} {first.day}"
    in_two = monday(TODAY + timedelta(days=14))
    assert rows[f"{in_two:%b} {in_two.day}"] == ["2"]


def test_the_classes_are_drawn_by_day(world: World) -> None:
    world.scan([Item()])
    for days_ago, value in ((1, 2048), (0, 1024)):
        TrendPoint.objects.create(
            lake=LAKE, day=TODAY - timedelta(days=days_ago), metric="class.SOON.bytes", value=value
        )
    rows = table_of(picture(client_of(world.person("anna")), "classes"))
    assert [cells[1] for cells in rows.values()] == ["2.0 KiB", "1.0 KiB"]
