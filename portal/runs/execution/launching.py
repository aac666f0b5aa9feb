"""Launches a claimed run as an application, so that a crash at any line loses nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.utils import timezone

from portal.access.lakes import get_lake
from portal.lake.errors import StaleState
from portal.reliability.claims import claim
from portal.runs.claims.services import beating, next_tag, run_move, run_renew, run_to_settling
from portal.runs.domain import RunState
from portal.runs.execution.deployment import deployment_of
from portal.runs.execution.polling import SUPERVISED
from portal.runs.execution.submitted import lake_of, submission_of
from portal.runs.kinds.registry import RunKind
from portal.runs.models import Run
from portal.runs.records.logs import run_log
from portal.runs.records.spools import log_file, new_spool
from portal.spark import launch
from portal.spark.launch import Launched
from portal.spark.process_table import host_identity, host_name


def run_submit(run: Run, kind: RunKind, *, holder: str, now: datetime) -> None:
    """Submit the application of a claimed run and store where it runs.

    The tag is stored before anything is started: whoever finds the row afterwards can look for it.
    """
    spool = new_spool(run)
    run_move(
        run,
        RunState.SUBMITTING,
        tag=next_tag(run),
        spool=str(spool.root),
        application_id="",
        submission=submission_of(get_lake(run.lake)),
    )
    with beating(run, holder=holder):
        spool.create()
        kind.prepare(run)
        spool.write_request(_request(run, kind, now))
        kind.beat(run)
        if not run_renew(run, holder=holder, now=timezone.now()):
            raise StaleState("run.lost", f"Run {run.pk} was taken over before it was submitted.")
        deployment = deployment_of(run, kind, spool)
        launched = launch.submit(
            module=str(kind.job),
            tag=run.tag,
            spool=run.spool,
            config=deployment.config,
            log_file=log_file(run),
            environment=deployment.environment,
        )
        with _killed_on_error(launched):
            if kind.yields:
                launch.yield_to_others(launched, deployment.config)
            run_adopt(run, launched, now=timezone.now())


@contextmanager
def _killed_on_error(launched: Launched) -> Iterator[None]:
    """End what was started if it cannot be stored: nobody else would ever stop it."""
    try:
        yield
    except BaseException:
        launch.kill(launched)
        raise


def run_adopt(run: Run, launched: Launched, *, now: datetime) -> None:
    """Store where the application of a submitting run is; from here on it is polled."""
    run_move(
        run,
        RunState.RUNNING,
        host=launched.host,
        pid=launched.pid,
        pid_started=launched.pid_started,
        pgid=launched.pgid,
        submitted_at=now,
        lease_owner="",
        lease_until=now + SUPERVISED,
    )
    run_log(run, f"Started on {host_name(launched.host)} as {run.tag}.", now=now)


def run_adopt_on_cluster(run: Run, *, now: datetime) -> None:
    """Follow from this host an application on a cluster whose submitter has gone, by its tag alone.

    Raises:
        StaleState: somebody else moved the run first.
    """
    changes: dict[str, Any] = {
        "host": host_identity(),
        "pid": None,
        "pid_started": None,
        "pgid": None,
        "lease_owner": "",
        "lease_until": now + SUPERVISED,
    }
    if run.state == RunState.SUBMITTING:
        run_move(run, RunState.RUNNING, submitted_at=now, **changes)
    else:
        as_read = Run.objects.filter(pk=run.pk, state=run.state, epoch=run.epoch, host=run.host)
        if not claim(as_read, **changes):
            raise StaleState("run.lost", f"Run {run.pk} was taken over by another worker.")
        run.refresh_from_db()
    run_log(run, f"Its application was found again on the cluster as {run.tag}.", now=now)


def run_execute(run: Run, kind: RunKind, *, holder: str) -> None:
    """Do the work of a kind without an application; the same step settles it (`steps.run_step`)."""
    with beating(run, holder=holder):
        result = kind.execute(run)
    run_to_settling(run, now=timezone.now(), is_settled_next=True, result=result)


def _request(run: Run, kind: RunKind, now: datetime) -> dict[str, Any]:
    return {
        "run": str(run.pk),
        "epoch": run.epoch,
        "lake": lake_of(run).as_dict(),
        # A played day (demo, tests) comes in the params; the job never reads a clock for it.
        "now": str(run.params.get("now") or now.isoformat()),
        "params": kind.request(run),
    }
