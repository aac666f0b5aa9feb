"""Runs whose driver is on YARN: followed, taken over and ended by their tag."""

import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from lifecycle.backup.domain.states import FenceKind
from lifecycle.backup.models import ActFence
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.log_lines import JsonLine
from portal.runs.claims.services import run_to_settling
from portal.runs.domain import RunState
from portal.runs.execution import cluster_signs
from portal.runs.execution.cluster_signs import cluster_sign
from portal.runs.execution.deployment import deployment_of
from portal.runs.execution.polling import run_poll
from portal.runs.execution.steps import run_step
from portal.runs.execution.takeover import watch
from portal.runs.kinds.registry import get_kind
from portal.runs.models import Run
from portal.runs.records.spools import log_file, open_spool
from portal.runs.requests.selectors import run_events
from portal.runs.requests.services import run_request
from portal.safety.ended import check_ended
from portal.settings.logs import FORMAT_VARIABLE
from tests.component.conftest import LAKE, People
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
ELSEWHERE = "elsewhere/1234/5"


@pytest.fixture
def yarn(lake: LakeConfig, tmp_path: Path) -> Iterator[FakeYarn]:
    """A YARN to which the lake deploys its drivers."""
    with fake_yarn() as fake:
        config = replace(
            lake,
            spark_master="yarn",
            spark_conf={"spark.submit.deployMode": "cluster"},
            hadoop_conf={"yarn.resourcemanager.webapp.address": fake.address},
            hadoop_user="lakewarden",
        )
        write_lake(config, tmp_path / "lakes.json")
        yield fake


def submitted(now: datetime, kind: str = "test.acting") -> Run:
    return submitting(
        run_request(kind, lake=LAKE, params={}, requested_by="olga", now=now), now=now
    )


def told(run: Run) -> str:
    return "\n".join(event.text for event in run_events(run))


def test_an_application_outlives_its_submitter_and_ends_the_run_when_it_ends(
    now: datetime, yarn: FakeYarn, tmp_path: Path
) -> None:
    noting(ActingJobKind)
    run = submitted(now)
    name = yarn.has(run.tag, "RUNNING")
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        run_poll(run, now=now)
        end(launched.pgid)
    run_poll(run, now=now + timedelta(seconds=10))
    run.refresh_from_db()
    assert (run.state, run.application_id) == (RunState.RUNNING, name)
    assert f"It is {name} in YARN's queue 'root.etl'." in told(run)
    assert yarn.users == {"lakewarden"}
    yarn.has(run.tag, "FINISHED", diagnostics="all is well")
    run_poll(run, now=now + timedelta(seconds=20))
    assert run.state == RunState.SETTLING
    assert "all is well" in log_file(run).read_text(encoding="utf-8")


def test_a_yarn_that_does_not_answer_ends_nothing(now: datetime, yarn: FakeYarn) -> None:
    noting(ActingJobKind)
    run = submitted(now)
    yarn.has(run.tag, "RUNNING")
    watch(now=now + timedelta(seconds=31))
    run.refresh_from_db()
    assert (run.state, run.pid) == (RunState.RUNNING, None)
    yarn.status = 503
    run_poll(run, now=now + timedelta(seconds=40))
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert "HTTP 503" in run.message


@pytest.mark.parametrize("state", [RunState.SUBMITTING, RunState.RUNNING])
def test_another_host_follows_what_the_launching_one_left_on_yarn(
    now: datetime, yarn: FakeYarn, state: RunState, tmp_path: Path
) -> None:
    noting(ActingJobKind)
    run = submitted(now)
    yarn.has(run.tag, "ACCEPTED")
    if state is RunState.RUNNING:
        with application(run.tag, tmp_path / "log") as launched:
            running(run, launched, now=now)
    Run.objects.filter(pk=run.pk).update(host=ELSEWHERE)
    assert watch(now=now + timedelta(seconds=121)) == 1
    run.refresh_from_db()
    assert (run.state, run.pid, run.host == ELSEWHERE) == (RunState.RUNNING, None, False)
    run_poll(run, now=now + timedelta(seconds=130))
    assert run.state == RunState.RUNNING
    assert "found again on the cluster" in told(run)


def test_one_that_yarn_does_not_have_is_settled(now: datetime, yarn: FakeYarn) -> None:
    noting(ActingJobKind)
    run = submitted(now)
    Run.objects.filter(pk=run.pk).update(host=ELSEWHERE)
    assert watch(now=now + timedelta(seconds=121)) == 1
    run.refresh_from_db()
    assert run.state == RunState.SETTLING


