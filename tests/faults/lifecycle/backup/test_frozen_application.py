"""The real drop program, JVM and Python stopped in its middle: seen, shown, killed, settled.

Only the waiting is left out: the heartbeat of the stopped application is made older by hand.
"""

import json
import signal
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from lifecycle.backup.models import BackupBatch
from lifecycle.backup.services.beating import act_beat
from lifecycle.backup.services.fencing import act_prepare
from lifecycle.backup.services.ingesting import act_ingest
from lifecycle.backup.services.settling import act_settle
from portal.access.models import User
from portal.lake.names import TableName
from portal.runs.domain import RunState
from portal.runs.execution.applications import launched_of
from portal.runs.execution.polling import run_poll
from portal.runs.execution.steps import run_step
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.records.spools import heartbeat_file, log_file
from portal.runs.requests.selectors import run_events
from portal.runs.requests.services import run_request
from portal.spark.launch import is_alive
from portal.spark.process_table import group_members
from stack.stack import Stack
from tests.support.act_jobs import SUBMIT_SECONDS, drop_params
from tests.support.act_lake import DAY, ActLake

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
STOPPED_AFTER_THE_RENAMES = "drop:before:stop"


class FrozenDrop(RunKind):
    """Drops a table as the portal does, and stops between its renames and the metadata drop."""

    name = "test.frozen-drop"
    title = "Frozen drop"
    job = "lifecycle.drop.jobs"
    acting = True
    attempts = 1

    def __init__(self, lake: ActLake, name: TableName) -> None:
        self.lake = lake
        self.table = name

    def environment(self, run: Run) -> dict[str, str]:
        return {"LW_FAILPOINT": STOPPED_AFTER_THE_RENAMES, "LW_FAILPOINTS_ENABLED": "1"}

    def request(self, run: Run) -> dict[str, Any]:
        asked = act_prepare(run, root=str(self.lake.root), day=DAY, now=timezone.now())
        params = drop_params(self.lake, self.table, str(run.pk))
        assert params["fence"] == asked["fence"]
        return params

    def beat(self, run: Run) -> None:
        act_beat(run, now=timezone.now())

    def settle(self, run: Run) -> None:
        act_settle(run, now=timezone.now(), still_approved=lambda: False)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        act_ingest(run, manifest, now=timezone.now())


@pytest.fixture
def lake(embedded_stack: Stack, settings: Settings, tmp_path: Path) -> Iterator[ActLake]:
    settings.LAKEWARDEN_LAKES = str(embedded_stack.lakes_file)
    settings.LAKEWARDEN_VAR = tmp_path
    made = ActLake(embedded_stack.config("main"), uuid.uuid4().hex[:8])
    made.fs.make_directories(made.root, mode=0o700)
    yield made
    made.metastore.close()


def wait_stopped(run: Run) -> None:
    """Wait until the Python driver stopped itself, then stop all else of its group."""
    deadline = time.monotonic() + SUBMIT_SECONDS
    assert run.pgid is not None
    while True:
        # A launcher's helper process may end between the listing and the question about it.
        with suppress(psutil.NoSuchProcess):
            group = [psutil.Process(pid) for pid in group_members(run.pgid)]
            if any(one.status() == psutil.STATUS_STOPPED for one in group):
                break
        assert time.monotonic() < deadline, log_file(run).read_text()[-3000:]
        time.sleep(0.1)
    for one in group:
        with suppress(psutil.NoSuchProcess):
            one.send_signal(signal.SIGSTOP)


def grow_old(run: Run, seconds: float) -> None:
    path = heartbeat_file(run)
    said = [[part, pid, at - seconds] for part, pid, at in json.loads(path.read_text())]
    path.write_text(json.dumps(said))


def test_a_drop_frozen_in_its_middle_is_seen_killed_and_settled(lake: ActLake) -> None:
    name = lake.make_table("t", keys=("dt",), values=[("a",), ("b",), ("c",)])
    before = lake.snapshot(name)
    register(FrozenDrop(lake, name))
    now = timezone.now()
    run = run_request("test.frozen-drop", lake="main", params={}, requested_by="olga", now=now)
    run_step(run.pk, holder="w")
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    launched = launched_of(run)
    try:
        wait_stopped(run)
        run_poll(run, now=timezone.now())
        assert run.silent_since is None
        grow_old(run, 25)
        run_poll(run, now=timezone.now())
        assert run.silent_since is not None
        assert is_alive(launched)
        client = Client()
        client.force_login(User.objects.create_user("olga"))
        page = client.get(reverse("ui:run-progress", args=[run.pk])).content.decode()
        assert "No sign of life from its driver since" in page
        # Its data is away and its names stand: the state in which it must not stay.
        assert lake.snapshot(name).files != before.files
        grow_old(run, 36)
        run_poll(run, now=timezone.now() + timedelta(seconds=40))
        assert not is_alive(launched)
    finally:
        for pid in group_members(launched.pgid):
            psutil.Process(pid).kill()
    assert run.state == RunState.SETTLING
    assert any("no sign of life" in e.text and "was killed" in e.text for e in run_events(run))
    assert run_step(run.pk, holder="w") is RunState.FAILED
    assert lake.snapshot(name) == before
    assert [row.state for row in BackupBatch.objects.all()] == ["REPORTED"]
