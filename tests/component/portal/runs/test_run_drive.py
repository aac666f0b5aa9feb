"""A run done in the worker: its steps, its errors, what is tried again and what is not."""

from datetime import datetime

import pytest
from django.db import OperationalError

from portal.audit.models import AuditEvent
from portal.lake.errors import DataSafetyError, ExternalFailure, PortalError, RuleViolation
from portal.runs.domain import RunState
from portal.runs.execution.settling import MAX_SETTLES
from portal.runs.execution.steps import run_step
from portal.runs.kinds import hooks
from portal.runs.models import Outbox, Run
from portal.runs.requests.selectors import run_events
from portal.runs.requests.services import run_drive, run_request
from tests.component.conftest import LAKE
from tests.component.portal.runs.run_kinds import NotingKind, noting

pytestmark = pytest.mark.django_db


@pytest.fixture
def pressed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The reasons for which everything was stopped."""
    reasons: list[str] = []
    monkeypatch.setattr(hooks, "_hooks", [])

    def press(lake: str, *, run_id: str, reason: str, now: datetime) -> None:
        reasons.append(f"{lake}: {reason}")

    hooks.register_safety_hook(press)
    return reasons


def ask(now: datetime, kind: str = "test.noting") -> Run:
    return run_request(kind, lake=LAKE, params={}, requested_by="olga", now=now)


def test_a_run_goes_through_its_steps_once(now: datetime) -> None:
    kind = noting()
    run = run_drive(ask(now).pk)
    assert (run.state, run.result, run.error) == (RunState.DONE, {"answer": 42}, None)
    assert kind.calls == ["execute", "settle", "ingest"]
    assert kind.manifests[0]["outcome"] == "done"
    assert not Outbox.objects.filter(published_at=None).exists()
    assert AuditEvent.objects.filter(action="run.done").count() == 1
    assert run_drive(run.pk).state == RunState.DONE
    assert run_step(run.pk, holder="late") is RunState.DONE
    assert kind.calls == ["execute", "settle", "ingest"]


def test_an_expected_error_ends_the_run_and_is_kept(now: datetime) -> None:
    kind = noting(fail_in={"execute": RuleViolation("test.rule", "Ask differently.", table="t")})
    run = run_drive(ask(now).pk)
    assert run.state == RunState.FAILED
    assert run.error is not None
    assert (run.error["code"], run.error["fields"]) == ("test.rule", {"table": "t"})
    assert run.message == "Ask differently."
    assert kind.calls == ["execute", "settle", "ingest"]
    assert kind.manifests[0]["outcome"] == "failed"


def test_an_unexpected_error_shows_no_traceback(now: datetime) -> None:
    noting(fail_in={"execute": ZeroDivisionError("secret")})
    run = run_drive(ask(now).pk)
    assert run.error is not None
    assert run.error["code"] == "run.unexpected"
    assert "secret" not in str(run.error)


def test_an_outside_failure_is_tried_again_and_then_given_up(now: datetime) -> None:
    gone = ExternalFailure("x.gone", "It is gone.", service="x", retryable=True)
    kind = noting(fail_in={"execute": gone})
    run = run_drive(ask(now).pk)
    assert (run.state, run.epoch) == (RunState.FAILED, 2)
    assert kind.calls.count("execute") == 2


def test_work_that_the_database_broke_off_is_begun_anew(now: datetime) -> None:
    deadlock = OperationalError(1213, "Deadlock found when trying to get lock")
    kind = noting(fail_in={"execute": deadlock})
    run = ask(now)
    run_step(run.pk, holder="worker")
    run.refresh_from_db()
    assert (run.state, run.epoch) == ("QUEUED", 1)
    assert "The portal's database" in run.message
    kind.fail_in = {}
    assert run_drive(run.pk).state == "DONE"
    said = [line.text for line in run_events(run)]
    assert any(text.startswith("Trying again: The portal's database") for text in said)


@pytest.mark.parametrize("step", ["execute", "settle", "ingest"])
def test_danger_to_data_stops_everything_and_is_never_retried(
    now: datetime, pressed: list[str], step: str
) -> None:
    kind = noting(fail_in={step: DataSafetyError("act.short", "A file is missing.")})
    run = run_drive(ask(now).pk)
    assert (run.state, run.epoch) == (RunState.FAILED, 1)
    assert pressed == ["main: A file is missing."]
    assert kind.calls.count(step) == 1


class ActingNotes(NotingKind):
    """Acts, without an application."""

    name = "test.acting-notes"
    acting = True


REFUSED = ExternalFailure("x.refused", "The key is wrong.", service="x", retryable=False)


@pytest.mark.parametrize(
    "error", [RuleViolation("a", "Settle refused."), ZeroDivisionError("settle broke"), REFUSED]
)
def test_an_acting_run_that_cannot_be_settled_stops_everything(
    now: datetime, pressed: list[str], error: PortalError | Exception
) -> None:
    noting(ActingNotes, fail_in={"settle": error})
    run = ask(now, "test.acting-notes")
    while not run.is_final:
        run_step(run.pk, holder="w")
        Run.objects.filter(pk=run.pk).update(lease_until=None)
        run.refresh_from_db()
        assert run.n_settles <= MAX_SETTLES
    assert run.state == RunState.FAILED
    assert len(pressed) == 1


def test_settling_waits_for_an_outside_system(now: datetime) -> None:
    gone = ExternalFailure("x.gone", "It is gone.", service="x", retryable=True)
    kind = noting(ActingNotes, fail_in={"settle": gone})
    run = ask(now, "test.acting-notes")
    for _ in range(MAX_SETTLES + 2):
        run_step(run.pk, holder="w")
        Run.objects.filter(pk=run.pk).update(lease_until=None)
    run.refresh_from_db()
    assert run.state == RunState.SETTLING
    kind.fail_in.clear()
    assert run_step(run.pk, holder="w") is RunState.DONE


def test_an_acting_run_is_settled_once_a_wrong_key_was_mended(
    now: datetime, pressed: list[str]
) -> None:
    kind = noting(ActingNotes, fail_in={"settle": REFUSED})
    run = ask(now, "test.acting-notes")
    for _ in range(3):
        assert run_step(run.pk, holder="w") is RunState.SETTLING
        Run.objects.filter(pk=run.pk).update(lease_until=None)
    kind.fail_in.clear()
    assert run_step(run.pk, holder="w") is RunState.DONE
    assert pressed == []


def test_what_cannot_be_taken_in_of_a_settled_run_stops_nothing(
    now: datetime, pressed: list[str]
) -> None:
    noting(ActingNotes, fail_in={"ingest": REFUSED})
    run = ask(now, "test.acting-notes")
    while not run.is_final:
        run_step(run.pk, holder="w")
        Run.objects.filter(pk=run.pk).update(lease_until=None)
        run.refresh_from_db()
    assert (run.state, pressed) == (RunState.FAILED, [])
