"""An application that was started and could not be stored is ended, wherever the worker failed."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from lifecycle.backup.domain.states import FenceKind
from lifecycle.backup.models import ActFence
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.runs.claims.services import run_claim_settling, run_to_settling
from portal.runs.domain import RunState, tag_of
from portal.runs.execution.processes import find_by_tag
from portal.runs.execution.steps import run_step
from portal.runs.models import Run
from portal.runs.requests.selectors import run_events
from portal.runs.requests.services import run_request
from portal.safety.ended import check_ended
from portal.spark.launch import Launched, is_alive
from tests.component.conftest import LAKE
from tests.component.portal.runs.run_kinds import (
    ActingJobKind,
    JobKind,
    application,
    noting,
    submitting,
)

pytestmark = pytest.mark.django_db


def ask(kind: str, *, now: datetime) -> Run:
    return run_request(kind, lake=LAKE, params={}, requested_by="olga", now=now)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("refused", ["the row", "the line in its log"])
def test_a_database_that_fails_when_it_shall_be_stored_ends_the_application(
    now: datetime, lake: LakeConfig, refused: str
) -> None:
    noting(ActingJobKind)
    run = ask("test.acting", now=now)
    launched: list[Launched] = []

    def deadlock(execute: Callable[..., Any], sql: str, params: Any, *rest: Any) -> Any:
        is_row = "UPDATE" in sql and params and RunState.RUNNING in params
        is_line = "runs_runevent" in sql and "INSERT" in sql
        if (is_row if refused == "the row" else is_line) and not launched:
            found = find_by_tag(tag_of(str(run.pk), 1))
            assert found is not None
            launched.append(found)
            raise OperationalError(1213, "Deadlock found when trying to get lock")
        return execute(sql, params, *rest)

    with connection.execute_wrapper(deadlock):
        state = run_step(run.pk, holder="w")
    assert not is_alive(launched[0])
    run.refresh_from_db()
    assert (state, run.epoch) == (RunState.FAILED, 1)
    assert run.error is not None
    assert run.error["code"] == "portal.database"


def test_settling_ends_what_was_started_and_never_stored(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    kind = noting(JobKind)
    run = submitting(ask("test.job", now=now), now=now)
    with application(run.tag, tmp_path / "log") as launched:
        run_to_settling(run, now=now)
        assert run_step(run.pk, holder="w") is RunState.QUEUED
        assert not is_alive(launched)
    assert kind.calls == ["settle", "ingest"]
    assert "Its application, which nobody followed, was ended." in [e.text for e in run_events(run)]


def test_on_another_host_it_is_given_a_minute(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    kind = noting(JobKind)
    run = submitting(ask("test.job", now=now), now=now)
    run_to_settling(run, now=timezone.now())
    Run.objects.filter(pk=run.pk).update(host="elsewhere/1234/5")
    assert run_step(run.pk, holder="w") is RunState.SETTLING
    assert kind.calls == []
    assert run_claim_settling(run.pk, holder="w", now=timezone.now()) is None
    Run.objects.filter(pk=run.pk).update(settling_at=now, lease_until=None)
    assert run_step(run.pk, holder="w") is RunState.QUEUED
    assert kind.calls == ["settle", "ingest"]


def test_nothing_is_settled_beside_an_application_that_was_never_stored(
    now: datetime, lake: LakeConfig, tmp_path: Path
) -> None:
    noting(ActingJobKind)
    run = submitting(ask("test.acting", now=now), now=now)
    fence = ActFence(lake=LAKE, kind=FenceKind.DROP, lease_until=now + timedelta(seconds=60))
    with application(run.tag, tmp_path / "log"), pytest.raises(ExternalFailure) as alive:
        check_ended(run, fence, now=now)
    assert (alive.value.code, alive.value.retryable) == ("act.alive", True)
    check_ended(run, fence, now=now)


def test_the_takeover_of_another_host_waits_for_the_lease_of_its_fence(
    now: datetime, lake: LakeConfig
) -> None:
    """The lease of a fence may be longer than the claim after which a run is taken over."""
    noting(ActingJobKind)
    run = submitting(ask("test.acting", now=now), now=now)
    run.host = "elsewhere/1234/5"
    fence = ActFence(lake=LAKE, kind=FenceKind.DROP, lease_until=now + timedelta(seconds=60))
    with pytest.raises(ExternalFailure):
        check_ended(run, fence, now=now + timedelta(seconds=119))
    check_ended(run, fence, now=now + timedelta(seconds=121))