def test_what_must_end_is_killed_by_its_tag(now: datetime, yarn: FakeYarn) -> None:
    noting(ActingJobKind)
    run = submitted(now)
    name = yarn.has(run.tag, "RUNNING")
    watch(now=now + timedelta(seconds=31))
    run.refresh_from_db()
    run.cancel_requested_by, run.cancel_requested_at = "olga", now
    run.save()
    run_poll(run, now=now + timedelta(seconds=121))
    assert (run.state, yarn.killed) == (RunState.SETTLING, [name])


def test_what_is_killed_may_act_until_its_lease_and_a_minute_are_over(
    now: datetime, yarn: FakeYarn
) -> None:
    """YARN's word does not end a process on a node that cannot be reached."""
    noting(ActingJobKind)
    run = submitted(now)
    name = yarn.has(run.tag, "RUNNING")
    fence = ActFence(lake=LAKE, kind=FenceKind.DROP, lease_until=now + timedelta(seconds=60))
    with pytest.raises(ExternalFailure, match="has not ended yet"):
        check_ended(run, fence, now=now + timedelta(seconds=119))
    assert yarn.killed == [name]
    check_ended(run, fence, now=now + timedelta(seconds=121))
    yarn.status = 503
    with pytest.raises(ExternalFailure, match="gives no answer"):
        check_ended(run, fence, now=now + timedelta(seconds=121))


def test_a_driver_that_said_its_end_is_waited_for_no_longer(now: datetime, yarn: FakeYarn) -> None:
    noting(ActingJobKind)
    run = submitted(now)
    yarn.has(run.tag, "FINISHED")
    open_spool(run).write_manifest({"outcome": "done", "error": None, "result": {}})
    fence = ActFence(lake=LAKE, kind=FenceKind.DROP, lease_until=now + timedelta(seconds=60))
    check_ended(run, fence, now=now)


