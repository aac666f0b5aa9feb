"""The first rows of a materialization are for those who may see the rows of its sources."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from pipelines.materialized.domain.messages import Preview, read_request
from pipelines.materialized.services.previews import KEPT, previews_trim
from pipelines.materialized.services.requests import (
    PREVIEWED,
    open_runs_of,
    refresh_request,
    request_of,
)
from pipelines.models import Materialization, MaterializationPreview
from portal.access.lakes import get_lake
from portal.access.models import DatabaseAdministrator, User
from portal.audit.models import AuditEvent
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.pipelines.materialized.test_materialization_pages import client, page
from tests.component.pipelines.materialized.test_materializations import create, edit, took
from tests.support.materialized_lake import MaterializedLake

pytestmark = pytest.mark.django_db
ROWS = Preview(("dt", "n"), (("2026-11-21", "7"), (None, "<1>")))


@pytest.fixture
def row(hive: MaterializedLake, people: People) -> Materialization:
    return create(people.owner)


def api(user: User, row: Materialization, *, post: bool = False) -> Any:
    url = f"/api/v1/pipelines/materializations/{row.pk}/rows/"
    return client(user).post(url) if post else client(user).get(url)


def read(row: Materialization, user: User) -> None:
    """Ask for the rows, and take them in as the program reads them."""
    assert api(user, row, post=True).status_code == 202
    run = open_runs_of(row).get()
    took(row, run, preview=ROWS, version=row.version)
    Run.objects.update(finished_at=timezone.now())
    MaterializationPreview.objects.update(taken_at=timezone.now())


def test_rows_are_read_when_somebody_asks_and_each_look_is_recorded(
    row: Materialization, people: People
) -> None:
    assert api(people.owner, row).status_code == 404
    assert "None were read lately" in page(people.owner, "materialization-rows", row.pk)
    refresh_request(row, is_full=False, by="olga", now=timezone.now())
    first, again = (api(people.owner, row, post=True).json()["id"] for _ in range(2))
    assert first == again, "one waits already"
    run = Run.objects.get(pk=first)
    (order,) = read_request(request_of(run)).orders
    assert order.n_preview == PREVIEWED
    Run.objects.exclude(pk=first).update(finished_at=timezone.now())
    Run.objects.update(finished_at=timezone.now())
    read(row, people.owner)
    shown = page(people.owner, "materialization-rows", row.pk)
    assert "&lt;1&gt;" in shown
    assert "NULL" in shown
    found = api(people.owner, row).json()
    assert (found["columns"], found["rows"]) == (["dt", "n"], [["2026-11-21", "7"], [None, "<1>"]])
    assert AuditEvent.objects.filter(action="materialized.rows_read", actor="olga").count() == 2


def test_rows_are_not_for_those_who_may_see_no_rows(row: Materialization, people: People) -> None:
    read(row, people.owner)
    for user, status in ((people.stranger, 404), (people.operator, 403), (people.admin, 200)):
        assert api(user, row).status_code == status
        page(user, "materialization-rows", row.pk, status=status)
    for user, status in ((people.stranger, 404), (people.operator, 403)):
        assert api(user, row, post=True).status_code == status
        answer = client(user).post(f"/pipelines/materializations/{row.pk}/rows/")
        assert answer.status_code == status
    DatabaseAdministrator.objects.create(lake="main", db="shop", username="otto")
    assert api(people.operator, row).status_code == 200


def test_rows_go_after_a_day_and_with_another_definition(
    row: Materialization, people: People
) -> None:
    read(row, people.owner)
    now = timezone.now()
    assert previews_trim("main", now=now) == 0
    MaterializationPreview.objects.update(taken_at=now - KEPT)
    assert api(people.owner, row).status_code == 404, "they are too old"
    assert previews_trim("main", now=now + timedelta(seconds=1)) == 1
    read(row, people.owner)
    edit(row, people.owner)
    assert not MaterializationPreview.objects.exists()
    run = refresh_request(row, is_full=False, by="olga", now=now)
    took(row, run, preview=ROWS, version=0)
    assert not MaterializationPreview.objects.exists(), "they are of the definition before"


def test_a_lake_that_keeps_no_rows_in_the_portal_has_no_preview(
    row: Materialization, people: People
) -> None:
    read(row, people.owner)
    there = replace(get_lake("main"), check_samples=False)
    Path(settings.LAKEWARDEN_LAKES).write_text(json.dumps({"main": there.as_dict()}))
    for post in (False, True):
        refused = api(people.owner, row, post=post)
        assert (refused.status_code, refused.json()["code"]) == (400, "materialized.preview")
    assert previews_trim("main", now=timezone.now()) == 1
