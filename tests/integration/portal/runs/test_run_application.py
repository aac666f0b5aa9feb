"""A run with a real Spark application: submitted, polled, killed, tried again, ended.

The lake's metastore address leads nowhere, so the job itself fails, and says so.
"""

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from portal.connectors.lake_config import LakeConfig
from portal.lake.ids import LakeId
from portal.runs.domain import RunState
from portal.runs.execution.processes import find_by_tag
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.requests.selectors import get_run, run_events
from portal.runs.requests.services import run_drive, run_request
from tests.support.lakes import local_lake

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
LAKE = "main"


class NoMetastore(RunKind):
    """The probe job on a lake without a metastore."""

    name = "test.no-metastore"
    title = "No metastore"
    job = "lifecycle.restore.jobs.probe"


class NoJob(RunKind):
    """Names a module that is no job of a room."""

    name = "test.no-job"
    title = "No job"
    job = "json.tool"


@pytest.fixture
def lake(tmp_path: Path, settings: Any) -> LakeConfig:
    """The lake `main`, without servers."""
    config = local_lake(tmp_path, LakeId(LAKE))
    settings.LAKEWARDEN_VAR = tmp_path
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_LAKES.write_text(json.dumps({LAKE: config.as_dict()}))
    register(NoMetastore())
    register(NoJob())
    return config


def ask(kind: str) -> Run:
    return run_request(
        kind, lake=LAKE, params={"probes": []}, requested_by="test", now=timezone.now()
    )


def test_a_job_that_meets_no_metastore_is_tried_twice_and_says_why(lake: LakeConfig) -> None:
    run = run_drive(ask("test.no-metastore").pk)
    assert (run.state, run.epoch) == (RunState.FAILED, 2)
    assert run.error is not None
    assert run.error["fields"]["service"] == "metastore"
    assert find_by_tag(run.tag) is None
    assert sum("Trying again" in line.text for line in run_events(run)) == 1


def test_a_job_of_no_room_is_refused(lake: LakeConfig) -> None:
    run = run_drive(ask("test.no-job").pk)
    assert run.state == RunState.FAILED
    assert run.error is not None
    assert run.error["code"] == "job.module"


def test_an_application_killed_with_9_is_begun_anew(lake: LakeConfig) -> None:
    run = ask("test.no-metastore")
    killed: list[str] = []

    def kill_the_first() -> None:
        deadline = time.monotonic() + 120
        while not killed and time.monotonic() < deadline:
            now = get_run(run.pk)
            if now.state == RunState.RUNNING and now.epoch == 1 and now.pgid:
                os.killpg(now.pgid, signal.SIGKILL)
                killed.append(now.tag)
            time.sleep(0.1)
        connection.close()

    killer = threading.Thread(target=kill_the_first)
    killer.start()
    ended = run_drive(run.pk)
    killer.join()
    assert killed == [f"lw-{run.pk}-1"]
    assert (ended.state, ended.epoch) == (RunState.FAILED, 2)
    assert any("without a result" in line.text for line in run_events(ended))