def test_passwords_go_by_the_spool_and_are_removed_when_nobody_took_them(
    now: datetime, yarn: FakeYarn, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = noting(JobKind)
    monkeypatch.setattr(kind, "environment", lambda _run: {"LW_SECRET": "told to nobody"})
    run = submitted(now, "test.job")
    spool = open_spool(run)
    deployment = deployment_of(run, kind, spool)
    file = Path(spool.root.child("environment.json").path)
    assert file.stat().st_mode & 0o777 == 0o600
    assert spool.read_part("environment.json")["LW_SECRET"] == "told to nobody"
    assert "told to nobody" not in str(deployment.environment) + str(deployment.config)
    run_to_settling(run, now=timezone.now())
    run_step(run.pk, holder="w")
    assert not file.exists()


def test_a_queue_for_a_kind_that_there_is_not_is_refused(
    now: datetime, yarn: FakeYarn, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(JobKind)
    run = submitted(now, "test.job")
    write_lake(replace(lake, spark_queues={"lifecycle.drops": "q"}), tmp_path / "lakes.json")
    with pytest.raises(ExternalFailure, match=r"names lifecycle\.drops") as refused:
        deployment_of(run, get_kind("test.job"), open_spool(run))
    assert refused.value.code == "config.spark_queues"


@pytest.mark.parametrize("told", [None, "spark.failed"], ids=["cluster", "client"])
def test_yarn_s_refusal_is_the_run_s_error_and_is_not_tried_again(
    now: datetime, yarn: FakeYarn, told: str | None
) -> None:
    noting(JobKind)
    run = submitted(now, "test.job")
    if told is not None:
        error = {"code": told, "message": "Spark failed: no context", "fields": {}}
        open_spool(run).write_manifest({"outcome": "failed", "error": error, "result": {}})
    log_file(run).parent.mkdir(exist_ok=True)
    log_file(run).write_text("YarnException: submitted by user x to unknown queue: nope\n")
    run_to_settling(run, now=timezone.now())
    assert run_step(run.pk, holder="w") is RunState.FAILED
    run.refresh_from_db()
    assert run.error is not None
    assert run.error["code"] == "yarn.queue_unknown"


def test_a_driver_on_yarn_is_silent_when_its_counters_stand_still(
    now: datetime, yarn: FakeYarn, monkeypatch: pytest.MonkeyPatch
) -> None:
    noting(ActingJobKind)
    run = submitted(now)
    name = yarn.has(run.tag, "RUNNING")
    watch(now=now + timedelta(seconds=31))
    run.refresh_from_db()
    spool, clock = open_spool(run), [time.monotonic()]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    for n, seconds, silent in [(1, 0, False), (2, 30, False), (2, 30, True), (3, 30, False)]:
        spool.write_beat({"driver": n, "jvm": n})
        clock[0] += seconds
        run_poll(run, now=now + timedelta(seconds=40))
        assert (run.silent_since is not None) is silent, n
    for n, seconds in [(4, 10), (5, 30)]:
        spool.write_beat({"driver": n, "jvm": 3})
        clock[0] += seconds
        run_poll(run, now=now + timedelta(seconds=50))
    assert run.silence is not None
    assert run.silence["part"] == "JVM"
    clock[0] += 30
    run_poll(run, now=now + timedelta(seconds=80))
    assert (run.state, yarn.killed) == (RunState.SETTLING, [name])


@pytest.mark.parametrize("has_said_its_end", [True, False])
def test_what_a_driver_wrote_is_in_the_run_s_log_however_it_ended(
    now: datetime, yarn: FakeYarn, has_said_its_end: bool
) -> None:
    noting(JobKind)
    run = submitted(now, "test.job")
    name = yarn.has(run.tag, "RUNNING")
    watch(now=now + timedelta(seconds=31))
    run.refresh_from_db()
    spool = open_spool(run)
    spool.write_output("stdout", b"the last words\n")
    if has_said_its_end:
        spool.write_manifest({"outcome": "done", "error": None, "result": {}})
    yarn.has(run.tag, "FINISHED", diagnostics="all is well")
    run_poll(run, now=now + timedelta(seconds=40))
    assert run.state == RunState.SETTLING
    assert log_file(run).read_text(encoding="utf-8") == (
        f"\n--- stdout of the driver, {name}\nthe last words\n\n\n--- YARN on {name}\nall is well\n"
    )


def test_a_driver_whose_last_words_only_its_node_has_is_asked_for_there(
    now: datetime, yarn: FakeYarn
) -> None:
    noting(JobKind)
    run = submitted(now, "test.job")
    yarn.has(run.tag, "RUNNING")
    watch(now=now + timedelta(seconds=31))
    run.refresh_from_db()
    open_spool(run).write_output("stderr", b"an older copy\n")
    yarn.has(run.tag, "FAILED")
    yarn.logs(run.tag, {"stderr": "OutOfMemoryError\n"})
    run_poll(run, now=now + timedelta(seconds=40))
    text = log_file(run).read_text(encoding="utf-8")
    assert "OutOfMemoryError" in text
    assert "an older copy" not in text


def test_of_what_its_node_has_no_line_is_kept_that_is_cut(now: datetime, yarn: FakeYarn) -> None:
    noting(JobKind)
    run = submitted(now, "test.job")
    yarn.has(run.tag, "RUNNING")
    watch(now=now + timedelta(seconds=31))
    run.refresh_from_db()
    yarn.has(run.tag, "FAILED")
    yarn.logs(run.tag, {"stdout": f"token={'x' * 300_000}\nthe last words\n"})
    run_poll(run, now=now + timedelta(seconds=40))
    text = log_file(run).read_text(encoding="utf-8")
    assert "the last words" in text
    assert "xx" not in text


def test_a_driver_on_yarn_writes_the_portal_s_form_and_its_page_shows_it_as_text(
    now: datetime, yarn: FakeYarn, people: People, settings: Settings
) -> None:
    settings.LAKEWARDEN_LOG_FORMAT = "json"
    kind = noting(JobKind)
    run = submitted(now, "test.job")
    spool = open_spool(run)
    deployment_of(run, kind, spool)
    assert spool.take_environment()[FORMAT_VARIABLE] == "json"
    yarn.has(run.tag, "RUNNING")
    watch(now=now + timedelta(seconds=31))
    run.refresh_from_db()
    words = 'read "a"\npassword=hunter2'
    said = logging.LogRecord("lw", logging.INFO, "x.py", 1, words, None, None)
    spool.write_output("stdout", f"of the JVM\n{JsonLine().format(said)}\n".encode())
    spool.write_manifest({"outcome": "done", "error": None, "result": {}})
    yarn.has(run.tag, "FINISHED")
    run_poll(run, now=now + timedelta(seconds=40))
    client = Client()
    client.force_login(people.admin)
    page = client.get(reverse("ui:run-driver-log", args=[run.pk])).content.decode()
    assert "of the JVM" in page
    assert "+00:00 read &quot;a&quot;\npassword=***" in page
    assert "timestamp" not in page
    assert "hunter2" not in page


def test_heartbeats_of_ended_runs_are_forgotten(
    now: datetime, yarn: FakeYarn, monkeypatch: pytest.MonkeyPatch
) -> None:
    noting(JobKind)
    clock = [time.monotonic()]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(cluster_signs, "_seen", {})
    for n in range(5):
        run = submitted(now, "test.job")
        open_spool(run).write_beat({"driver": n, "jvm": n})
        assert cluster_sign(run) is not None
        clock[0] += 400
    assert {key[0] for key in cluster_signs._seen} >= {run.pk}
    assert len(cluster_signs._seen) <= 4
