"""Asking for a run, claiming it, cancelling it."""

import sqlite3
import threading
import time
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import NotAllowed, NotVisible, StaleState
from portal.runs.claims.services import beating, run_claim
from portal.runs.domain import RunState
from portal.runs.models import Outbox, Run
from portal.runs.requests.services import run_cancel, run_drive, run_request
from portal.ui.selectors import get_run_for_user, runs_for_user
from tests.component.conftest import LAKE, People
from tests.component.portal.runs.run_kinds import JobKind, noting, submitting
from tests.component.refresh.lost_line import LostLine

pytestmark = pytest.mark.django_db


def ask(
    now: datetime, *, kind: str = "test.noting", by: str = "olga", key: str | None = None
) -> Run:
    return run_request(kind, lake=LAKE, params={"a": 1}, requested_by=by, unique_key=key, now=now)


def test_a_run_and_its_message_are_written_together(now: datetime) -> None:
    noting()
    run = ask(now)
    assert (run.state, run.params) == (RunState.QUEUED, {"a": 1})
    assert Outbox.objects.get().row_id == str(run.pk)
    assert AuditEvent.objects.get(action="run.requested").object_id == str(run.pk)


def test_a_used_unique_key_gives_the_run_that_is_there(now: datetime) -> None:
    noting()
    assert ask(now, key="daily").pk == ask(now, key="daily").pk
    assert ask(now, key="other").pk != ask(now, key="daily").pk
    assert Outbox.objects.count() == 2


def test_an_unknown_kind_is_refused(now: datetime) -> None:
    with pytest.raises(NotVisible):
        ask(now, kind="test.unknown")


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_claims(now: datetime) -> None:
    noting()
    run = ask(now)
    won: list[str] = []
    barrier = threading.Barrier(8)

    def claim(name: str) -> None:
        barrier.wait()
        if run_claim(run.pk, holder=name, now=now) is not None:
            won.append(name)
        connection.close()

    threads = [threading.Thread(target=claim, args=(f"w{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run.refresh_from_db()
    assert won == [run.lease_owner]
    assert run.epoch == 1


@pytest.mark.django_db(transaction=True)
def test_a_claim_is_kept_alive_over_a_database_that_restarted(now: datetime, settings: Any) -> None:
    noting()
    run = run_claim(ask(now).pk, holder="w1", now=now)
    assert run is not None
    settings.LAKEWARDEN_BEAT_SECONDS = 0.05
    lost: list[LostLine] = []

    def lose(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
        if threading.current_thread().name == f"beat-{run.pk}" and not lost:
            lost.append(LostLine(sqlite3.OperationalError(2013, "Lost connection")))
            connection.connection.close()
            connection.connection = lost[0]

    connection_created.connect(lose)
    try:
        with beating(run, holder="w1"):
            deadline = time.monotonic() + 120
            while Run.objects.get().lease_until == run.lease_until:
                assert time.monotonic() < deadline, "nobody renewed it"
                time.sleep(0.05)
    finally:
        connection_created.disconnect(lose)
    assert lost


def test_a_queued_run_is_cancelled_at_once(now: datetime, people: People) -> None:
    kind = noting()
    run = run_cancel(ask(now).pk, user=people.owner, now=now)
    assert run.state == RunState.CANCELLED
    assert not Outbox.objects.exists()
    assert run_drive(run.pk).state == RunState.CANCELLED
    assert kind.calls == []


def test_a_worker_keeps_a_claimed_run_and_reads_the_wish(
    now: datetime, people: People, lake: LakeConfig
) -> None:
    noting(JobKind)
    run = submitting(ask(now, kind="test.job"), now=now)
    asked = run_cancel(run.pk, user=people.operator, now=now)
    again = run_cancel(run.pk, user=people.admin, now=now + timedelta(seconds=1))
    assert asked.state == RunState.SUBMITTING
    assert again.cancel_requested_by == "otto"


def test_who_may_see_and_cancel_a_run(now: datetime, people: People) -> None:
    noting()
    run = ask(now)
    for person in (people.owner, people.admin, people.operator):
        assert get_run_for_user(run.pk, user=person).pk == run.pk
        assert runs_for_user(person, LAKE).count() == 1
    assert not runs_for_user(people.stranger, LAKE).exists()
    with pytest.raises(NotVisible):
        get_run_for_user(run.pk, user=people.stranger)
    with pytest.raises(NotAllowed):
        run_cancel(run.pk, user=people.stranger, now=now)


def test_a_run_that_ended_cannot_be_cancelled(now: datetime, people: People) -> None:
    noting()
    run = run_drive(ask(now).pk)
    with pytest.raises(StaleState):
        run_cancel(run.pk, user=people.admin, now=now)
