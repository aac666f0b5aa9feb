"""Tests runs: who sees which, and who may stop one, on the page and by the API."""

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from portal.access.models import User
from portal.audit.models import AuditEvent
from portal.runs.domain import RunState
from portal.runs.models import Run, RunEvent
from tests.component.conftest import LAKE, NOW, People

pytestmark = pytest.mark.usefixtures("lake")


def make_run(by: User, **fields: Any) -> Run:
    values = {"lake": LAKE, "kind": "test.kind", "queued_at": NOW, **fields}
    run = Run.objects.create(requested_by=by.username, **values)
    RunEvent.objects.create(run=run, seq=1, at=NOW, level="info", text="<b>one</b>")
    return run


def signed_in(user: User, **options: Any) -> Client:
    client = Client(**options)
    client.force_login(user)
    return client


def test_owners_see_their_own_runs_and_admins_all(people: People) -> None:
    mine, other = make_run(people.owner), make_run(people.stranger)
    for who, sees in ((people.owner, {mine.pk}), (people.operator, {mine.pk, other.pk})):
        client = signed_in(who)
        page = client.get(reverse("ui:runs")).content.decode()
        assert {run.pk for run in (mine, other) if str(run.pk) in page} == sees
        rows = client.get(reverse("ui:api-runs")).json()["results"]
        assert {uuid.UUID(row["id"]) for row in rows} == sees
        export = b"".join(client.get(reverse("ui:runs") + "?format=csv")).decode()
        assert {run.pk for run in (mine, other) if str(run.pk) in export} == sees


def test_the_log_stands_in_the_order_in_which_it_was_said(people: People) -> None:
    run = make_run(people.owner)
    # The line of the job is written down after the portal's second one, and was said before it.
    for seq, minute, text in ((2, 9, "last"), (3, 4, "of the job"), (4, 4, "of the job, too")):
        at = NOW + timedelta(minutes=minute)
        RunEvent.objects.create(run=run, seq=seq, at=at, level="info", text=text)
    client = signed_in(people.owner)
    said = ["<b>one</b>", "of the job", "of the job, too", "last"]
    page = client.get(reverse("ui:run", args=[run.pk]))
    assert [one.text for one in page.context["lines"]] == said
    told = client.get(reverse("ui:api-run", args=[run.pk])).json()["lines"]
    assert [one["text"] for one in told] == said


@pytest.mark.parametrize("name", ["ui:run", "ui:run-progress", "ui:api-run"])
def test_a_run_of_somebody_else_is_not_there(people: People, name: str) -> None:
    run = make_run(people.owner)
    address = reverse(name, args=[run.pk])
    assert signed_in(people.owner).get(address).status_code == 200
    assert signed_in(people.admin).get(address).status_code == 200
    refused = signed_in(people.stranger).get(address)
    missing = signed_in(people.stranger).get(reverse(name, args=[uuid.uuid4()]))
    assert (refused.status_code, missing.status_code) == (404, 404)


def test_the_log_is_shown_escaped(people: People) -> None:
    run = make_run(people.owner, reason="<script>x</script>")
    page = signed_in(people.owner).get(reverse("ui:run", args=[run.pk])).content.decode()
    assert "&lt;b&gt;one&lt;/b&gt;" in page
    assert "<script>x" not in page


def test_progress_polls_while_the_run_lives_and_then_reloads(people: People) -> None:
    run = make_run(people.owner, state=RunState.RUNNING, done=3, total=9)
    address = reverse("ui:run-progress", args=[run.pk])
    client = signed_in(people.owner)
    live = client.get(address)
    assert "every 5s" in live.content.decode()
    assert "HX-Refresh" not in live
    Run.objects.filter(pk=run.pk).update(state=RunState.DONE)
    ended = client.get(address)
    assert "every 5s" not in ended.content.decode()
    assert ended["HX-Refresh"] == "true"


def test_a_failed_run_shows_its_code_and_what_happened(people: People) -> None:
    error = {"code": "metastore.timeout", "message": "No answer within 30 s.", "fields": {}}
    run = make_run(people.owner, state=RunState.FAILED, error=error, finished_at=NOW)
    page = signed_in(people.owner).get(reverse("ui:run", args=[run.pk])).content.decode()
    assert "metastore.timeout" in page
    assert "No answer within 30 s." in page


def test_a_cancel_needs_a_reason_a_right_and_the_token(people: People) -> None:
    run = make_run(people.owner)
    address = reverse("ui:run-cancel", args=[run.pk])
    assert signed_in(people.owner).get(address).status_code == 405
    guarded = signed_in(people.owner, enforce_csrf_checks=True)
    assert guarded.post(address, {"reason": "x"}).status_code == 403
    assert signed_in(people.stranger).post(address, {"reason": "x"}).status_code == 404
    signed_in(people.owner).post(address, {"reason": " "})
    run.refresh_from_db()
    assert run.state == RunState.QUEUED
    signed_in(people.owner).post(address, {"reason": "wrong table"})
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED
    event = AuditEvent.objects.get(object_id=str(run.pk), action__startswith="run.cancel")
    assert event.data["reason"] == "wrong table"


def test_the_api_cancels_once_and_says_when_it_is_too_late(people: People) -> None:
    run = make_run(people.owner)
    client = signed_in(people.operator)
    address = reverse("ui:api-run-cancel", args=[run.pk])

    def ask(body: dict[str, str]) -> tuple[int, dict[str, Any]]:
        answer = client.post(address, json.dumps(body), content_type="application/json")
        return answer.status_code, answer.json()

    assert ask({})[0] == 400
    assert ask({"reason": "stop"})[0] == 200
    status, body = ask({"reason": "stop"})
    assert (status, body["code"]) == (409, "run.ended")
    assert body["next_step"]


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("name", ["ui:home", "ui:runs", "ui:audit", "ui:red-button", "ui:api"])
def test_nobody_gets_in_without_signing_in(client: Client, name: str) -> None:
    answer = client.get(reverse(name))
    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("ui:login"))
    assert client.get(reverse("ui:api-runs")).status_code == 403


def test_a_bad_filter_is_named_and_shows_nothing(people: People) -> None:
    make_run(people.admin)
    client = signed_in(people.admin)
    page = client.get(reverse("ui:runs"), {"state": "ODD"}).content.decode()
    assert "Select a valid choice" in page
    refused = client.get(reverse("ui:api-runs"), {"state": "ODD"})
    assert refused.status_code == 400
    assert "state" in refused.json()["fields"]


def test_home_tells_the_person_whose_run_failed(people: People) -> None:
    error = {"code": "metastore.timeout", "message": "No answer within 30 s.", "fields": {}}
    now = timezone.now()
    make_run(people.owner, state=RunState.FAILED, error=error, queued_at=now, finished_at=now)
    assert "No answer within 30 s." in signed_in(people.owner).get("/").content.decode()
    assert "No answer within 30 s." not in signed_in(people.admin).get("/").content.decode()
