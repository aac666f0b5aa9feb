"""A run whose application is this process: the same request, spool and settling, no spark-submit.

Only the launching is left out (tests/integration/portal/runs/test_run_application.py has it, and
the story on the full stack); the job runs on the tests' own Spark session and ends in the spool's
manifest as `portal.spark.entry` ends it.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pytest
from django.utils import timezone
from pyspark.sql import SparkSession

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import PortalError
from portal.runs.claims.services import next_tag, run_claim, run_move
from portal.runs.domain import RunState
from portal.runs.execution.launching import _request, run_adopt
from portal.runs.execution.polling import run_poll
from portal.runs.execution.steps import run_step
from portal.runs.kinds.registry import get_kind
from portal.runs.models import Run
from portal.runs.records.spools import new_spool
from portal.spark import launch
from portal.spark.entry import _failed, _load
from portal.spark.job import CANCELLED, JobContext
from portal.spark.launch import Launched
from portal.spark.masters.spool_access import open_spool
from portal.spark.process_table import host_identity
from portal.spark.spool import Spool

# No process has this number, so the application counts as ended when it is first asked for.
_NOBODY = 1 << 23
_ENDED = Launched(host_identity(), _NOBODY, 0.0, _NOBODY)


def run_here(run: Run, spark: SparkSession) -> Run:
    """Drive a run to its end, every epoch of it; returns the row as it then stands."""
    while not (now := Run.objects.get(pk=run.pk)).is_final:
        if now.state == RunState.QUEUED:
            _work(now, spark)
        run_step(run.pk, holder="here")
    return now


@contextmanager
def launched_here(spark: SparkSession, *, beside: Collection[str] = ()) -> Iterator[None]:
    """Run each application that is submitted within the block in this process instead, at once.

    Jobs of the modules in `beside` are submitted as ever.
    """
    really = launch.submit

    def submit(*, module: str, spool: str, **others: Any) -> Launched:
        if module in beside:
            return really(module=module, spool=spool, **others)
        place = open_spool(spool)
        _end(module, _context(place.read_request(), place, spark))
        return _ENDED

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "submit", submit)
        yield


def _work(run: Run, spark: SparkSession) -> None:
    claimed = run_claim(run.pk, holder="here", now=timezone.now())
    assert claimed is not None
    kind = get_kind(claimed.kind)
    spool = new_spool(claimed)
    run_move(claimed, RunState.SUBMITTING, tag=next_tag(claimed), spool=str(spool.root))
    spool.create()
    kind.prepare(claimed)
    request = _request(claimed, kind, timezone.now())
    spool.write_request(request)
    kind.beat(claimed)
    run_adopt(claimed, _ENDED, now=timezone.now())
    _end(str(kind.job), _context(request, spool, spark))
    run_poll(claimed, now=timezone.now())


def _end(module: str, job: JobContext) -> None:
    """Do the job and write its manifest; an error that is not the portal's own is the test's."""
    try:
        result = _load(module).run(job.spark, job)
        manifest: dict[str, Any] = {"outcome": "done", "error": None, "result": result}
    except PortalError as error:
        outcome = "cancelled" if error.code == CANCELLED else "failed"
        manifest = _failed(outcome, error.as_dict())
    job.spool.write_manifest({**manifest, "log": list(job.log_lines)})


def _context(request: dict[str, Any], spool: Spool, spark: SparkSession) -> JobContext:
    config = LakeConfig.from_dict(request["lake"])
    now = datetime.fromisoformat(request["now"])
    run, epoch = str(request["run"]), int(request["epoch"])
    return JobContext(run, epoch, config, request["params"], now, spool, spark)
