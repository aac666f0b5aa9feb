"""Tests a dry run, "run now" and a pause, requested on the page and over the API."""

import re
from datetime import datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.core.domain.tasks import TaskKind, TaskState
from portal.access.models import User
from tests.component.conftest import People
from tests.component.optimizer.iceberg.planner.test_optimizer_queue import policy
from tests.component.optimizer.optimizer_rows import iceberg, partition, task
from tests.component.portal.ui.table_rows import listed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
TABLES, API = "/optimizer/tables/", "/api/v1/optimizer/tables/"
WHY = {"reason": "before the report"}


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def told(client: Client, path: str) -> Any:
    """Post a reason to the API."""
    return client.post(f"{API}{path}", WHY, content_type="application/json")


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_an_owner_runs_pauses_and_resumes_a_table(people: People, now: datetime) -> None:
    row = iceberg(now=now)
    listed("clicks", format="iceberg")
    client = client_of(people.owner)
    answer: Any = client.post(f"{TABLES}{row.pk}/run/", WHY, follow=True)
    assert "It is in the queue" in answer.content.decode()
    asked = row.tasks.get()
    assert (asked.kind, asked.state, asked.requested_by) == ("MINOR", "WAITING", "olga")
    answer = client.post(f"{TABLES}{row.pk}/pause/", WHY, follow=True)
    text = answer.content.decode()
    for words in ("Paused: nothing is done to it", "before the report", "Resume the table"):
        assert words in text, words
    assert "Compact now" not in text
    answer = client.post(f"{TABLES}{row.pk}/resume/", WHY, follow=True)
    assert "Compact now" in answer.content.decode()
    assert client.post(f"{TABLES}{row.pk}/resume/", WHY).status_code == 409
    assert client.post(f"{TABLES}{row.pk}/run/", {"reason": " "}).status_code == 400


def test_a_compaction_takes_one_click_and_no_typing(people: People, now: datetime) -> None:
    """It loses nothing and can be cancelled, so the page neither asks again nor for a reason."""
    row = iceberg(now=now)
    client = client_of(people.owner)
    text = client.get(f"{TABLES}{row.pk}/", follow=True).content.decode()
    address = f"{TABLES}{row.pk}/run/"
    form = text[text.index(f'action="{address}"') :].split("</form>", 1)[0]
    assert "Compact now" in form
    assert "required" not in form
    sent = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]+)"', form))
    answer: Any = client.post(address, sent, follow=True)
    assert "It is in the queue" in answer.content.decode()
    assert row.tasks.get().requested_by == "olga"


def test_run_now_takes_the_open_task_of_whatever_kind(people: People, now: datetime) -> None:
    row = iceberg(now=now)
    task(row, now=now, kind=TaskKind.CLUSTER, state=TaskState.HELD, waits_for="blackout window")
    answer = told(client_of(people.owner), f"{row.pk}/run/")
    assert answer.status_code == 202
    found = answer.json()
    assert (found["kind"], found["state"], found["waits_for"]) == ("CLUSTER", "WAITING", "")


def test_a_dry_run_says_what_would_be_done_and_begins_nothing(
    people: People, now: datetime
) -> None:
    policy()
    row = iceberg(now=now, columns={"dt": "string"})
    partition(row, "dt=1")
    partition(row, "dt=2", n_files=1, n_small=0, n_pos_delete_files=0, n_eq_delete_files=0,
              n_pos_deleted_rows=0, n_eq_deleted_rows=0, squared_error=0.0)  # fmt: skip
    client = client_of(people.owner)
    text = client.get(f"{TABLES}{row.pk}/plan/").content.decode()
    for words in ("Would be done", "Nothing is begun", "not known before the first run"):
        assert words in text, words
    found = client.get(f"{API}{row.pk}/plan/").json()
    assert found["tasks"][0]["partitions"] == ["dt=1"]
    assert found["tasks"][0]["is_timed"] is False
    assert not row.tasks.exists()
    unseen = iceberg("unseen", now=now, inspected_at=None, health=None)
    assert client.get(f"{TABLES}{unseen.pk}/plan/").status_code == 409


def test_strangers_ask_nothing_of_a_table(people: People, now: datetime) -> None:
    row = iceberg(now=now)
    client = client_of(people.stranger)
    for root in (TABLES, API):
        assert client.get(f"{root}{row.pk}/plan/").status_code == 404
    for act in ("run", "pause", "resume"):
        assert client.post(f"{TABLES}{row.pk}/{act}/", WHY).status_code == 404
        assert told(client, f"{row.pk}/{act}/").status_code == 404


def test_programs_pause_and_resume(people: People, now: datetime) -> None:
    row = iceberg(now=now)
    client = client_of(people.admin)
    found = told(client, f"{row.pk}/pause/").json()
    assert (found["is_paused"], found["paused_reason"]) == (True, "before the report")
    assert told(client, f"{row.pk}/run/").status_code == 409
    assert told(client, f"{row.pk}/resume/").json()["is_paused"] is False


def test_what_was_done_is_seen_while_the_catalog_does_not_know_the_table(
    people: People, now: datetime
) -> None:
    """Between two scans a new table has no page; the message stands on a page of the area's own."""
    row = iceberg(now=now)
    client = client_of(people.owner)
    for path, words in (
        ("run", "It is in the queue"),
        ("pause", "Nothing is begun on the table from now on."),
        ("resume", "inspected and optimized again"),
        ("index", "It is in the queue"),
    ):
        answer: Any = client.post(f"{TABLES}{row.pk}/{path}/", WHY, follow=True)
        if path == "index" and answer.status_code == 400:
            continue  # nothing is to be indexed
        assert answer.status_code == 200, (path, answer.redirect_chain)
        assert words in answer.content.decode(), path
    # Known under another format, the table has a page but no such tab on it.
    listed("clicks", format="parquet")
    answer = client.post(f"{TABLES}{row.pk}/pause/", WHY, follow=True)
    assert answer.status_code == 200
    assert "Nothing is begun on the table from now on." in answer.content.decode()
