"""Workers, hosts and messages that die: what the watchdog does about each, with real processes."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import StaleState
from portal.runs.claims.services import run_claim, run_claim_settling, run_move, run_renew
from portal.runs.domain import RunState
from portal.runs.execution.launching import run_execute
from portal.runs.execution.steps import run_step
from portal.runs.execution.takeover import watch
from portal.runs.models import Outbox, Run
from portal.runs.requests.services import run_cancel, run_request
from portal.spark.launch import is_alive
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

pytestmark = pytest.mark.django_db
LATER = timedelta(seconds=31)


def ask(now: datetime, kind: str = "test.noting") -> Run:
    return run_request(kind, lake=LAKE, params={}, requested_by="olga", now=now)


def published(now: datetime) -> None:
    """As if the relay had sent everything and the broker had lost it."""
    Outbox.objects.filter(published_at=None).update(published_at=now)


def test_a_dead_claim_goes_back_to_the_queue_and_a_live_one_does_not(now: datetime) -> None:
    noting()
    run = run_claim(ask(now).pk, holder="w", now=now)
    assert run is not None
    assert watch(now=now + timedelta(seconds=29)) == 0
    assert run_renew(run, holder="w", now=now + timedelta(seconds=20))
    assert watch(now=now + LATER) == 0
    assert watch(now=now + 2 * LATER) == 1
    run.refresh_from_db()
    assert (run.state, run.epoch) == (RunState.QUEUED, 1)
    assert Outbox.objects.filter(row_id=str(run.pk)).count() == 2


def test_the_worker_that_was_thought_dead_cannot_go_on(now: datetime) -> None:
    noting()
    slow = run_claim(ask(now).pk, holder="slow", now=now)
    assert slow is not None
    watch(now=now + LATER)
    fast = run_claim(slow.pk, holder="fast", now=now + LATER)
    assert fast is not None
    assert fast.epoch == 2
    assert not run_renew(slow, holder="slow", now=now + LATER)
    with pytest.raises(StaleState):
        run_move(slow, RunState.SUBMITTING)


def test_a_run_that_kills_its_workers_ends(now: datetime) -> None:
    noting()
    run = ask(now)
    moment = now
    for _ in range(3):
        assert run_claim(run.pk, holder="w", now=moment) is not None
        moment += LATER
        watch(now=moment)
    assert run_step(run.pk, holder="w") is RunState.FAILED
    run.refresh_from_db()
    assert run.error is not None
    assert run.error["code"] == "run.worker_died"


def test_a_cancelled_run_whose_worker_died_is_not_begun_anew(now: datetime, people: People) -> None:
    kind = noting()
    run = run_claim(ask(now).pk, holder="w", now=now)
    assert run is not None
    run_cancel(run.pk, user=people.owner, now=now)
    assert watch(now=now + LATER) == 1
    assert run_step(run.pk, holder="next") is RunState.CANCELLED
    assert kind.manifests[0]["outcome"] == "cancelled"
    assert "execute" not in kind.calls


def test_an_application_whose_worker_died_is_found_again(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(ActingJobKind)
    run = submitting(ask(now, "test.acting"), now=now)
    with application(run.tag, tmp_path / "log") as launched:
        assert watch(now=now + LATER) == 1
        run.refresh_from_db()
        assert (run.state, run.epoch, run.pgid) == (RunState.RUNNING, 1, launched.pgid)
        assert run.pid_started == launched.pid_started
        assert is_alive(launched)


def test_a_submit_that_never_happened_is_settled_and_begun_anew(
    now: datetime, lake: LakeConfig
) -> None:
    kind = noting(ActingJobKind)
    run = submitting(ask(now, "test.acting"), now=now)
    watch(now=now + LATER)
    run.refresh_from_db()
    assert run.state == RunState.SETTLING
    assert run_step(run.pk, holder="w") is RunState.QUEUED
    assert kind.calls == ["settle", "ingest"]
    assert kind.manifests[0]["outcome"] == "died"


def test_a_host_that_is_gone_gets_its_lease_and_a_minute(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(JobKind)
    run = submitting(ask(now, "test.job"), now=now)
    with application(run.tag, tmp_path / "log") as launched:
        running(run, launched, now=now)
    Run.objects.filter(pk=run.pk).update(host="elsewhere")
    assert watch(now=now + timedelta(seconds=119)) == 0
    assert watch(now=now + timedelta(seconds=121)) == 1
    run.refresh_from_db()
    assert run.state == RunState.SETTLING


def test_a_submit_on_another_host_is_left_for_lease_and_a_minute(
    now: datetime, lake: LakeConfig
) -> None:
    noting(JobKind)
    run = submitting(ask(now, "test.job"), now=now)
    Run.objects.filter(pk=run.pk).update(host="elsewhere")
    assert watch(now=now + timedelta(seconds=89)) == 0
    assert watch(now=now + timedelta(seconds=91)) == 1


def test_a_settler_that_died_is_followed_by_the_next_one(now: datetime, lake: LakeConfig) -> None:
    kind = noting(JobKind)
    run = submitting(ask(now, "test.job"), now=now)
    watch(now=now + LATER)
    assert run_claim_settling(run.pk, holder="dead", now=now) is not None
    assert run_claim_settling(run.pk, holder="other", now=now + timedelta(seconds=29)) is None
    published(now)
    watch(now=now + 3 * LATER)
    assert Outbox.objects.filter(row_id=str(run.pk), published_at=None).count() == 1
    assert run_claim_settling(run.pk, holder="next", now=now + LATER) is not None
    assert kind.calls == []


def test_a_lost_message_is_said_again_ever_more_slowly(now: datetime) -> None:
    noting()
    run = ask(now)
    published(now)
    moment = now
    for seconds, n_messages in [(29, 1), (31, 2), (60, 2), (92, 3)]:
        moment = now + timedelta(seconds=seconds)
        watch(now=moment)
        published(moment)
        assert Outbox.objects.filter(row_id=str(run.pk)).count() == n_messages


def test_a_message_delivered_twice_is_worked_on_once(now: datetime) -> None:
    kind = noting()
    run = ask(now)
    for _ in range(3):
        run_step(run.pk, holder="w")
    assert kind.calls == ["execute", "settle", "ingest"]


def test_a_dead_application_without_a_result_is_tried_again_then_fails(
    lake: LakeConfig, tmp_path: Path
) -> None:
    from portal.runs.execution.polling import run_poll

    kind = noting(JobKind)
    run = ask(timezone.now(), "test.job")
    for epoch in (1, 2):
        run = submitting(run, now=timezone.now())
        with application(run.tag, tmp_path / "log") as launched:
            running(run, launched, now=timezone.now())
            run_poll(run, now=timezone.now())
            assert run.state == RunState.RUNNING
            end(launched.pgid)
        run.refresh_from_db()
        run_poll(run, now=timezone.now())
        assert (run.state, run.epoch) == (RunState.SETTLING, epoch)
        # Settled only, not begun again: the second half of the step would submit a real job.
        from portal.runs.execution.settling import run_settle
        from portal.runs.kinds.registry import get_kind

        settling = run_claim_settling(run.pk, holder="w", now=timezone.now())
        assert settling is not None
        run_settle(settling, get_kind("test.job"), holder="w")
        run.refresh_from_db()
    assert run.state == RunState.FAILED
    assert run.error is not None
    assert run.error["code"] == "run.died"
    assert kind.calls == ["settle", "ingest"] * 2


def test_a_worker_that_died_before_settling_its_own_work_is_followed(now: datetime) -> None:
    kind = noting()
    run = run_claim(ask(now).pk, holder="w", now=now)
    assert run is not None
    published(now)
    run_execute(run, kind, holder="w")
    assert not Outbox.objects.filter(row_id=str(run.pk), published_at=None).exists()
    watch(now=now + LATER)
    assert Outbox.objects.filter(row_id=str(run.pk), published_at=None).count() == 1
    assert run_step(run.pk, holder="other") is RunState.DONE
    assert kind.calls == ["execute", "settle", "ingest"]
