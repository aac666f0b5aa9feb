"""Tests the list of jobs: its tabs and their counts, what is left out, durations and subjects."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from portal.access.models import User
from portal.runs.domain import RunState
from portal.runs.models import Run
from tests.component.conftest import LAKE, NOW, People

pytestmark = pytest.mark.usefixtures("lake")
ROUTINE, RARE = "readiness.look", "lifecycle.purge"


def run(kind: str = RARE, state: RunState = RunState.DONE, **fields: Any) -> Run:
    values = {"lake": LAKE, "requested_by": "schedule", "queued_at": NOW, **fields}
    values["is_routine"] = kind == ROUTINE and state is not RunState.FAILED
    return Run.objects.create(kind=kind, state=state, **values)


def page(user: User, query: str = "") -> str:
    client = Client()
    client.force_login(user)
    answer = client.get(reverse("ui:runs") + query)
    assert answer.status_code == 200
    return answer.content.decode()


def shown(text: str, *runs: Run) -> list[bool]:
    return [str(one.pk) in text for one in runs]


def test_routine_checks_that_ended_well_are_left_out_until_they_are_asked_for(
    people: People,
) -> None:
    scan, check, failed = run(), run(ROUTINE), run(ROUTINE, RunState.FAILED)
    text = page(people.operator)
    assert shown(text, scan, check, failed) == [True, False, True]
    assert "Show 1 routine" in text
    assert shown(page(people.operator, "?routine=yes"), scan, check, failed) == [True] * 3
    assert shown(page(people.operator, f"?kind={ROUTINE}"), scan, check, failed) == [
        False, True, True,
    ]  # fmt: skip
    client = Client()
    client.force_login(people.operator)
    every = client.get(reverse("ui:api-runs")).json()["results"]
    assert len(every) == 3, "the API gives what it gave"
    some = client.get(reverse("ui:api-runs") + "?routine=no").json()["results"]
    assert {one["id"] for one in some} == {str(scan.pk), str(failed.pk)}


def test_tabs_have_what_has_not_ended_and_what_failed(people: People) -> None:
    waits, runs = run(state=RunState.QUEUED), run(state=RunState.RUNNING)
    failed, done = run(state=RunState.FAILED), run()
    text = page(people.operator)
    assert re.findall(r">Failed <span class=\"lw-tab-count\">(\d+)", text) == ["1"]
    every = (waits, runs, failed, done)
    assert shown(page(people.operator, "?state=UNFINISHED"), *every) == [True, True, False, False]
    assert shown(page(people.operator, "?state=FAILED"), *every) == [False, False, True, False]
    assert "lw-tab-count" in page(people.owner), "of their own runs: none"
    assert shown(page(people.owner), *every) == [False] * 4


def test_a_row_has_the_duration_and_the_object(people: People) -> None:
    run(
        submitted_at=NOW,
        finished_at=NOW + timedelta(minutes=7),
        subject_type="table",
        subject_id="sales.orders",
    )
    text = page(people.operator)
    assert "7 min" in text
    assert re.search(r'<a href="[^"]*/tables/sales/orders/[^"]*">sales.orders</a>', text)
    client = Client()
    client.force_login(people.operator)
    (row,) = client.get(reverse("ui:api-runs")).json()["results"]
    assert row["seconds"] == 420


def test_more_rows_cost_no_more_queries(people: People) -> None:
    client = Client()
    client.force_login(people.operator)

    def cost() -> int:
        with CaptureQueriesContext(connection) as caught:
            client.get(reverse("ui:runs"))
        return len(caught)

    restore = run("lifecycle.restore", subject_type="restore_preview", subject_id="1")
    kinds: dict[str, Any] = {"subject_type": "restore", "subject_id": str(restore.pk)}
    run("lifecycle.restore_undo", **kinds)
    cost()
    few = cost()
    for _ in range(10):
        run("lifecycle.restore_undo", **kinds)
    assert cost() == few <= 16
