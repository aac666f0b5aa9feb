"""Tests the board: Hudi tasks beside Iceberg tasks, for those who may see their tables."""

import csv
from datetime import datetime
from io import StringIO
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from optimizer.console.selectors.queue import queue_now, waiting_visible
from optimizer.core.domain.tasks import TaskState
from optimizer.core.services.dispatcher import choose
from optimizer.core.services.retention import tasks_forget
from optimizer.iceberg.planner.services.maintainer import ICEBERG
from optimizer.models import OptimizeTask
from portal.access.models import User
from tests.component.conftest import People
from tests.component.optimizer.core.test_optimizer_forgetting import ago
from tests.component.optimizer.hudi.hudi_task_rows import hudi, hudi_task
from tests.component.optimizer.optimizer_rows import iceberg, task

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
QUEUE, API = "/optimizer/queue/", "/api/v1/optimizer/queue/"


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def names(user: User, query: str = "") -> list[str]:
    """Return what the API lists of the queue."""
    answer: Any = client_of(user).get(f"{API}?{query}")
    assert answer.status_code == 200, answer.content
    return sorted(f"{row['table_format']}:{row['table']}" for row in answer.json()["results"])


def test_one_board_shows_both_and_filters_by_format_and_name(people: People, now: datetime) -> None:
    task(iceberg("clicks", now=now), now=now)
    hudi_task(hudi("rides", now=now), now=now)
    hudi_task(hudi("foreign", now=now, owner="stan"), now=now)
    assert names(people.owner) == ["hudi:rides", "iceberg:clicks"]
    assert names(people.stranger) == ["hudi:foreign"]
    assert names(people.admin, "table_format=hudi") == ["hudi:foreign", "hudi:rides"]
    assert names(people.admin, "table_format=iceberg") == ["iceberg:clicks"]
    assert names(people.admin, "table=ri&db=shop") == ["hudi:rides"]
    assert names(people.admin, "kind=HUDI_COMPACTION_EXECUTE&table=rides") == ["hudi:rides"]
    assert client_of(people.admin).get(f"{API}?table_format=delta").status_code == 400


def test_the_page_and_its_csv_tell_of_a_hudi_task(people: People, now: datetime) -> None:
    made = hudi_task(hudi("rides", now=now), now=now, state=TaskState.HELD, waits_for="It is day.")
    hudi_task(hudi("runs", now=now), now=now, state=TaskState.SENT)
    hudi_task(hudi("ended", now=now), now=now, state=TaskState.DONE)
    page: Any = client_of(people.owner).get(f"{QUEUE}?table_format=hudi")
    said = page.content.decode()
    for words in ("shop.rides", "shop.runs", "shop.ended", "Compaction: run", "It is day.", "Hudi"):
        assert words in said
    answer: Any = client_of(people.owner).get(f"{QUEUE}?format=csv")
    (row,) = csv.DictReader(StringIO(b"".join(answer).decode()))
    assert (row["id"], row["table_format"], row["subject.table"]) == (str(made.pk), "hudi", "rides")
    found = queue_now("main", people.owner, now=now)
    assert (found.n_held, found.n_running, found.n_done) == (1, 1, 1)
    assert not waiting_visible("other", people.admin).exists()


def test_a_hudi_task_is_cancelled_as_any_other(people: People, now: datetime) -> None:
    made = hudi_task(hudi("rides", now=now), now=now)
    address = f"/api/v1/optimizer/tasks/{made.pk}/cancel/"
    reason = {"reason": "before the audit"}
    refused = client_of(people.stranger).post(address, reason, content_type="application/json")
    assert refused.status_code == 404
    page = client_of(people.owner).get(f"/optimizer/tasks/{made.pk}/cancel/")
    assert "Cancel a task of shop.rides" in page.content.decode()
    answer = client_of(people.owner).post(address, reason, content_type="application/json")
    assert answer.json()["state"] == "CANCELLED"
    assert (answer.json()["hudi_id"], answer.json()["table_id"]) == (made.hudi_id, None)


def test_a_task_is_of_one_table_and_one_of_a_kind_is_open(now: datetime) -> None:
    row = hudi("rides", now=now)
    hudi_task(row, now=now)
    for fields in ({"hudi": row}, {"hudi": hudi("more", now=now), "table": iceberg(now=now)}, {}):
        with pytest.raises(IntegrityError), transaction.atomic():
            OptimizeTask.objects.create(
                kind="HUDI_COMPACTION_EXECUTE", reason="reason", created_at=now, **fields
            )
    hudi_task(row, now=now, kind="HUDI_CLUSTERING_EXECUTE")


def test_icebergs_runs_leave_hudis_tasks_alone(now: datetime) -> None:
    hudi_task(hudi("rides", now=now), now=now)
    assert choose(ICEBERG, "main", now=now) == []


def test_hudis_old_tasks_are_forgotten_but_for_the_last_of_each_outcome() -> None:
    row, other = hudi("rides"), hudi("elsewhere", lake="other")
    for table in (row, other):
        for days in (190, 200, 300):
            hudi_task(table, state=TaskState.DONE, ended_at=ago(days))
    assert tasks_forget("main", now=ago(0)) == 2
    assert (row.tasks.count(), other.tasks.count()) == (1, 3)
