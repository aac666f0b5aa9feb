"""Logs of drivers go some days after the end of their runs, and pages say so; all else stays."""

import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.runs.records.spools import log_file, log_folder
from portal.runs.results.driver_logs_removal import driver_logs_kept, driver_logs_trim
from tasks.trimming import trim_logs
from tests.component.conftest import LAKE, People

pytestmark = pytest.mark.usefixtures("lake")


@pytest.fixture(autouse=True)
def ten_days(settings: Any) -> None:
    settings.LAKEWARDEN_DRIVER_LOG_DAYS = 10


def logged(
    days: float, *, state: RunState = RunState.DONE, epoch: int = 1, by: str = "ada"
) -> tuple[Run, Path]:
    """A run that ended so many days ago, with a log of that time."""
    at = timezone.now() - timedelta(days=days)
    run = Run.objects.create(
        lake=LAKE,
        kind="test.kind",
        requested_by=by,
        queued_at=at,
        finished_at=at if state in ("DONE", "FAILED", "CANCELLED") else None,
        state=state,
        epoch=epoch,
    )
    return run, written(log_file(run), at)


def written(path: Path, at: datetime) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("line\n")
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def test_logs_of_runs_that_ended_long_ago_go_with_every_attempt(people: People) -> None:
    old, log = logged(11, state=RunState.FAILED, epoch=2)
    first = written(log_file(old, epoch=1), timezone.now() - timedelta(days=12))
    _, young = logged(9)
    now = timezone.now()
    assert driver_logs_trim(log_folder(), now=now) == 2
    assert (log.exists(), first.exists(), young.exists()) == (False, False, True)
    assert driver_logs_trim(log_folder(), now=now) == 0
    trim_logs(now + timedelta(days=2))
    assert not young.exists()


def beside(log: Path, at: datetime) -> list[Path]:
    return [written(log.with_suffix(suffix), at) for suffix in (".packages.zip", ".beat")]


def test_what_a_driver_left_beside_its_log_goes_with_it_once_its_run_ended(people: People) -> None:
    long_ago = timezone.now() - timedelta(days=40)
    _, log = logged(40)
    lost = beside(log, long_ago)
    log.unlink()
    _, other = logged(40)
    gone = [other, *beside(other, long_ago), *lost]
    alive, running = logged(40, state=RunState.RUNNING, epoch=2)
    kept = [running, *beside(running, long_ago), *beside(log_file(alive, epoch=1), long_ago)]
    _, settling = logged(40, state=RunState.SETTLING)
    kept += [settling, *beside(settling, long_ago)]
    _, beating = logged(40)
    kept += beside(beating, timezone.now())
    assert driver_logs_trim(log_folder(), now=timezone.now()) == len(gone) + 1
    assert [path for path in gone if path.exists()] == []
    assert [path for path in kept if not path.exists()] == []


def test_what_is_no_log_of_an_ended_run_stays(people: People, tmp_path: Path) -> None:
    long_ago = timezone.now() - timedelta(days=400)
    _, running = logged(400, state=RunState.RUNNING)
    ended, written_since = logged(400)
    os.utime(written_since)
    folder = log_folder()
    unknown = written(folder / f"{uuid4()}-1.log", long_ago)
    others = [
        written(folder / name, long_ago)
        for name in (f"{ended.pk}.log", f"{ended.pk}-0.log", f"{ended.pk}-1.zip", "x.log")
    ]
    inside = written(folder / "kept" / f"{ended.pk}-1.log", long_ago)
    target = written(tmp_path / "elsewhere.log", long_ago)
    link = folder / f"{ended.pk}-2.log"
    link.symlink_to(target)
    assert driver_logs_trim(folder, now=timezone.now()) == 0
    stay = (running, written_since, unknown, *others, inside, target, link)
    assert all(path.exists() for path in stay)


def test_two_days_are_the_least_and_no_folder_is_no_error(settings: Any, tmp_path: Path) -> None:
    settings.LAKEWARDEN_DRIVER_LOG_DAYS = 0
    assert driver_logs_kept() == timedelta(days=2)
    assert driver_logs_trim(tmp_path / "none", now=timezone.now()) == 0


def test_pages_say_that_a_log_is_no_longer_kept_and_for_how_long_logs_are(people: People) -> None:
    client = Client()
    client.force_login(people.admin)
    old, log = logged(11)
    assert "Log of the driver</a>" in client.get(f"/runs/{old.pk}/").content.decode()
    driver_logs_trim(log_folder(), now=timezone.now())
    assert not log.exists()
    page = client.get(f"/runs/{old.pk}/").content.decode()
    assert "The log of the driver is no longer kept: logs go 10 days after" in page
    assert "Log no longer kept" in client.get(f"/runs/{old.pk}/driver-log/").content.decode()
    young, log = logged(1)
    log.unlink()
    assert "no longer kept" not in client.get(f"/runs/{young.pk}/").content.decode()
    assert "No captured log" in client.get(f"/runs/{young.pk}/driver-log/").content.decode()
    health = client.get("/health/").content.decode()
    assert "LAKEWARDEN_DRIVER_LOG_DAYS" in health
    assert "LAKEWARDEN_RESULT_DAYS" in health
