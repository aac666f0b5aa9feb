"""A frozen application is seen by its silence; a slow one and an unknown one are left alone."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from portal.connectors.lake_config import LakeConfig
from portal.runs.domain import RunState
from portal.runs.execution.polling import run_poll
from portal.runs.execution.steps import run_step
from portal.runs.models import Run
from portal.runs.records.spools import heartbeat_file
from portal.runs.requests.selectors import run_events
from portal.runs.requests.services import run_request
from portal.spark.heartbeat import DRIVER, JVM, LAUNCH
from portal.spark.launch import is_alive
from tests.component.conftest import LAKE, People
from tests.component.portal.runs.run_kinds import (
    ActingJobKind,
    JobKind,
    application,
    noting,
    running,
    submitting,
)

pytestmark = pytest.mark.django_db
POLL = timedelta(seconds=10)
PIDS: dict[str, int] = {}


def started(kind: str, *, now: datetime) -> Run:
    run = run_request(kind, lake=LAKE, params={}, requested_by="olga", now=now)
    return submitting(run, now=now)


def beats(run: Run, **silent: float) -> None:
    """Write the heartbeat of an application whose parts were last heard so many seconds ago."""
    path = heartbeat_file(run)
    path.parent.mkdir(parents=True, exist_ok=True)
    now = time.monotonic()
    said = [[part, PIDS[part], now - silent[part]] for part in silent]
    path.write_text(json.dumps(said))


@pytest.fixture
def busy() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        yield process.pid
        process.kill()


def texts(run: Run) -> list[str]:
    return [line.text for line in run_events(run)]


def test_silence_is_shown_while_it_lasts(
    now: datetime, lake: LakeConfig, tmp_path: Path, people: People
) -> None:
    noting(ActingJobKind)
    run = started("test.acting", now=now)
    page = reverse("ui:run-progress", args=[run.pk])
    client = Client()
    client.force_login(people.operator)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        PIDS.update({DRIVER: launched.pid, JVM: launched.pid})
        beats(run, driver=1, JVM=1)
        run_poll(run, now=now)
        assert run.silent_since is None
        beats(run, driver=1, JVM=25)
        for _ in range(2):
            run_poll(run, now=now)
        run.refresh_from_db()
        assert run.silent_since is not None
        assert abs((now - run.silent_since).total_seconds() - 25) < 5
        assert [text for text in texts(run) if "no sign of life" in text] == [
            "Its JVM has given no sign of life for 25 s."
        ]
        assert "No sign of life from its JVM since" in client.get(page).content.decode()
        assert client.get(reverse("ui:api-run", args=[run.pk])).json()["silent_since"]
        beats(run, driver=1, JVM=1)
        run_poll(run, now=now)
        assert is_alive(launched)
        assert texts(run)[-1] == "The application answers again."
        assert "No sign of life" not in client.get(page).content.decode()


def test_a_frozen_acting_application_is_ended_and_settled_within_its_lease_and_a_minute(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    kind = noting(ActingJobKind)
    run = started("test.acting", now=now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        PIDS.update({DRIVER: launched.pid, JVM: launched.pid})
        for silent, is_left in ((55, True), (59, True), (65, False)):
            beats(run, driver=silent, JVM=1)
            run_poll(run, now=now + timedelta(seconds=silent))
            assert is_alive(launched) is is_left
    assert run.state == RunState.SETTLING
    assert "Its driver has given no sign of life for 65 s; it was killed." in texts(run)
    assert run_step(run.pk, holder="w") is RunState.QUEUED
    assert kind.calls == ["settle", "ingest"]


def test_what_does_not_act_has_ten_minutes(now: datetime, lake: LakeConfig, tmp_path: Path) -> None:
    noting(JobKind)
    run = started("test.job", now=now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        PIDS.update({DRIVER: launched.pid, JVM: launched.pid})
        for silent, is_left in ((65, True), (595, True), (605, False)):
            beats(run, driver=silent)
            run_poll(run, now=now + timedelta(seconds=silent))
            assert is_alive(launched) is is_left


def test_a_process_that_computes_is_slow_and_not_frozen(
    now: datetime, lake: LakeConfig, tmp_path: Path, busy: int
) -> None:
    noting(ActingJobKind)
    run = started("test.acting", now=now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        PIDS.update({DRIVER: launched.pid, JVM: busy})
        beats(run, driver=1, JVM=70)
        run_poll(run, now=now)
        time.sleep(1)
        run_poll(run, now=now + timedelta(seconds=1))
        assert is_alive(launched)
        assert run.silent_since is not None


def test_a_launch_that_takes_long_is_left_alone_and_one_without_a_heartbeat_is_not_silent(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(ActingJobKind)
    run = started("test.acting", now=now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        run_poll(run, now=now)
        run_poll(run, now=now + timedelta(hours=1))
        assert run.silent_since is None
        PIDS.update({LAUNCH: launched.pid})
        for seconds in (70, 100):
            beats(run, launch=seconds)
            run_poll(run, now=now + timedelta(seconds=seconds))
        assert is_alive(launched)


def test_a_portal_that_slept_ends_nothing_at_its_first_look(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(ActingJobKind)
    run = started("test.acting", now=now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        PIDS.update({DRIVER: launched.pid})
        beats(run, driver=3600)
        run_poll(run, now=now)
        assert is_alive(launched)
        beats(run, driver=0)
        run_poll(run, now=now + POLL)
        assert is_alive(launched)
        assert run.silent_since is None
