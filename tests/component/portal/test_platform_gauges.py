"""Tests the platform's gauges: what alert rules stand on, in a fixed number of queries."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.approvals.models import Approval
from portal.connectors.lake_config import LakeConfig
from portal.events.models import EventPosition
from portal.metrics import gauges
from portal.platform_gauges import platform_gauges
from portal.runs.models import Outbox, Run
from tests.component.conftest import LAKE

pytestmark = pytest.mark.django_db


def line(start: str) -> float:
    """Return the number of the one line of /metrics that begins so."""
    text = Client().get("/metrics").content.decode()
    (found,) = [line for line in text.splitlines() if line.startswith(start)]
    return float(found.rpartition(" ")[2])


def ended(minutes: float, **fields: Any) -> Run:
    now = timezone.now()
    return Run.objects.create(
        lake=LAKE,
        kind="test.kind",
        requested_by="x",
        finished_at=now - timedelta(minutes=minutes),
        queued_at=now - timedelta(minutes=minutes + 10),
        **{"state": "DONE", "claimed_at": now - timedelta(minutes=minutes + 5), **fields},
    )


@pytest.mark.usefixtures("lake")
def test_runs_of_the_last_hour_are_told_by_state_code_and_length() -> None:
    ended(10)
    ended(20, claimed_at=timezone.now() - timedelta(minutes=28))
    ended(90)
    ended(5, state="FAILED", error={"code": "metastore.down", "message": "m", "fields": {}})
    ended(5, state="FAILED", error=None)
    labels = 'lake="main",kind="test.kind"'
    assert line(f'lakewarden_runs_ended_last_hour{{{labels},state="DONE"}}') == 2
    assert line(f'lakewarden_runs_ended_last_hour{{{labels},state="FAILED"}}') == 2
    failed = f"lakewarden_runs_failed_last_hour{{{labels}"
    assert line(f'{failed},code="metastore.down"}}') == 1
    assert line(f'{failed},code="none"}}') == 1
    assert line(f"lakewarden_run_longest_seconds_last_hour{{{labels}}}") == pytest.approx(
        480, abs=5
    )


@pytest.mark.usefixtures("lake")
def test_ages_are_of_what_waits_longest() -> None:
    now = timezone.now()
    assert line("lakewarden_outbox_oldest_seconds ") == 0
    for minutes, published in ((7, None), (3, None), (60, now)):
        at = now - timedelta(minutes=minutes)
        Outbox.objects.create(
            topic="run", row_id="1", queue="q", created_at=at, not_before=at, published_at=published
        )
    later = now + timedelta(hours=1)
    Outbox.objects.create(topic="run", row_id="1", queue="q", created_at=now, not_before=later)
    assert line("lakewarden_outbox_oldest_seconds ") == pytest.approx(420, abs=60)
    for hours, state in ((5, "PENDING"), (2, "PENDING"), (90, "APPROVED")):
        Approval.objects.create(
            lake=LAKE,
            kind="plan",
            object_id=str(hours),
            digest="d",
            state=state,
            created_at=now - timedelta(hours=hours),
            expires_at=later,
        )
    oldest = line('lakewarden_approvals_oldest_seconds{lake="main",kind="plan"}')
    assert oldest == pytest.approx(5 * 3600, abs=60)
    place(LAKE, timedelta(minutes=9))
    age = line('lakewarden_events_checked_age_seconds{lake="main"}')
    assert age == pytest.approx(540, abs=60)


def place(lake: str, age: timedelta) -> None:
    at = timezone.now() - age
    EventPosition.objects.create(
        lake=lake, first_id=1, position=1, fence=1, newest_id=4, moved_at=at, checked_at=at
    )


def test_more_lakes_cost_no_more_queries(lake: LakeConfig, settings: Any) -> None:
    def read() -> tuple[int, int]:
        with CaptureQueriesContext(connection) as caught:
            n_samples = sum(len(list(gauge.samples())) for gauge in platform_gauges())
        return len(caught), n_samples

    place(LAKE, timedelta())
    few, n_few = read()
    names = [LAKE, "second", "third"]
    told = {name: {**lake.as_dict(), "lake": name} for name in names}
    settings.LAKEWARDEN_LAKES.write_text(json.dumps(told), encoding="utf-8")
    for name in names[1:]:
        place(name, timedelta())
    many, n_many = read()
    assert n_many > n_few
    assert many == few < 25


@pytest.mark.usefixtures("lake")
def test_names_of_gauges_are_given_once() -> None:
    found = [gauge.name for gauge in gauges()]
    assert len(found) == len(set(found))
