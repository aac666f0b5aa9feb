"""Runs that YARN has accepted and not started: said for what they wait, and ended in the end."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.runs.claims.services import run_claim
from portal.runs.domain import RunState
from portal.runs.execution.applications import has_driver_elsewhere
from portal.runs.execution.launching import run_submit
from portal.runs.execution.polling import run_poll
from portal.runs.execution.steps import run_step
from portal.runs.execution.submitted import submission_of
from portal.runs.execution.takeover import watch
from portal.runs.models import Run
from portal.runs.requests.selectors import run_events
from portal.runs.requests.services import run_request
from portal.spark import launch
from portal.spark.launch import Launched
from portal.spark.process_table import host_identity
from tests.component.conftest import LAKE
from tests.component.portal.runs.run_kinds import (
    ActingJobKind,
    JobKind,
    application,
    end,
    noting,
    submitting,
)
from tests.component.portal.runs.run_kinds import running as adopted
from tests.support.fake_yarn import FakeYarn, fake_yarn
from tests.support.lakes import write_lake

pytestmark = pytest.mark.django_db
_FULL = (
    "[x] Application is added to the scheduler and is not yet activated. Queue's AM resource limit "
    "exceeded.  Details : AM Partition = <DEFAULT_PARTITION>"
)

_STILL = "YARN was asked to end application_1_0001 and still has it."


@pytest.fixture
def config(lake: LakeConfig) -> LakeConfig:
    """The lake on YARN, where an application may wait for 30 minutes."""
    conf = {"spark.submit.deployMode": "cluster"}
    return replace(lake, spark_master="yarn", spark_conf=conf, queue_wait_minutes=30)


@pytest.fixture
def yarn(config: LakeConfig, tmp_path: Path) -> Iterator[FakeYarn]:
    with fake_yarn() as fake:
        properties = {"yarn.resourcemanager.webapp.address": fake.address}
        write_lake(replace(config, hadoop_conf=properties), tmp_path / "lakes.json")
        yield fake


def running(kind: str, yarn: FakeYarn, *, now: datetime) -> Run:
    """A run that another host left on YARN, where it waits."""
    run = run_request(kind, lake=LAKE, params={}, requested_by="olga", now=now)
    run = submitting(run, now=now)
    yarn.has(run.tag, "ACCEPTED", diagnostics=_FULL)
    watch(now=now + timedelta(seconds=31))
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    return run


def said(run: Run) -> list[str]:
    return [event.text for event in run_events(run) if "Waits" in event.text]


def test_a_run_says_for_what_it_waits_and_for_how_long(now: datetime, yarn: FakeYarn) -> None:
    noting(JobKind)
    run = running("test.job", yarn, now=now)
    for seconds, words in [(20, "less than a minute"), (70, "1 minute"), (1_799, "29 minutes")]:
        yarn.has(run.tag, "ACCEPTED", diagnostics=_FULL, waited=seconds)
        run_poll(run, now=now + timedelta(seconds=40))
        run.refresh_from_db()
        assert run.message == (
            f"Waits in YARN's queue 'root.etl' for {words}: the queue's share for drivers "
            "(maximum-am-resource-percent) is in use."
        )
    assert len(said(run)) == 1
    yarn.has(run.tag, "RUNNING")
    run_poll(run, now=now + timedelta(seconds=50))
    run.refresh_from_db()
    assert (run.message, run.state) == ("", RunState.RUNNING)
    assert run_events(run)[-1].text == "It waits no longer."


def test_a_driver_that_starts_up_waits_for_nothing(now: datetime, yarn: FakeYarn) -> None:
    """YARN calls it accepted until its session is there, which takes as long as Spark does."""
    noting(JobKind)
    run = running("test.job", yarn, now=now)
    yarn.has(run.tag, "ACCEPTED", waited=4_000)
    yarn.apps[run.tag][0]["amContainerLogs"] = "http://127.0.0.1:1/node/containerlogs/c/u"
    run_poll(run, now=now + timedelta(seconds=40))
    run.refresh_from_db()
    assert (run.message, run.state) == ("", RunState.RUNNING)


def test_what_waits_for_too_long_is_ended_with_the_next_step(now: datetime, yarn: FakeYarn) -> None:
    noting(JobKind)
    run = running("test.job", yarn, now=now)
    name = yarn.has(run.tag, "ACCEPTED", diagnostics=_FULL, waited=1_800)
    run_poll(run, now=now + timedelta(seconds=40))
    assert (run.state, yarn.killed) == (RunState.SETTLING, [name])
    assert run_step(run.pk, holder="w") is RunState.FAILED
    run.refresh_from_db()
    assert run.error is not None
    assert run.error["code"] == "spark.queue_wait"
    assert "for 30 minutes and was ended" in run.error["message"]
    assert "queue_wait_minutes" in run.error["message"]


def test_one_that_takes_a_while_to_end_keeps_its_reason(now: datetime, yarn: FakeYarn) -> None:
    noting(JobKind)
    run = running("test.job", yarn, now=now)
    name = yarn.has(run.tag, "ACCEPTED", diagnostics=_FULL, waited=1_800)
    yarn.is_deaf = True
    for seconds in (40, 50, 60):
        run_poll(run, now=now + timedelta(seconds=seconds))
    run.refresh_from_db()
    assert (run.state, yarn.killed) == (RunState.RUNNING, [name] * 3)
    texts = [event.text for event in run_events(run)]
    assert sum(text.endswith(f"another queue; it is killed. {_STILL}") for text in texts) == 1
    yarn.is_deaf = False
    yarn.has(run.tag, "KILLED")
    run_poll(Run.objects.get(pk=run.pk), now=now + timedelta(seconds=70))
    assert run_step(run.pk, holder="w") is RunState.FAILED
    run.refresh_from_db()
    assert run.error is not None
    assert run.error["code"] == "spark.queue_wait"


def test_without_a_limit_it_is_that_of_the_kind(
    now: datetime, yarn: FakeYarn, config: LakeConfig, tmp_path: Path
) -> None:
    noting(ActingJobKind)
    run = running("test.acting", yarn, now=now)
    properties = {"yarn.resourcemanager.webapp.address": yarn.address}
    endless = replace(config, queue_wait_minutes=0, hadoop_conf=properties)
    write_lake(endless, tmp_path / "lakes.json")
    for hours, state in [(23, RunState.RUNNING), (24, RunState.SETTLING)]:
        yarn.has(run.tag, "ACCEPTED", diagnostics=_FULL, waited=hours * 3_600)
        run_poll(run, now=now + timedelta(seconds=40))
        assert run.state == state


@pytest.mark.parametrize("minutes", [-1, True, "30"])
def test_a_limit_is_a_number_of_minutes(lake: LakeConfig, minutes: object) -> None:
    with pytest.raises(ExternalFailure, match="queue_wait_minutes must be a whole number"):
        LakeConfig.from_dict({**lake.as_dict(), "queue_wait_minutes": minutes})


def test_a_lake_that_moved_meanwhile_does_not_lose_what_is_on_yarn(
    now: datetime, yarn: FakeYarn, config: LakeConfig, tmp_path: Path
) -> None:
    noting(JobKind)
    run = running("test.job", yarn, now=now)
    here = {"yarn.resourcemanager.webapp.address": yarn.address, "dfs.replication": "2"}
    before = replace(config, hadoop_conf=here, hadoop_user="lakewarden")
    kept = submission_of(before)
    assert "dfs.replication" not in str(kept)
    Run.objects.update(submission=kept)
    with fake_yarn() as other:
        there = {"yarn.resourcemanager.webapp.address": other.address}
        for minutes, after in [
            (3, replace(config, spark_master="local[1]", spark_conf={})),
            (4, replace(config, hadoop_conf=there, hadoop_user="somebody")),
        ]:
            write_lake(after, tmp_path / "lakes.json")
            name = yarn.has(run.tag, "ACCEPTED", diagnostics=_FULL, waited=minutes * 60)
            run.refresh_from_db()
            run_poll(run, now=now + timedelta(seconds=40))
            run.refresh_from_db()
            assert (run.state, f"for {minutes} minutes" in run.message) == (RunState.RUNNING, True)
        run.cancel_requested_by, run.cancel_requested_at = "olga", now
        run.save()
        run_poll(run, now=now + timedelta(seconds=121))
        assert (yarn.killed, yarn.users) == ([name], {"lakewarden"})
        assert other.n_asked == 0


def test_a_driver_of_this_host_is_looked_for_here_after_its_lake_moved_to_yarn(
    now: datetime, yarn: FakeYarn, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(JobKind)
    run = run_request("test.job", lake=LAKE, params={}, requested_by="olga", now=now)
    run = submitting(run, now=now)
    Run.objects.update(submission=submission_of(lake))
    run.refresh_from_db()
    with application(run.tag, tmp_path / "log") as launched:
        adopted(run, launched, now=now)
        run_poll(run, now=now + timedelta(seconds=10))
        assert (run.state, has_driver_elsewhere(run)) == (RunState.RUNNING, False)
        end(launched.pgid)
    run_poll(run, now=now + timedelta(seconds=20))
    assert (run.state, yarn.n_asked) == (RunState.SETTLING, 0)


def test_a_submission_keeps_what_it_went_with(
    now: datetime, yarn: FakeYarn, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = noting(JobKind)
    run = run_request("test.job", lake=LAKE, params={}, requested_by="olga", now=now)
    claimed = run_claim(run.pk, holder="w", now=now)
    assert claimed is not None
    nobody = Launched(host_identity(), 1 << 22, 0.0, 1 << 22)
    monkeypatch.setattr(launch, "submit", lambda **_: nobody)
    run_submit(claimed, kind, holder="w", now=now)
    claimed.refresh_from_db()
    assert claimed.submission == {
        "spark_master": "yarn",
        "deploy_mode": "cluster",
        "hadoop_user": None,
        "hadoop_conf": {"yarn.resourcemanager.webapp.address": yarn.address},
        "namespace": None,
    }
