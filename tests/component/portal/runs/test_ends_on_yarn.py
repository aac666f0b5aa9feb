"""What ends a run on YARN, and what only looks like its end."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from portal.connectors.lake_config import LakeConfig
from portal.runs.claims.services import run_to_settling
from portal.runs.domain import RunState
from portal.runs.execution import cluster_signs
from portal.runs.execution.deployment import deployment_of
from portal.runs.execution.polling import run_poll
from portal.runs.execution.settling import MAX_SETTLES
from portal.runs.execution.steps import run_step
from portal.runs.execution.takeover import watch
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.runs.requests.selectors import run_events
from portal.runs.requests.services import run_request
from portal.spark.launch import is_alive
from tests.component.conftest import LAKE
from tests.component.portal.runs.run_kinds import (
    ActingJobKind,
    JobKind,
    application,
    end,
    noting,
    running,
    submitting,
)
from tests.support.fake_yarn import FakeYarn, fake_yarn
from tests.support.lakes import write_lake

pytestmark = pytest.mark.django_db


class Clock:
    """The clock of this process, which tests turn on."""

    def __init__(self) -> None:
        self.seconds = time.monotonic()

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(time, "monotonic", found)
    monkeypatch.setattr(cluster_signs, "_seen", {})
    return found


@pytest.fixture
def yarn(lake: LakeConfig, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[FakeYarn]:
    """A YARN to which the lake deploys its drivers, or only executors of drivers on this host."""
    mode = getattr(request, "param", "cluster")
    with fake_yarn() as fake:
        write_lake(on_yarn(lake, fake, mode), tmp_path / "lakes.json")
        yield fake


def on_yarn(lake: LakeConfig, yarn: FakeYarn, mode: str) -> LakeConfig:
    return replace(
        lake,
        spark_master="yarn",
        spark_conf={"spark.submit.deployMode": mode},
        hadoop_conf={"yarn.resourcemanager.webapp.address": yarn.address},
    )


def submitted(now: datetime, kind: str = "test.acting") -> Run:
    return submitting(
        run_request(kind, lake=LAKE, params={}, requested_by="olga", now=now), now=now
    )


def cancelled(run: Run, *, now: datetime) -> None:
    run.cancel_requested_by, run.cancel_requested_at = "olga", now
    run.save()


def told(run: Run) -> str:
    return "\n".join(event.text for event in run_events(run))


client_mode = pytest.mark.parametrize("yarn", ["client"], indirect=True)


@client_mode
def test_an_application_in_the_queue_ends_with_its_driver_on_this_host(
    now: datetime, yarn: FakeYarn, tmp_path: Path
) -> None:
    noting(JobKind)
    run = submitted(now, "test.job")
    name = yarn.has(run.tag, "ACCEPTED")
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        cancelled(run, now=now)
        run_poll(run, now=now + timedelta(seconds=61))
        assert not is_alive(launched)
    assert run_step(run.pk, holder="w") is RunState.CANCELLED
    assert yarn.killed == [name]
    assert f"The cluster was asked to end {name}." in told(run)


@client_mode
@pytest.mark.parametrize("outcome", [None, "done"])
def test_a_yarn_that_does_not_answer_keeps_no_driver_of_this_host_from_its_end(
    now: datetime, yarn: FakeYarn, tmp_path: Path, outcome: str | None
) -> None:
    """A driver that said its end has ended its application itself; YARN is not asked for it."""
    noting(JobKind)
    run = submitted(now, "test.job")
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        if outcome:
            open_spool(run).write_manifest({"outcome": outcome, "error": None, "result": {}})
        else:
            cancelled(run, now=now)
        end(launched.pgid)
    run_poll(run, now=now + timedelta(seconds=10))
    yarn.status, yarn.n_asked = 503, 0
    if outcome is None:
        assert run_step(run.pk, holder="w") is RunState.SETTLING
        Run.objects.filter(pk=run.pk).update(lease_until=None, n_settles=MAX_SETTLES - 1)
    assert run_step(run.pk, holder="w") is (RunState.DONE if outcome else RunState.CANCELLED)
    assert (yarn.n_asked == 0) is bool(outcome)
    assert ("Its application was not ended: YARN's" in told(run)) is not bool(outcome)


@client_mode
def test_a_yarn_that_the_portal_may_not_ask_does_not_change_how_a_run_ended(
    now: datetime, yarn: FakeYarn, tmp_path: Path
) -> None:
    noting(JobKind)
    run = submitted(now, "test.job")
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        cancelled(run, now=now)
        end(launched.pgid)
    run_poll(run, now=now + timedelta(seconds=10))
    yarn.wants_proof = True
    assert run_step(run.pk, holder="w") is RunState.CANCELLED
    assert "Its application was not ended: YARN's web service asks for Kerberos" in told(run)


def test_a_driver_that_beats_has_not_ended_where_yarn_knows_nothing_of_it(
    now: datetime, yarn: FakeYarn, clock: Clock
) -> None:
    noting(ActingJobKind)
    run = submitted(now)
    yarn.has(run.tag, "RUNNING")
    watch(now=now + timedelta(seconds=31))
    run.refresh_from_db()
    spool = open_spool(run)
    yarn.apps.clear()
    for n in range(1, 4):
        spool.write_beat({"driver": n, "jvm": n})
        clock.seconds += 10
        run_poll(run, now=now + timedelta(seconds=40))
        assert (run.state, run.message) == (
            RunState.RUNNING,
            f"YARN knows no application of {run.tag}, and its driver beats: the run goes on, and "
            "YARN is asked again. Look at the ResourceManager.",
        )
    cancelled(run, now=now)
    run_poll(run, now=now + timedelta(seconds=121))
    assert run.state == RunState.RUNNING
    clock.seconds += 21
    run_poll(run, now=now + timedelta(seconds=150))
    assert run.state == RunState.SETTLING


def test_a_submitter_that_is_killed_ends_no_driver_that_yarn_does_not_know(
    now: datetime, yarn: FakeYarn, clock: Clock, tmp_path: Path
) -> None:
    noting(ActingJobKind)
    run = submitted(now)
    open_spool(run).write_beat({"driver": 1, "jvm": None})
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        cancelled(run, now=now)
        run_poll(run, now=now + timedelta(seconds=61))
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert "its driver beats" in run.message


def test_a_submitter_is_killed_although_yarn_does_not_answer(
    now: datetime, yarn: FakeYarn, tmp_path: Path
) -> None:
    """It may have submitted nothing yet; whether it has is asked until YARN answers."""
    noting(ActingJobKind)
    run = submitted(now)
    yarn.status = 503
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        run_poll(run, now=now + timedelta(seconds=10))
        assert is_alive(launched)
        assert "HTTP 503" in run.message
        cancelled(run, now=now)
        run_poll(run, now=now + timedelta(seconds=61))
        assert not is_alive(launched)
        assert "It did not end by itself after the cancel; it is killed." in told(run)
    run_poll(run, now=now + timedelta(seconds=71))
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    yarn.status = 200
    run_poll(run, now=now + timedelta(seconds=81))
    assert run.state == RunState.SETTLING


def test_one_that_does_not_end_is_asked_once_a_turn_and_not_told_as_killed(
    now: datetime, yarn: FakeYarn
) -> None:
    noting(ActingJobKind)
    run = submitted(now)
    name = yarn.has(run.tag, "RUNNING")
    yarn.is_deaf = True
    watch(now=now + timedelta(seconds=31))
    run.refresh_from_db()
    cancelled(run, now=now)
    for seconds in (61, 71):
        run_poll(run, now=now + timedelta(seconds=seconds))
    assert run.state == RunState.RUNNING
    assert yarn.killed == [name, name]
    assert told(run).count(f"YARN was asked to end {name} and still has it.") == 1
    assert "it was killed" not in told(run)
    yarn.is_deaf = False
    run_poll(run, now=now + timedelta(seconds=81))
    assert run.state == RunState.SETTLING
    assert told(run).count("it was killed") == 1


@pytest.mark.parametrize("state", [RunState.SUBMITTING, RunState.RUNNING])
def test_nobody_takes_a_beating_driver_for_ended_that_yarn_does_not_know(
    now: datetime, yarn: FakeYarn, clock: Clock, state: RunState
) -> None:
    noting(ActingJobKind)
    run = submitted(now)
    open_spool(run).write_beat({"driver": 1, "jvm": None})
    Run.objects.filter(pk=run.pk).update(host="elsewhere/1234/5", state=state)
    for silent, moved in [(0, 0), (19, 0), (20, 1)]:
        clock.seconds += silent
        assert watch(now=now + timedelta(seconds=121)) == moved
        run.refresh_from_db()
        assert (run.state == RunState.SETTLING) is bool(moved)
        clock.seconds -= silent


def test_a_spool_that_cannot_be_read_says_nothing_of_a_driver_that_yarn_does_not_know(
    now: datetime, yarn: FakeYarn, clock: Clock
) -> None:
    noting(ActingJobKind)
    run = submitted(now)
    yarn.has(run.tag, "RUNNING")
    watch(now=now + timedelta(seconds=31))
    run.refresh_from_db()
    yarn.apps.clear()
    Path(open_spool(run).root.child("beat.json").path).write_text("half")
    run_poll(run, now=now + timedelta(seconds=40))
    assert (run.state, "is no JSON object" in run.message) == (RunState.RUNNING, True)


@pytest.mark.parametrize(("yarn", "seconds"), [("client", 15), ("cluster", 60)], indirect=["yarn"])
def test_a_driver_on_a_cluster_has_longer_to_end_after_its_last_step(
    yarn: FakeYarn, tmp_path: Path, seconds: int
) -> None:
    noting(JobKind)
    now = timezone.now()
    run = submitted(now, "test.job")
    yarn.has(run.tag, "RUNNING")
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        manifest: dict[str, Any] = {"outcome": "done", "error": None, "result": {}}
        open_spool(run).write_manifest(manifest)
        run_poll(run, now=now + timedelta(seconds=seconds - 2))
        assert is_alive(launched)
        run_poll(run, now=now + timedelta(seconds=seconds + 5))
        assert not is_alive(launched)
    assert run.state == RunState.SETTLING


def test_what_was_uploaded_for_a_driver_is_removed_once_it_has_ended(
    now: datetime, yarn: FakeYarn, lake: LakeConfig, tmp_path: Path
) -> None:
    kind = noting(JobKind)
    write_lake(replace(lake, spark_master="k8s://https://127.0.0.1:1"), tmp_path / "lakes.json")
    run = submitted(now, "test.job")
    conf = deployment_of(run, kind, open_spool(run)).config.spark_conf
    uploads = Path(conf["spark.kubernetes.file.upload.path"].removeprefix("file:"))
    root = Path(open_spool(run).root.path)
    assert uploads.parent == root
    # Here a cluster that answers has run it.
    write_lake(on_yarn(lake, yarn, "cluster"), tmp_path / "lakes.json")
    yarn.has(run.tag, "FINISHED")
    (uploads / "spark-upload-1").mkdir(parents=True)
    (uploads / "spark-upload-1" / "packages.zip").touch()
    (uploads / "link").symlink_to(tmp_path)
    kept = {path.name for path in root.iterdir()} - {"upload", "environment.json"}
    run_to_settling(run, now=timezone.now())
    run_step(run.pk, holder="w")
    assert {path.name for path in root.iterdir()} == kept
    assert (tmp_path / "lakes.json").exists()
