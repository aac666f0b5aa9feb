"""Tests that lines of the process's log name the run, lake and task that they belong to."""

import logging
import threading
import time
from datetime import datetime
from typing import Any

import pytest
from django.db import OperationalError

from portal.runs.claims import services as claims
from portal.runs.models import Run
from portal.runs.records.logs import run_bound
from portal.runs.requests.services import run_request
from tasks import base
from tasks import supervise as supervising
from tasks.loops import Loop, Loops
from tests.component.conftest import LAKE
from tests.component.portal.logs_captured import captured
from tests.component.portal.runs.run_kinds import NotingKind, noting

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
LIBRARY = "some.library"


class SpeakingKind(NotingKind):
    """Logs a line that knows nothing of runs, as a library does, and then breaks."""

    name = "test.speaking"

    def execute(self, run: Run) -> dict[str, Any]:
        logging.getLogger(LIBRARY).warning("reading")
        raise ZeroDivisionError


def asked(now: datetime, kind: type[NotingKind]) -> Run:
    noting(kind)
    return run_request(kind.name, lake=LAKE, params={}, requested_by="olga", now=now)


def test_every_line_of_a_runs_task_names_the_run(now: datetime) -> None:
    run = asked(now, SpeakingKind)
    with captured() as log:
        base.run_publish(str(run.pk))
        logging.getLogger(LIBRARY).warning("of no run")
    said, later = log.of(LIBRARY)
    assert "run" not in later
    belongs = {"run": str(run.pk), "lake": LAKE, "kind": "test.speaking", "task": "tasks.run"}
    assert said.items() >= (belongs | {"attempt": "1", "message": "reading"}).items()
    (broke,) = log.of("portal.runs.execution.steps")
    assert broke.items() >= belongs.items()
    assert broke["traceback"].endswith("ZeroDivisionError")


def test_a_poll_and_the_thread_that_renews_a_claim_name_it_too(
    now: datetime, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    run = asked(now, NotingKind)
    settings.LAKEWARDEN_BEAT_SECONDS = 0.01

    def broken(*_: object, **__: object) -> bool:
        raise OperationalError("gone away")

    def poll(polled: Run, *, now: datetime) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(claims, "run_renew", broken)
    monkeypatch.setattr(supervising, "runs_here", lambda: [run])
    monkeypatch.setattr(supervising, "run_poll", poll)
    with captured() as log:
        supervising.supervise(now)
        with run_bound(run), claims.beating(run, holder="w"):
            until = time.monotonic() + 120
            while not log.of(claims.__name__) and time.monotonic() < until:
                time.sleep(0.01)
    assert log.of("tasks.supervise")[0]["run"] == str(run.pk)
    assert log.of(claims.__name__)[0]["run"] == str(run.pk)


@pytest.mark.django_db(transaction=True)
def test_lines_of_a_loop_name_it() -> None:
    done = threading.Event()

    def turn(now: datetime) -> None:
        done.set()
        raise ZeroDivisionError

    loops = Loops([Loop("relay", 60.0, turn, "a")], holder="me")
    with captured() as log:
        loops.start()
        assert done.wait(timeout=60)
        loops.stop()
        loops.wait()
    (said,) = log.of("tasks.loops")
    assert said["task"] == "relay"
