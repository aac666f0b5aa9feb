"""Giving a query to be narrowed: page and API say the same, and only to who gave it."""

import pytest
from django.test import Client
from django.utils import timezone

from portal.access.models import User
from portal.runs.domain import RunState
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import iceberg

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
PAGE, API = "/optimizer/prune/", "/api/v1/optimizer/prune/"
SQL = "SELECT * FROM lake.shop.clicks WHERE id = 5"
PLANNED = {
    "number": 0,
    "table": "shop.clicks",
    "alias": "clicks",
    "snapshot": 7,
    "condition": "(`id` = 5)",
    "n_files": 100,
    "n_bytes": 1000,
    "n_kept": 2,
    "kept_bytes": 20,
    "dropped": {"bloom of id": 98},
    "unused": {},
    "keys": ["id = p.key: 3 keys of shop.part at snapshot 5"],
    "whole": "",
}


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def table(people: People) -> None:
    iceberg("clicks", now=timezone.now(), owner=people.owner.username)


def done(run: Run) -> None:
    run.state, run.finished_at = RunState.DONE, timezone.now()
    run.result = {"sql": "SELECT narrowed", "tables": [PLANNED]}
    run.save()


def test_a_query_becomes_a_run_and_comes_back_narrowed(people: People, table: None) -> None:
    client = client_of(people.owner)
    given = client.post(PAGE, {"sql": SQL, "dialect": "trino", "max_files": 500})
    run = Run.objects.get(kind="optimizer.prune")
    assert given.status_code == 302
    assert given["Location"] == f"{PAGE}{run.pk}/"
    waiting = client.get(given["Location"]).content.decode()
    assert 'hx-trigger="every 3s"' in waiting
    assert client.get(f"{API}{run.pk}/").json()["narrowed"] is None
    done(run)
    shown = client.get(given["Location"]).content.decode()
    assert "SELECT narrowed" in shown
    assert "98 left out by bloom of id." in shown
    assert "3 keys of shop.part at snapshot 5." in shown
    assert (
        "hx-trigger" not in client.get(given["Location"], HTTP_HX_REQUEST="true").content.decode()
    )
    answer = client.get(f"{API}{run.pk}/").json()
    assert answer["narrowed"] == "SELECT narrowed"
    assert answer["tables"] == [PLANNED]
    # Answers from before the joins' keys were asked have none.
    run.refresh_from_db()
    Run.objects.filter(pk=run.pk).update(
        result={
            "sql": "SELECT narrowed",
            "tables": [{k: v for k, v in PLANNED.items() if k != "keys"}],
        }
    )
    assert client.get(f"{API}{run.pk}/").json()["tables"] == [{**PLANNED, "keys": []}]
    assert answer["sql"] == SQL
    assert SQL in client.get(PAGE).content.decode()


def test_the_api_takes_a_query_too(people: People, table: None) -> None:
    given = client_of(people.owner).post(API, {"sql": SQL}, content_type="application/json")
    assert given.status_code == 202, given.content
    assert given.json()["dialect"] == "trino"
    assert given.json()["max_files"] == 500


def test_a_query_is_nobody_elses(people: People, table: None) -> None:
    client_of(people.owner).post(PAGE, {"sql": SQL, "dialect": "trino", "max_files": 500})
    run = Run.objects.get(kind="optimizer.prune")
    for other in (people.admin, people.operator, people.stranger):
        assert client_of(other).get(f"{PAGE}{run.pk}/").status_code == 404
        assert client_of(other).get(f"{API}{run.pk}/").status_code == 404
    assert "id = 5" not in client_of(people.admin).get(f"/runs/{run.pk}/").content.decode()
    seen = client_of(people.admin).get(f"/api/v1/runs/{run.pk}/")
    assert "id = 5" not in seen.content.decode()


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DELETE FROM shop.clicks", "Give one SELECT"),
        ("SELECT * FROM clicks", "no table of a database"),
        ("SELECT ((", "cannot be read as Trino"),
    ],
)
def test_what_cannot_be_narrowed_stays_in_the_form(
    people: People, table: None, sql: str, words: str
) -> None:
    client = client_of(people.owner)
    answer = client.post(PAGE, {"sql": sql, "dialect": "trino", "max_files": 500})
    assert answer.status_code == 400
    assert words in answer.content.decode()
    assert sql in answer.content.decode()
    api = client.post(API, {"sql": sql}, content_type="application/json")
    assert api.status_code == 400
    assert words in api.content.decode()
    assert not Run.objects.filter(kind="optimizer.prune").exists()


@pytest.mark.parametrize("max_files", ["0", "2001", "many"])
def test_a_wrong_limit_is_said(people: People, table: None, max_files: str) -> None:
    body = {"sql": SQL, "dialect": "trino", "max_files": max_files}
    assert client_of(people.owner).post(PAGE, body).status_code == 400
    api = client_of(people.owner).post(API, body, content_type="application/json")
    assert api.status_code == 400


def test_tables_of_others_do_not_exist(people: People, table: None) -> None:
    for user, sql in ((people.stranger, SQL), (people.owner, "SELECT * FROM shop.gone")):
        answer = client_of(user).post(API, {"sql": sql}, content_type="application/json")
        assert answer.status_code == 404
        assert answer.json()["code"] == "prune.table"


def test_only_tables_that_the_person_may_see_are_opened(people: People, table: None) -> None:
    sql = "SELECT * FROM shop.clicks c JOIN shop.gone g ON c.id = g.id"
    given = client_of(people.owner).post(API, {"sql": sql}, content_type="application/json")
    assert given.status_code == 202
    assert Run.objects.get(pk=given.json()["id"]).params["tables"] == ["shop.clicks"]


def test_names_are_read_as_the_session_of_the_engine_reads_them(
    people: People, table: None
) -> None:
    body = {"sql": "SELECT * FROM clicks", "catalog": "ice", "schema": "shop"}
    given = client_of(people.owner).post(API, body, content_type="application/json")
    assert given.status_code == 202, given.content
    other = client_of(people.owner).post(
        API, {"sql": SQL, "catalog": "ice"}, content_type="application/json"
    )
    assert (other.status_code, other.json()["code"]) == (400, "prune.tables")


@pytest.mark.parametrize("dialect", ["starrocks", "oracle"])
def test_an_engine_that_cannot_be_narrowed_is_refused_by_name(
    people: People, table: None, dialect: str
) -> None:
    answer = client_of(people.owner).post(
        API, {"sql": SQL, "dialect": dialect}, content_type="application/json"
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "prune.dialect")


def test_a_failed_run_says_why(people: People, table: None) -> None:
    client = client_of(people.owner)
    client.post(PAGE, {"sql": SQL, "dialect": "trino", "max_files": 500})
    run = Run.objects.get(kind="optimizer.prune")
    run.state, run.finished_at = RunState.FAILED, timezone.now()
    run.error = {"code": "iceberg.gone", "message": "The table is gone."}
    run.save()
    shown = client.get(f"{PAGE}{run.pk}/").content.decode()
    assert "The query was not narrowed." in shown
    assert "The table is gone." in shown
