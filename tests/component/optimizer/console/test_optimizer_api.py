"""Tests the API of Iceberg tables and the queue: it returns what the pages show."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.models import IcebergTable
from portal.access.models import User
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import SMALL, commit, iceberg, looks, partition, task

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
ROOT = "/api/v1/optimizer/"
TABS = ("", "partitions/", "trend/", "commits/", "tasks/")
# A tab of a table has its facts and a picture above its list.
QUERIES_AT_MOST = 16  # two of them are the badges of the menu
# A list, and the picture of what runs and ended above it.
QUERIES_OF_THE_QUEUE = 17


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    client.get("/profile/")  # the first visit writes the session
    return client


def got(user: User, path: str) -> Any:
    answer = client_of(user).get(f"{ROOT}{path}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_tables(people: People, now: datetime) -> None:
    poor = iceberg("poor", now=now, health=12.0)
    looks(poor, [40, 12], now=now)
    task(poor, now=now)
    theirs = iceberg("theirs", now=now, owner="paul")
    found = got(people.admin, "tables/")["results"]
    assert [one["table"] for one in found] == ["poor", "theirs"]
    assert [point["health"] for point in found[0]["trend"]] == [12.0, 40.0]
    assert [one["table"] for one in got(people.owner, "tables/")["results"]] == ["poor"]
    assert [one["table"] for one in got(people.admin, "tables/?band=POOR")["results"]] == ["poor"]
    one = got(people.owner, f"tables/{poor.pk}/")
    assert (one["band"], one["deductions"]) == ("POOR", [SMALL])
    assert [(open_one["kind"], open_one["state"]) for open_one in one["open_tasks"]] == [
        ("MINOR", "WAITING")
    ]
    for tab in TABS:
        assert client_of(people.owner).get(f"{ROOT}tables/{theirs.pk}/{tab}").status_code == 404
    assert client_of(people.admin).get(f"{ROOT}tables/?band=NONSENSE").status_code == 400


def test_what_stands_on_the_tabs_of_a_table(people: People, now: datetime) -> None:
    row = iceberg(now=now)
    partition(row, "dt=1", health=90.0)
    partition(row, "dt=2", health=20.0, n_laid_out=100, laid_out_bytes=640 * 1024**2)
    commit(row, 1, at=now - timedelta(minutes=1))
    commit(row, 2, at=now, is_ours=True)
    task(row, now=now, state=TaskState.DONE)
    found = got(people.owner, f"tables/{row.pk}/partitions/")["results"]
    assert [one["partition"] for one in found] == ["dt=2", "dt=1"]
    assert found[0]["sizes"] == [50, 40, 0, 10]
    by_layout = got(people.owner, f"tables/{row.pk}/partitions/?sort=-open")["results"]
    assert [one["partition"] for one in by_layout] == ["dt=1", "dt=2"]
    commits = got(people.owner, f"tables/{row.pk}/commits/")["results"]
    assert [(one["snapshot_id"], one["is_ours"]) for one in commits] == [(2, True), (1, False)]
    (done,) = got(people.owner, f"tables/{row.pk}/tasks/")["results"]
    assert (done["is_open"], done["after"]["n_files"], done["table"]) == (False, 12, "clicks")
    layout = got(people.owner, f"tables/{row.pk}/")["layout"]
    assert (layout["n_files"], layout["n_laid_out"]) == (200, 110)


def test_the_queue(people: People, now: datetime) -> None:
    run = Run.objects.create(
        lake="main", kind="optimize", requested_by="schedule", queued_at=now, done=3, total=8
    )
    task(iceberg("low", now=now), now=now, score=1.0)
    task(iceberg("high", now=now), now=now, score=7.0, state=TaskState.HELD)
    task(iceberg("runs", now=now), now=now, state=TaskState.SENT, run=run.pk)
    task(iceberg("sent", now=now), now=now, state=TaskState.SENT)
    task(iceberg("done", now=now, owner="paul"), now=now, state=TaskState.DONE)
    waits = got(people.admin, "queue/")["results"]
    assert [one["table"] for one in waits] == ["high", "low"]
    found = got(people.admin, "queue/now/")
    assert (found["n_waiting"], found["n_held"], found["n_running"]) == (1, 1, 2)
    runs = {one["task"]["table"]: (one["done"], one["total"]) for one in found["running"]}
    assert runs == {"runs": (3, 8), "sent": (None, None)}
    assert [one["table"] for one in found["ended"]] == ["done"]
    assert got(people.owner, "queue/now/")["ended"] == []
    assert got(people.stranger, "queue/")["results"] == []


def grow(names: Iterable[str], *, now: datetime) -> None:
    for name in names:
        row = iceberg(name, now=now)
        looks(row, [70, 60, 50], now=now)
        task(row, now=now)
        task(row, now=now, kind=TaskKind.CLUSTER, state=TaskState.SENT, run=run_of(now))
        task(row, now=now, kind=TaskKind.FULL, state=TaskState.DONE)


def run_of(now: datetime) -> Any:
    return Run.objects.create(
        lake="main", kind="optimize", requested_by="schedule", queued_at=now
    ).pk


def fill(row: IcebergTable, numbers: Iterable[int], *, now: datetime) -> None:
    for number in numbers:
        partition(row, f"dt={number}")
        commit(row, number, at=now - timedelta(seconds=number))
        task(row, now=now, state=TaskState.DONE)


PARTS = ("", "files/", "layout/", "commits/", "tasks/")


def test_lists_ask_few_questions_and_not_more_for_more_rows(people: People, now: datetime) -> None:
    client = client_of(people.admin)
    grow("abc", now=now)
    row = iceberg("wide", now=now)
    fill(row, range(3), now=now)
    parts = [f"/optimizer/tables/{row.pk}/{part}" for part in PARTS]
    lists = [
        *("/optimizer/tables/", "/optimizer/queue/", "/optimizer/queue/now/"),
        *(f"{ROOT}{name}/" for name in ("tables", "queue", "queue/now")),
        *parts,
        *(f"{ROOT}tables/{row.pk}/{tab}" for tab in TABS),
    ]

    def n_queries(path: str) -> int:
        with CaptureQueriesContext(connection) as caught:
            assert client.get(path).status_code == 200
        return len(caught)

    few = {path: n_queries(path) for path in lists}
    grow((f"t{n}" for n in range(30)), now=now)
    fill(row, range(3, 40), now=now)
    many = {path: n_queries(path) for path in lists}
    assert many == few
    assert many.pop("/optimizer/queue/") <= QUERIES_OF_THE_QUEUE
    # A former address of a table asks the catalog first whether the table has its page there.
    most = dict.fromkeys(many, QUERIES_AT_MOST) | dict.fromkeys(parts, QUERIES_AT_MOST + 2)
    assert {path: n for path, n in many.items() if n > most[path]} == {}


def test_policies_are_set_tried_out_and_read(people: People, now: datetime) -> None:
    row = iceberg("clicks", now=now)
    iceberg("theirs", now=now, owner="paul")

    def told(user: User, path: str, **said: Any) -> Any:
        return client_of(user).post(f"{ROOT}policies/{path}", said, "application/json")

    wish = {"scope": "*", "values": {"is_on": True, "manifests": 50}}
    tried = told(people.admin, "preview/", **wish).json()
    assert (tried["n_tables"], tried["n_changed"]) == (2, 2)
    assert tried["changes"][1] == {
        "setting": "manifests",
        "was": 100,
        "would_be": 50,
        "n_tables": 2,
    }
    kept = {"seen": 0, "reason": "to begin"}
    for user, status in ((people.operator, 403), (people.owner, 403), (people.admin, 201)):
        assert told(user, "", **wish, **kept).status_code == status
    again = told(people.admin, "", **wish, **kept)
    assert (again.status_code, again.json()["code"]) == (409, "policy.changed")
    own = {"scope": "shop.clicks", "values": {"quiet": None, "layout": "sort(at)"}, **kept}
    assert told(people.stranger, "", **own).status_code == 404
    assert told(people.owner, "", **own).json()["version"] == 1
    for values in ({"speed": 1}, {"layout": "sort(gone)"}, {"manifests": "many"}, {"full_days": 3}):
        assert told(people.owner, "", **{**own, "values": values, "seen": 1}).status_code == 400
    assert told(people.owner, "", **{**own, "reason": ""}).status_code == 400

    found = got(people.owner, f"tables/{row.pk}/policy/")
    assert (found["scope"], found["seen"]) == ("shop.clicks", 1)
    assert found["settings"]["layout"] == {"value": "sort(at)", "scope": "shop.clicks"}
    assert found["settings"]["manifests"] == {"value": 50, "scope": "*"}
    assert found["settings"]["caution"] == {"value": "normal", "scope": "default"}
    listed = got(people.owner, "policies/")["results"]
    assert [(one["scope"], one["n_tables"]) for one in listed] == [("*", 1), ("shop.clicks", 1)]
    assert got(people.admin, "policies/?sets=layout")["results"][0]["values"] == {
        "quiet": None,
        "layout": "sort(at)",
    }
    (version,) = got(people.owner, "policies/of/shop.clicks/")["results"]
    assert (version["by"], version["reason"], version["is_current"]) == ("olga", "to begin", True)
    for user, scope in (
        (people.stranger, "shop.clicks"),
        (people.admin, "none"),
        (people.admin, "a.b.c"),
    ):
        assert client_of(user).get(f"{ROOT}policies/of/{scope}/").status_code == 404
