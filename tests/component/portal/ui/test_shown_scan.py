"""The top bar speaks of the lake's scan and of no other run, and of the picture that pages show."""

from datetime import datetime, timedelta

import pytest
from django.test import Client

from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.lifecycle.scanned import scan

pytestmark = pytest.mark.django_db


def ended(kind: str, state: str, at: datetime) -> Run:
    """Record a run of the scans' queue that has ended."""
    return Run.objects.create(
        lake="main", kind=kind, queue="scan", state=state, requested_by="schedule",
        queued_at=at, finished_at=at,
    )  # fmt: skip


def test_a_good_check_of_tables_does_not_hide_that_the_scan_of_the_lake_failed(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    client = Client()
    client.force_login(people.admin)
    picture = scan(lake, now=now)
    ended("lifecycle.scan", "FAILED", now + timedelta(hours=1))
    ended("optimizer.hudi_observe", "DONE", now + timedelta(hours=2))

    fresh = client.get("/").context["frame"]["fresh"]

    assert fresh.failed
    assert fresh.at == picture.as_of
    assert fresh.url == f"/runs/{picture.run_id}/"


def test_the_top_bar_is_as_old_as_the_picture_below_it(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    client = Client()
    client.force_login(people.owner)
    assert client.get("/").context["frame"]["fresh"].at is None
    picture = scan(lake, now=now)
    Run.objects.filter(pk=picture.run_id).update(finished_at=now + timedelta(minutes=40))
    ended("optimizer.observe", "FAILED", now + timedelta(hours=2))

    page = client.get("/lifecycle/expiring/")

    assert page.context["frame"]["fresh"].at == page.context["generation"].as_of
    assert not page.context["frame"]["fresh"].failed
