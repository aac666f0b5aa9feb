"""What is due by the clock is asked for once a slot, in the lake's own zone, by however many."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from portal.access.models import DatabaseAdministrator
from portal.connectors.lake_config import LakeConfig
from portal.runs.domain import Schedule
from portal.runs.kinds.ticks import Tick
from portal.runs.models import Run
from tasks import schedule as clock
from tests.component.conftest import LAKE
from tests.component.portal.runs.run_kinds import NotingKind, noting

pytestmark = pytest.mark.django_db


class DailyKind(NotingKind):
    """Wanted at three in the morning."""

    name = "test.daily"
    schedule = Schedule(daily_at_hour=3)


class UnwantedKind(NotingKind):
    """Comes round, and has nothing to do."""

    name = "test.unwanted"
    schedule = Schedule(every=timedelta(minutes=1))

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        return None


@pytest.fixture(autouse=True)
def only_these(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the rooms' own kinds out: this file is about the clock."""
    kinds = [noting(DailyKind), noting(UnwantedKind), noting()]
    monkeypatch.setattr(clock, "all_kinds", lambda: kinds)
    monkeypatch.setattr(clock, "all_ticks", list)
    monkeypatch.setattr(clock, "_ticked", {})


def test_a_daily_run_is_asked_for_once_from_its_hour_on(lake: LakeConfig) -> None:
    berlin_two = datetime(2026, 11, 20, 1, 59, tzinfo=UTC)
    clock.schedule(berlin_two)
    assert not Run.objects.exists()
    for minutes in (1, 2, 600):
        clock.schedule(berlin_two + timedelta(minutes=minutes))
    run = Run.objects.get()
    assert (run.kind, run.lake, run.requested_by) == ("test.daily", LAKE, "schedule")
    assert run.unique_key == "test.daily:main:2026-11-20"
    clock.schedule(berlin_two + timedelta(days=1, minutes=1))
    assert Run.objects.count() == 2


def test_a_tick_calls_its_service_once_in_its_interval_and_makes_no_run(
    lake: LakeConfig, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, datetime]] = []

    def turn(lake: str, *, now: datetime) -> None:
        calls.append((lake, now))

    tick = Tick("test.tick", timedelta(seconds=10), turn)
    monkeypatch.setattr(clock, "all_ticks", lambda: [tick])
    start = now.replace(minute=0, second=0, microsecond=0)
    for seconds in (0, 5, 10, 15, 25):
        clock.schedule(start + timedelta(seconds=seconds))
    called = [(at - start).total_seconds() for _, at in calls]
    assert ({name for name, _ in calls}, called) == ({LAKE}, [0, 10, 25])
    assert not Run.objects.filter(kind="test.tick").exists()


def test_a_tick_that_breaks_keeps_nobody_else_from_their_turn(
    lake: LakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def breaks(lake: str, *, now: datetime) -> None:
        raise ValueError("broken")

    def works(lake: str, *, now: datetime) -> None:
        calls.append(lake)

    every = timedelta(seconds=10)
    ticks = [Tick("test.a", every, breaks), Tick("test.b", every, works)]
    monkeypatch.setattr(clock, "all_ticks", lambda: ticks)
    clock.schedule(datetime(2026, 11, 20, 2, 1, tzinfo=UTC))
    assert calls == [LAKE]
    assert Run.objects.get().kind == "test.daily"


def test_without_a_lake_nothing_is_asked_for(settings: Any, tmp_path: Path, now: datetime) -> None:
    settings.LAKEWARDEN_LAKES = tmp_path / "none.json"
    clock.schedule(now)
    assert not Run.objects.exists()


def test_the_directory_is_taken_over_when_its_file_changes(
    lake: LakeConfig, settings: Any, tmp_path: Path, now: datetime
) -> None:
    settings.LAKEWARDEN_DIRECTORY = tmp_path / "directory.json"
    settings.LAKEWARDEN_DIRECTORY.write_text(
        json.dumps({"people": {}, "database_administrators": {"sales": ["dora"]}})
    )
    clock.schedule(now)
    assert DatabaseAdministrator.objects.get().username == "dora"
    settings.LAKEWARDEN_DIRECTORY.write_text("not json")
    clock.schedule(now)
    assert DatabaseAdministrator.objects.get().username == "dora"
