"""Tests cancelled tasks: those that wait, and those that a run has."""

from datetime import datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.core.domain.tasks import LEAVE_OUT, TaskKind, TaskState
from optimizer.core.services.actions import task_cancel
from optimizer.core.services.results import reclaim, results_ingest
from optimizer.iceberg.planner.run_kinds import OptimizeKind
from optimizer.iceberg.planner.services.maintainer import ICEBERG
from optimizer.models import IcebergTable, OptimizeTask
from portal.access.models import User
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from portal.spark.spool import Spool
from tests.component.conftest import People
from tests.component.optimizer.iceberg.planner.test_optimizer_queue import outcome
from tests.component.optimizer.optimizer_rows import iceberg, task
from tests.component.portal.ui.table_rows import listed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
TASKS, API = "/optimizer/tasks/", "/api/v1/optimizer/tasks/"
WHY = {"reason": "before the audit"}
NOTHING_SAID: dict[str, Any] = {"outcome": "done", "error": None, "result": {"results": []}}


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def row(now: datetime) -> IcebergTable:
    """A table of olga's."""
    listed("clicks", format="iceberg")
    return iceberg(now=now)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def told(user: User, task_id: int) -> Any:
    """Cancel over the API."""
    return client_of(user).post(f"{API}{task_id}/cancel/", WHY, content_type="application/json")


def sent(row: IcebergTable, *, now: datetime, **values: Any) -> tuple[OptimizeTask, Run]:
    """Return a task that a run has."""
    run = Run.objects.create(lake="main", kind="optimize", requested_by="test", queued_at=now)
    return task(row, now=now, state=TaskState.SENT, run=run.pk, **values), run


def test_an_owner_takes_a_waiting_task_back(
    people: People, row: IcebergTable, now: datetime
) -> None:
    waits = task(row, now=now, state=TaskState.HELD, waits_for="Blackout window.")
    client = client_of(people.owner)
    address = f"{TASKS}{waits.pk}/cancel/"
    for page in ("/optimizer/queue/", f"/optimizer/tables/{row.pk}/"):
        assert address in client.get(page, follow=True).content.decode(), page
    assert "removed from the queue and nothing is written" in client.get(address).content.decode()
    refused = client.post(address, {"reason": " "})
    assert refused.status_code == 400
    assert "Enter a reason" in refused.content.decode()
    answer: Any = client.post(address, WHY, follow=True)
    text = answer.content.decode()
    for words in ("It was removed from the queue", "Cancelled", "olga: before the audit"):
        assert words in text, words
    waits.refresh_from_db()
    assert (waits.state, waits.is_open, waits.outcome_code) == ("CANCELLED", None, "task.cancelled")
    event = AuditEvent.objects.latest("seq")
    assert (event.action, event.actor, event.data["was"]) == (
        "optimizer.cancelled",
        "olga",
        "waiting",
    )
    assert client.post(address, WHY).status_code == 409
    assert "nothing left to cancel" in client.get(address).content.decode()


def test_a_run_is_told_to_leave_one_task_and_goes_on_with_the_others(
    people: People, row: IcebergTable, lake: LakeConfig, now: datetime
) -> None:
    stops, run = sent(row, now=now)
    goes_on = task(iceberg("other", now=now), now=now, state=TaskState.SENT, run=run.pk)
    spool = Spool.for_run(lake, str(run.pk), 1)
    spool.create()
    Run.objects.filter(pk=run.pk).update(spool=str(spool.root))
    run.refresh_from_db()
    OptimizeKind().beat(run)
    assert spool.read_control() == {}
    answer: Any = client_of(people.operator).post(f"{TASKS}{stops.pk}/cancel/", WHY, follow=True)
    for words in ("asked to stop the task", "stop requested by otto: before the audit"):
        assert words in answer.content.decode(), words
    assert "is being stopped" in client_of(people.admin).get("/optimizer/queue/").content.decode()
    OptimizeKind().beat(run)
    assert spool.read_control() == {LEAVE_OUT: [stops.pk]}
    Run.objects.filter(pk=run.pk).update(cancel_requested_by="ada")
    run.refresh_from_db()
    OptimizeKind().beat(run)
    assert spool.read_control()["cancel"] is True
    Run.objects.filter(pk=run.pk).update(cancel_requested_by="")
    run.refresh_from_db()

    results_ingest(ICEBERG, run, outcome(goes_on), now=now)
    stops.refresh_from_db()
    goes_on.refresh_from_db()
    assert goes_on.state == TaskState.DONE
    assert (stops.state, stops.is_open, stops.ended_at) == (TaskState.CANCELLED, None, now)
    assert stops.outcome == "otto: before the audit"


def test_what_was_committed_before_it_stopped_is_told(
    people: People, row: IcebergTable, now: datetime
) -> None:
    stops, run = sent(row, now=now)
    task_cancel(stops, user=people.owner, reason="enough", now=now)
    said = outcome(stops, "DONE", outcome="PARTIAL", code="task.cancelled", reason="It was left.")
    results_ingest(ICEBERG, run, said, now=now)
    stops.refresh_from_db()
    assert (stops.state, stops.outcome) == (TaskState.PARTIAL, "It was left.")
    assert stops.commits


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_cancelled_task_never_comes_back_from_a_run_that_died(
    people: People, row: IcebergTable, now: datetime, is_lost: bool
) -> None:
    stops, run = sent(row, now=now)
    task_cancel(stops, user=people.owner, reason="enough", now=now)
    if is_lost:
        Run.objects.update(finished_at=now)
        assert reclaim(ICEBERG, "main", now=now) == 1
    else:
        results_ingest(ICEBERG, run, NOTHING_SAID, now=now)
    stops.refresh_from_db()
    assert (stops.state, stops.is_open) == (TaskState.CANCELLED, None)
    assert IcebergTable.objects.get().inspect_due_at == now


def test_programs_cancel_and_strangers_do_not(
    people: People, row: IcebergTable, now: datetime
) -> None:
    waits = task(row, now=now)
    runs, _ = sent(row, now=now, kind=TaskKind.FULL)
    for one in (waits, runs):
        assert told(people.stranger, one.pk).status_code == 404
        assert client_of(people.stranger).get(f"{TASKS}{one.pk}/cancel/").status_code == 404
    assert OptimizeTask.objects.filter(is_open=True, outcome_code="").count() == 2
    assert told(people.admin, waits.pk).json()["state"] == "CANCELLED"
    found = told(people.owner, runs.pk).json()
    assert (found["state"], found["is_stopping"]) == ("SENT", True)
    assert told(people.owner, runs.pk).status_code == 409
    empty = client_of(people.owner).post(f"{API}{runs.pk}/cancel/", {}, "application/json")
    assert empty.status_code == 400
