"""A driver that accepts no service of its cluster gives its run a clear error, on any master."""

from datetime import datetime

import pytest
from django.utils import timezone

from portal.runs.claims.services import run_to_settling
from portal.runs.domain import RunState
from portal.runs.execution.steps import run_step
from portal.runs.models import Run
from portal.runs.records.spools import log_file, open_spool
from portal.runs.requests.services import run_request
from tests.component.conftest import LAKE
from tests.component.portal.runs.run_kinds import JobKind, noting, submitting

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]

# Of a driver on a local master, Spark 3.5 with Hadoop 3.3.
_WORDS = (
    "java.io.IOException: DestHost:destPort localhost:36045 , LocalHost:localPort vm/127.0.0.1:0. "
    "Failed on local exception: java.io.IOException: Couldn't set up IO streams: java.lang."
    "IllegalArgumentException: Server has invalid Kerberos principal: hdfs/localhost@LAKEWARDEN."
    "TEST, expecting: nn/localhost@LAKEWARDEN.TEST"
)


def _ended(now: datetime, *, told: str = "", log: str = "", n_steps: int = 0) -> str:
    """End a run whose driver has told or written these words; gives its error's code."""
    noting(JobKind)
    run = submitting(
        run_request("test.job", lake=LAKE, params={}, requested_by="olga", now=now), now=now
    )
    Run.objects.filter(pk=run.pk).update(progress_n=n_steps)
    run.refresh_from_db()
    if told:
        error = {"code": "spark.failed", "message": f"Spark failed: {told}", "fields": {}}
        open_spool(run).write_manifest({"outcome": "failed", "error": error, "result": {}})
    log_file(run).parent.mkdir(exist_ok=True)
    log_file(run).write_text(f"{log}\n", encoding="utf-8")
    run_to_settling(run, now=timezone.now())
    assert run_step(run.pk, holder="w") is RunState.FAILED
    run.refresh_from_db()
    assert run.error is not None
    return str(run.error["code"])


@pytest.mark.parametrize("n_steps", [0, 3])
def test_the_driver_s_own_words_are_the_run_s_error(now: datetime, n_steps: int) -> None:
    code = _ended(now, told=f"{_WORDS} The run's log has the details.", n_steps=n_steps)
    assert code == "kerberos.server_principal"


def test_so_are_those_of_a_submission_that_ended_before_its_driver_began(now: datetime) -> None:
    assert _ended(now, log=f'Exception in thread "main" {_WORDS}') == "kerberos.server_principal"


def test_what_a_job_that_has_begun_writes_is_no_refusal(now: datetime) -> None:
    assert _ended(now, told="no space left", log=_WORDS, n_steps=3) == "spark.failed"


def test_a_cluster_s_words_mean_nothing_on_another_master(now: datetime) -> None:
    assert _ended(now, told="submitted to unknown queue: nope") == "spark.failed"
