"""Plays an upgrade: a run of the release of the squashed migrations, and this release after it.

Run as a program, with the part to play and a folder:
`python -m tests.support.upgrade old <folder>`. The database is that of LAKEWARDEN_DB_URL.
"""

import json
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import django

MANIFEST: dict[str, Any] = {
    "outcome": "done",
    "error": None,
    "result": {"n": 7},
    "log": [],
    "of_old": True,
}
# What the former release wrote has no application's id; what a later one writes has more.
PROGRESS = {
    "n": 1,
    "phase": "reading",
    "done": 3,
    "total": 7,
    "message": "half",
    "at": "",
    "of_old": True,
}
_PROGRAM = """
import pathlib, sys, time
spool = pathlib.Path(sys.argv[1])
until = time.monotonic() + 110
while not (spool / "go").exists() and time.monotonic() < until:
    time.sleep(0.05)
(spool / "old_manifest").rename(spool / "manifest.json")
"""


def old(folder: Path) -> None:
    """Migrate as far as the former release did, and start a run as it does."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    from portal.spark.process_table import host_identity, start_seconds

    executor = MigrationExecutor(connection)
    targets = [key for key in executor.loader.graph.nodes if key[1] == "0001_squashed"]
    executor.migrate(targets)
    spool = folder / "spool"
    spool.mkdir(parents=True)
    (spool / "old_manifest").write_text(json.dumps(MANIFEST), encoding="utf-8")
    (spool / "progress-000001.json").write_text(json.dumps(PROGRESS), encoding="utf-8")
    driver = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, spool],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    apps = executor.loader.project_state(targets).apps
    apps.get_model("runs", "Run").objects.create(
        id=uuid.UUID(int=1),
        lake="main",
        kind="test.upgraded",
        state="RUNNING",
        epoch=1,
        requested_by="dora",
        queued_at=django.utils.timezone.now(),
        host=host_identity(),
        pid=driver.pid,
        pid_started=start_seconds(driver.pid),
        pgid=driver.pid,
        spool=f"file:{spool}",
    )


def new(folder: Path) -> None:
    """Find the run again, see its progress and its end, and take its result in."""
    from django.utils import timezone

    from portal.runs.execution.polling import run_poll
    from portal.runs.execution.steps import run_step
    from portal.runs.kinds.registry import RunKind, register
    from portal.runs.models import Run

    class Upgraded(RunKind):
        """Keeps what its driver said."""

        name = "test.upgraded"
        title = "Upgraded"
        job = "none"

        def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
            """Keep it."""

    register(Upgraded())
    run = Run.objects.get()
    run_poll(run, now=timezone.now())
    run.refresh_from_db()
    assert (run.state, run.phase, run.done, run.application_id) == ("RUNNING", "reading", 3, "")
    (folder / "spool" / "go").touch()
    until = time.monotonic() + 60
    while run.state == "RUNNING" and time.monotonic() < until:
        time.sleep(0.1)
        run_poll(run, now=timezone.now())
        run.refresh_from_db()
    assert run_step(run.pk, holder="new") == "DONE"
    run.refresh_from_db()
    assert run.result == {"n": 7}


if __name__ == "__main__":
    django.setup()
    {"old": old, "new": new}[sys.argv[1]](Path(sys.argv[2]))
