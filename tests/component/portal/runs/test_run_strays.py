"""A host that was taken for gone comes back: what of its programs goes on, and what is ended."""

from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.runs.domain import RunState, tag_of
from portal.runs.execution.polling import SUPERVISED, run_hold, runs_hold
from portal.runs.execution.steps import run_step
from portal.runs.execution.strays import strays_end
from portal.runs.execution.takeover import watch
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.runs.requests.selectors import run_events
from portal.runs.requests.services import run_request
from portal.spark import launch
from portal.spark.launch import Launched, is_alive
from tests.component.conftest import LAKE
from tests.component.portal.runs.run_kinds import (
    ActingJobKind,
    JobKind,
    application,
    noting,
    running,
    submitting,
)

pytestmark = pytest.mark.django_db
ELSEWHERE = "elsewhere/1234/5"
GONE = timedelta(seconds=121)


def started(now: datetime, kind: str = "test.job") -> Run:
    run = run_request(kind, lake=LAKE, params={}, requested_by="olga", now=now)
    submitting(run, now=now)
    run.refresh_from_db()
    return run


def left(now: datetime, tmp_path: Path, kind: str = "test.job") -> Run:
    """A run that is noted as running, whose application has ended."""
    run = started(now, kind=kind)
    with application(run.tag, tmp_path / run.tag) as launched:
        return running(run, launched, now=now)


def texts(run: Run) -> str:
    return "\n".join(event.text for event in run_events(run))


def settle_a_minute_later(run: Run) -> RunState | None:
    long_ago = timezone.now() - timedelta(minutes=2)
    Run.objects.filter(pk=run.pk).update(settling_at=long_ago, lease_until=None)
    return run_step(run.pk, holder="w")


