"""A run whose application is this process: the same request, spool and settling, no spark-submit.

Only the launching is left out (tests/integration/portal/runs/test_run_application.py has it); the
job runs on the tests' own Spark session and ends in the spool's manifest as `portal.spark.entry`
ends it.
"""

from datetime import datetime
from typing import Any

from django.utils import timezone
from pyspark.sql import SparkSession

from portal.access.lakes import get_lake
from portal.lake.errors import PortalError
from portal.runs.claims.services import next_tag, run_claim, run_move
from portal.runs.domain import RunState
from portal.runs.execution.launching import _request, run_adopt
from portal.runs.execution.polling import run_poll
from portal.runs.execution.steps import run_step
from portal.runs.kinds.registry import RunKind, get_kind
from portal.runs.models import Run
from portal.runs.records.spools import new_spool
from portal.spark.entry import _failed, _load
from portal.spark.job import CANCELLED, JobContext
from portal.spark.launch import Launched
from portal.spark.process_table import host_identity
from portal.spark.spool import Spool

# No process has this number, so the application counts as ended when it is first asked for.
_NOBODY = 1 << 23


def run_here(run: Run, spark: SparkSession) -> Run:
    """Drive a run to its end, every epoch of it; returns the row as it then stands."""
    while not (now := Run.objects.get(pk=run.pk)).is_final:
        if now.state == RunState.QUEUED:
            _work(now, spark)
        run_step(run.pk, holder="here")
    return now


def _work(run: Run, spark: SparkSession) -> None:
    claimed = run_claim(run.pk, holder="here", now=timezone.now())
    assert claimed is not None
    kind = get_kind(claimed.kind)
    spool = new_spool(claimed)
    run_move(claimed, RunState.SUBMITTING, tag=next_tag(claimed), spool=str(spool.root))
    job = _prepared(claimed, kind, spool, spark)
    run_adopt(claimed, Launched(host_identity(), _NOBODY, 0.0, _NOBODY), now=timezone.now())
    try:
        result = _load(str(kind.job)).run(spark, job)
        manifest: dict[str, Any] = {"outcome": "done", "error": None, "result": result}
    except PortalError as error:
        outcome = "cancelled" if error.code == CANCELLED else "failed"
        manifest = _failed(outcome, error.as_dict())
    spool.write_manifest({**manifest, "log": list(job.log_lines)})
    run_poll(claimed, now=timezone.now())


def _prepared(run: Run, kind: RunKind, spool: Spool, spark: SparkSession) -> JobContext:
    spool.create()
    kind.prepare(run)
    request = _request(run, kind, timezone.now())
    spool.write_request(request)
    kind.beat(run)
    now = datetime.fromisoformat(request["now"])
    return JobContext(
        str(run.pk), run.epoch, get_lake(run.lake), request["params"], now, spool, spark
    )
