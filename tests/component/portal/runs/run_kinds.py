"""Kinds of run that tests register: they note what was called, and fail as they are told."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from portal.runs.claims.services import next_tag, run_claim, run_move
from portal.runs.domain import RunState
from portal.runs.execution.launching import run_adopt
from portal.runs.execution.processes import TAG_VARIABLE
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.records.spools import new_spool
from portal.spark.launch import Launched
from portal.spark.process_table import host_identity


class NotingKind(RunKind):
    """Done in the worker; notes every call in order."""

    name = "test.noting"
    title = "Noting"

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.fail_in: dict[str, Exception] = {}
        self.manifests: list[dict[str, Any]] = []

    def execute(self, run: Run) -> dict[str, Any]:
        self._note("execute")
        return {"answer": 42}

    def settle(self, run: Run) -> None:
        self._note("settle")

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        self.manifests.append(manifest)
        self._note("ingest")

    def _note(self, step: str) -> None:
        self.calls.append(step)
        if step in self.fail_in:
            raise self.fail_in[step]


class JobKind(NotingKind):
    """Has an application; tests start a process of their own in its place."""

    name = "test.job"
    title = "Job"
    job = "lifecycle.jobs.none"


class ActingJobKind(JobKind):
    """An application that changes the lake."""

    name = "test.acting"
    title = "Acting"
    acting = True
    queue = "destructive"


def noting(
    kind: type[NotingKind] = NotingKind, fail_in: Mapping[str, Exception] | None = None
) -> NotingKind:
    """Register a fresh kind that fails in the named steps."""
    made = kind()
    made.fail_in = dict(fail_in or {})
    register(made)
    return made


@contextmanager
def application(tag: str, log: Path) -> Iterator[Launched]:
    """A real process group with the tag in its environment, as `launch.submit` makes one."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            ["sleep", "300"],
            env={**os.environ, TAG_VARIABLE: tag},
            stdout=output,
            start_new_session=True,
        )
    stat = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8")
    started = int(stat.rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
    try:
        yield Launched(host_identity(), process.pid, started, process.pid)
    finally:
        end(process.pid)
        process.wait(timeout=10)


def end(pgid: int) -> None:
    """Kill a process group; one that has gone is no error."""
    try:
        os.killpg(pgid, signal.SIGKILL)
    except ProcessLookupError:
        return


def submitting(run: Run, *, now: datetime) -> Run:
    """Take a queued run to where a worker stands just before the submit."""
    claimed = run_claim(run.pk, holder="worker", now=now)
    assert claimed is not None
    spool = new_spool(claimed)
    spool.create()
    run_move(claimed, RunState.SUBMITTING, tag=next_tag(claimed), spool=str(spool.root))
    return claimed


def running(run: Run, launched: Launched, *, now: datetime) -> Run:
    """Store a started process as the run's application."""
    run_adopt(run, launched, now=now)
    return run