def test_a_driver_on_a_host_that_seems_gone_is_told_to_end_and_gets_a_minute(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    kind = noting(JobKind)
    run = started(now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        Run.objects.filter(pk=run.pk).update(host=ELSEWHERE)
        assert watch(now=now + GONE) == 1
        run.refresh_from_db()
        assert (run.state, run.pid) == (RunState.SETTLING, None)
        assert open_spool(run).read_control()["cancel"] is True
        Run.objects.filter(pk=run.pk).update(settling_at=timezone.now())
        assert run_step(run.pk, holder="w") is RunState.SETTLING
        assert kind.calls == []


@pytest.mark.parametrize(
    ("outcome", "state"), [("cancelled", RunState.QUEUED), ("done", RunState.DONE)]
)
def test_what_it_then_says_is_no_cancel_of_a_person(
    now: datetime, lake: LakeConfig, tmp_path: Path, outcome: str, state: RunState
) -> None:
    noting(JobKind)
    run = left(now, tmp_path)
    Run.objects.filter(pk=run.pk).update(host=ELSEWHERE)
    assert watch(now=now + GONE) == 1
    open_spool(run).write_manifest({"outcome": outcome, "error": None, "result": {}})
    assert settle_a_minute_later(run) is state


def test_one_that_acts_is_left_to_its_fence(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(ActingJobKind)
    run = left(now, tmp_path, kind="test.acting")
    Run.objects.filter(pk=run.pk).update(host=ELSEWHERE)
    assert watch(now=now + GONE) == 1
    assert open_spool(run).read_control() == {}


@pytest.mark.parametrize(
    "after",
    [
        {"state": RunState.SETTLING},
        {"state": RunState.QUEUED},
        {"state": RunState.RUNNING, "epoch": 2, "host": ELSEWHERE},
        {"state": RunState.DONE, "epoch": 2},
        {"state": RunState.FAILED},
    ],
)
def test_a_driver_whose_run_went_on_without_it_is_killed(
    now: datetime, lake: LakeConfig, tmp_path: Path, after: dict[str, object]
) -> None:
    noting(JobKind)
    run = started(now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        assert strays_end([run.tag], now=now) == frozenset()
        assert is_alive(launched)
        Run.objects.filter(pk=run.pk).update(**after)
        seen = strays_end([], now=now)
        assert is_alive(launched), "it may be about to end"
        strays_end(seen, now=now)
        assert not is_alive(launched)
    assert "A driver of attempt 1 was still alive on " in texts(run)
    assert strays_end(seen, now=now) == frozenset()
    assert texts(run).count("still alive") == 1


def test_one_that_cannot_be_killed_keeps_no_other_alive(
    now: datetime,
    lake: LakeConfig,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noting(JobKind)
    runs = [started(now), started(now)]
    kill, tries = launch.kill, []

    def one_stays(launched: Launched) -> None:
        tries.append(launched)
        if len(tries) == 1:
            raise ExternalFailure(
                "spark.kill", "It waits for a disk.", service="spark", retryable=True
            )
        kill(launched)

    with (
        application(runs[0].tag, tmp_path / "log0") as one,
        application(runs[1].tag, tmp_path / "log1") as other,
    ):
        for run, launched in zip(runs, (one, other), strict=True):
            running(run, launched, now=now)
        Run.objects.update(state=RunState.FAILED)
        monkeypatch.setattr(launch, "kill", one_stays)
        tags = {run.tag for run in runs}
        assert strays_end(tags, now=now) == tags
        assert sorted([is_alive(one), is_alive(other)]) == [False, True]
        assert len(strays_end(tags, now=now)) == 1
        assert [is_alive(one), is_alive(other)] == [False, False]


def test_a_host_that_comes_back_amid_a_takeover_keeps_its_run(
    now: datetime, lake: LakeConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noting(JobKind)
    run = left(now, tmp_path)
    Run.objects.filter(pk=run.pk).update(host=ELSEWHERE)

    def hold(run: Run) -> None:
        Run.objects.filter(pk=run.pk).update(lease_until=now + GONE * 2)

    monkeypatch.setattr("portal.runs.execution.takeover.keep_driver_log", hold)
    assert watch(now=now + GONE) == 0
    run.refresh_from_db()
    assert (run.state, run.host) == (RunState.RUNNING, ELSEWHERE)
    assert open_spool(run).read_control() == {}
    assert "taken over" not in texts(run)


def test_a_program_of_another_portal_and_one_of_a_later_attempt_are_left_alone(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    """A database that was set back knows less than what runs; nobody decides that by itself."""
    noting(JobKind)
    run = started(now)
    Run.objects.filter(pk=run.pk).update(state=RunState.FAILED)
    for n, tag in enumerate((tag_of(str(uuid4()), 1), tag_of(str(run.pk), 2), "lw-odd", "lw-x-y")):
        with application(tag, tmp_path / f"log{n}") as launched:
            assert strays_end([tag], now=now) == frozenset()
            assert is_alive(launched)


def test_one_that_is_being_submitted_is_left_alone(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(JobKind)
    run = started(now)
    with application(run.tag, tmp_path / "log") as launched:
        assert strays_end([run.tag], now=now) == frozenset()
        assert is_alive(launched)


def test_a_host_holds_what_runs_on_it_whatever_its_lakes_do(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(JobKind)
    here, there = left(now, tmp_path), left(now, tmp_path)
    Run.objects.filter(pk=there.pk).update(host=ELSEWHERE)
    runs_hold(now=now + GONE)
    assert watch(now=now + GONE) == 1
    for run, state in ((here, RunState.RUNNING), (there, RunState.SETTLING)):
        run.refresh_from_db()
        assert run.state == state
    Run.objects.filter(pk=here.pk).update(host=ELSEWHERE)
    assert watch(now=now + GONE + timedelta(seconds=119)) == 0


def test_who_drives_a_run_without_a_supervisor_holds_that_one_alone(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(JobKind)
    driven, other = left(now, tmp_path), left(now, tmp_path)
    before = Run.objects.get(pk=other.pk).lease_until
    run_hold(driven, now=now + GONE)
    driven.refresh_from_db()
    assert driven.lease_until == now + GONE + SUPERVISED
    assert Run.objects.get(pk=other.pk).lease_until == before
