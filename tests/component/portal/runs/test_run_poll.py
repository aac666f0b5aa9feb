"""A running application: progress, cancel, its end, with a real process and a real spool."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import StaleState
from portal.runs.domain import RunState
from portal.runs.execution.polling import run_poll
from portal.runs.execution.steps import run_step
from portal.runs.models import Run, RunEvent
from portal.runs.records.spools import open_spool
from portal.runs.requests.selectors import run_events
from portal.runs.requests.services import run_cancel, run_request
from portal.spark.launch import is_alive
from portal.spark.spool import Progress
from tasks.supervise import supervise
from tests.component.conftest import LAKE, People
from tests.component.portal.runs.run_kinds import (
    JobKind,
    application,
    end,
    noting,
    running,
    submitting,
)

pytestmark = pytest.mark.django_db


def started(now: datetime) -> Run:
    run = run_request("test.job", lake=LAKE, params={}, requested_by="olga", now=now)
    return submitting(run, now=now)


def step(n: int, phase: str, done: int, message: str = "") -> Progress:
    return Progress.make(n, phase=phase, done=done, total=10, message=message, at=timezone.now())


def test_progress_reaches_the_row_and_the_log_once(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(JobKind)
    run = started(now)
    spool = open_spool(run)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        spool.write_progress(step(1, "read", 1))
        spool.write_progress(step(2, "read", 5))
        spool.write_progress(replace(step(3, "judge", 2, "tables"), application_id="app-1"))
        run_poll(run, now=now)
        stale = Run.objects.get(pk=run.pk)
        assert (run.phase, run.done, run.total, run.message) == ("judge", 2, 10, "tables")
        assert run.application_id == "app-1"
        run_poll(stale, now=now)
        for n, passing in ((4, "1 row read"), (5, "9 rows read")):
            more = replace(step(n, "judge", n, "tables"), passing=passing)
            spool.write_progress(more)
            run_poll(run, now=now)
        assert (run.done, run.message) == (5, "tables · 9 rows read")
        texts = [line.text for line in run_events(run)]
        assert texts[-2:] == ["read", "judge: tables"]
        assert RunEvent.objects.filter(run=run).count() == len(texts)
        assert run.lease_until is not None


def test_two_pollers_at_once_note_a_step_once(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(JobKind)
    run = started(now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        other = Run.objects.get(pk=run.pk)
        open_spool(run).write_progress(step(1, "read", 1))
        run_poll(run, now=now)
        run_poll(other, now=now)
        assert [line.text for line in run_events(run)].count("read") == 1


def test_the_end_is_taken_in_with_result_and_log(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    kind = noting(JobKind)
    run = started(now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        spool = open_spool(run)
        spool.write_progress(step(1, "write", 10))
        spool.write_manifest(
            {"outcome": "done", "error": None, "result": {"n": 3}, "log": ["last words"]}
        )
        end(launched.pgid)
    late = Run.objects.get(pk=run.pk)
    run_poll(run, now=now)
    assert (run.state, run.phase) == (RunState.SETTLING, "write")
    with pytest.raises(StaleState):
        run_poll(late, now=now)
    assert run_step(run.pk, holder="w") is RunState.DONE
    run.refresh_from_db()
    assert run.result == {"n": 3}
    assert kind.calls == ["settle", "ingest"]
    assert "last words" in [line.text for line in run_events(run)]


def test_a_failed_job_ends_failed_with_its_own_error(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(JobKind)
    run = started(now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        error = {"code": "job.rule", "message": "No such table.", "fields": {}}
        open_spool(run).write_manifest({"outcome": "failed", "error": error, "result": {}})
        end(launched.pgid)
    run_poll(run, now=now)
    assert run_step(run.pk, holder="w") is RunState.FAILED
    run.refresh_from_db()
    assert run.error == error


def test_a_cancel_reaches_the_control_file_and_then_the_process(
    now: datetime, lake: LakeConfig, tmp_path: Path, people: People
) -> None:
    noting(JobKind)
    run = started(now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        run_cancel(run.pk, user=people.owner, now=now)
        run.refresh_from_db()
        run_poll(run, now=now + timedelta(seconds=10))
        assert open_spool(run).read_control() == {"cancel": True, "by": "olga"}
        assert is_alive(launched)
        run_poll(run, now=now + timedelta(seconds=61))
        assert not is_alive(launched)
        assert run.state == RunState.SETTLING
        assert run_step(run.pk, holder="w") is RunState.CANCELLED


def test_a_process_that_stays_after_its_manifest_is_ended(lake: LakeConfig, tmp_path: Path) -> None:
    noting(JobKind)
    now = timezone.now()
    run = started(now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        open_spool(run).write_manifest({"outcome": "done", "error": None, "result": {}})
        run_poll(run, now=now + timedelta(seconds=5))
        assert is_alive(launched)
        run_poll(run, now=now + timedelta(seconds=20))
        assert not is_alive(launched)


def test_an_application_that_hangs_is_ended(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(JobKind)
    run = started(now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        run_poll(run, now=now + timedelta(hours=23))
        assert is_alive(launched)
        run_poll(run, now=now + timedelta(hours=25))
        assert not is_alive(launched)
        assert run.state == RunState.SETTLING


class BrokenKind(JobKind):
    """Breaks whenever it is asked to beat."""

    name = "test.broken"

    def beat(self, run: Run) -> None:
        raise ZeroDivisionError


def test_a_kind_that_breaks_keeps_no_other_run_waiting(lake: LakeConfig, tmp_path: Path) -> None:
    noting(BrokenKind)
    noting(JobKind)
    now = timezone.now()
    sound = started(now)
    broken = submitting(
        run_request("test.broken", lake=LAKE, params={}, requested_by="olga", now=now), now=now
    )
    with (
        application(sound.tag, tmp_path / "a") as one,
        application(broken.tag, tmp_path / "b") as two,
    ):
        running(sound, one, now=now)
        running(broken, two, now=now)
        open_spool(sound).write_progress(step(1, "read", 1))
        supervise(now + timedelta(seconds=1))
        sound.refresh_from_db()
        assert sound.phase == "read"


def test_the_end_is_seen_of_an_application_whose_beat_breaks(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(BrokenKind)
    run = submitting(
        run_request("test.broken", lake=LAKE, params={}, requested_by="olga", now=now), now=now
    )
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        for _ in range(2):
            run_poll(run, now=now)
        assert run.state == RunState.RUNNING
        words = [line.text for line in run_events(run)]
        assert words.count("The portal cannot follow it: ZeroDivisionError: ") == 1
    run_poll(run, now=now)
    assert run.state == RunState.SETTLING


def test_a_spool_that_cannot_be_read_is_said_once(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(JobKind)
    run = started(now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
        (tmp_path / "spool" / str(run.pk) / "1" / "progress-000001.json").write_text("not json")
        before = RunEvent.objects.filter(run=run).count()
        run_poll(run, now=now)
        run_poll(run, now=now)
        assert RunEvent.objects.filter(run=run, level="warning").count() == 1
        assert RunEvent.objects.filter(run=run).count() == before + 1
        assert run.state == RunState.RUNNING
