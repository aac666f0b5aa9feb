"""What is due by the clock is asked for once a slot, in the lake's own zone, by however many."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import DataError, OperationalError

from portal.access.models import DatabaseAdministrator
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import RuleViolation
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
    for kept in ("_ticked", "_looked_up", "_failed"):
        monkeypatch.setattr(clock, kept, {})


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


class Leavers:
    """Stands for what closes leavers: fails as often as there are errors, then succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors, self.n_calls = list(errors), 0

    def __call__(self, *_: object, now: datetime) -> list[str]:
        self.n_calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return []


@pytest.fixture
def directory(settings: Any, tmp_path: Path) -> Path:
    settings.LAKEWARDEN_DIRECTORY = tmp_path / "directory.json"
    file: Path = settings.LAKEWARDEN_DIRECTORY
    file.write_text(json.dumps({"people": {}, "database_administrators": {}}))
    return file


@pytest.mark.parametrize("way", ["directory_leavers", "ldap_leavers"])
def test_leavers_are_closed_at_the_next_turn_when_the_database_failed(
    lake: LakeConfig, directory: Path, now: datetime, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    leavers = Leavers(OperationalError(1213, "Deadlock found"))
    monkeypatch.setattr(clock, way, leavers)
    start = now.replace(minute=0, second=0, microsecond=0)
    with pytest.raises(OperationalError):
        clock.schedule(start)
    for seconds in (5, 10, 15):
        clock.schedule(start + timedelta(seconds=seconds))
    assert leavers.n_calls == 2


@pytest.mark.parametrize(
    "error",
    [RuleViolation("directory.file", "It is no JSON."), ValueError("broken"), DataError("long")],
)
def test_leavers_that_cannot_be_read_are_tried_again_and_hold_nothing_up(
    lake: LakeConfig,
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    file, ldap = Leavers(error, error), Leavers()
    monkeypatch.setattr(clock, "directory_leavers", file)
    monkeypatch.setattr(clock, "ldap_leavers", ldap)
    start = datetime(2026, 11, 20, 2, 1, tzinfo=UTC)
    called = []
    for seconds in (0, 5, 295, 300, 305):
        clock.schedule(start + timedelta(seconds=seconds))
        called.append(file.n_calls)
    assert called == [1, 1, 1, 2, 2]
    assert ldap.n_calls == 1
    assert Run.objects.get().kind == "test.daily"
    # Whoever mends the file is not made to wait.
    os.utime(directory, (1, 1))
    clock.schedule(start + timedelta(seconds=310))
    clock.schedule(start + timedelta(seconds=1000))
    assert (file.n_calls, file.errors) == (3, [])
