"""A kind of run that drops a table as the portal does, and helpers that follow it."""

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.utils import timezone

from lifecycle.backup.services.beating import act_beat
from lifecycle.backup.services.fencing import act_prepare
from lifecycle.backup.services.ingesting import act_ingest
from lifecycle.backup.services.settling import act_settle
from portal.connectors.metastore_db import PASSWORD_VARIABLE
from portal.lake.names import TableName
from portal.runs.domain import RunState
from portal.runs.execution.polling import run_poll
from portal.runs.execution.steps import run_step
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.records.spools import log_file
from portal.runs.requests.services import run_request
from tests.support.act_jobs import drop_params
from tests.support.act_lake import DAY, ActLake

WAIT_SECONDS = 300.0


class Drop(RunKind):
    """Drops a table; a failpoint stops its driver in the middle."""

    name = "test.drop"
    title = "Drop"
    job = "lifecycle.drop.jobs"
    acting = True
    attempts = 1

    def __init__(self, lake: ActLake, table: TableName, *, password: str, failpoint: str) -> None:
        self.lake = lake
        self.table = table
        # The stack's own password is a word that stands in many paths and files.
        self.secrets = {PASSWORD_VARIABLE: password, "LW_SECRET": uuid4().hex}
        if failpoint:
            self.secrets |= {"LW_FAILPOINT": failpoint, "LW_FAILPOINTS_ENABLED": "1"}

    def environment(self, run: Run) -> dict[str, str]:
        return self.secrets

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


def started(kind: RunKind) -> Run:
    """Request a run of a kind and submit its application."""
    register(kind)
    run = run_request(kind.name, lake="main", params={}, requested_by="olga", now=timezone.now())
    run_step(run.pk, holder="w")
    run.refresh_from_db()
    assert run.state == RunState.RUNNING, run.error
    return run


def polled_until(run: Run, is_so: Callable[[], bool]) -> None:
    """Poll a run as its supervisor does, until something is so or the run goes no further."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, log_file(run).read_text(errors="replace")[-6000:]
        run.refresh_from_db()
        if run.state == RunState.RUNNING:
            run_poll(run, now=timezone.now())
        time.sleep(1)
    run.refresh_from_db()


def ended(run: Run) -> RunState | None:
    """Follow a run to the end of its application, and settle it."""
    polled_until(run, lambda: Run.objects.get(pk=run.pk).state != RunState.RUNNING)
    return run_step(run.pk, holder="w")
