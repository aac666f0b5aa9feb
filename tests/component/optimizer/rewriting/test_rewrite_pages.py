"""Giving a query to be answered from cubes: page and API say the same, and store no query."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from portal.access.models import User
from portal.runs.domain import RunState
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import iceberg
from tests.support.cube_queries import PARTLY, QUERIES, tables

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
PAGE, API = "/optimizer/rewrite/", "/api/v1/optimizer/rewrite/"
SQL = QUERIES["total"].replace("ssb.lineorder", "shop.lineorder")


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def asked(user: User, sql: str = SQL, **more: Any) -> Any:
    return client_of(user).post(API, {"sql": sql, **more}, content_type="application/json")


@pytest.fixture
def table(people: People) -> None:
    iceberg("lineorder", now=timezone.now(), owner=people.owner.username)


def read(run: Run) -> None:
    """The run is done; it found the tables of the golden queries in `shop`."""
    known = {
        name.replace("ssb", "shop"): _moved(one.to_json()) for name, one in tables(PARTLY).items()
    }
    run.state, run.finished_at = RunState.DONE, timezone.now()
    run.result = {"tables": known}
    run.save()


def _moved(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _moved(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [_moved(one) for one in found]
    return found.replace("ssb.", "shop.") if isinstance(found, str) else found


def test_a_query_waits_for_a_reading_and_is_then_answered(people: People, table: None) -> None:
    waiting = asked(people.owner).json()
    run = Run.objects.get(kind="optimizer.rewrite")
    assert waiting["state"] == "WAITING"
    assert waiting["run"] == str(run.pk)
    assert waiting["rewritten"] is None
    assert run.params == {"tables": ["shop.lineorder"]}, "the query itself is not kept"
    assert asked(people.admin).json()["run"] == str(run.pk), "one reading serves everybody"
    read(run)
    done = asked(people.owner, max_age_seconds=60).json()
    assert done["state"] == "DONE"
    assert "shop.lineorder__cube_sales FOR VERSION AS OF 77" in done["rewritten"]
    (block,) = done["blocks"]
    assert block["used"] == "shop.lineorder__cube_sales"
    assert block["figures"]["fresh_files"] == 2
    other = asked(people.owner, sql=f"{SQL} WHERE note = 'x'", max_age_seconds=60).json()
    assert not other["is_rewritten"]
    assert other["rewritten"] == f"{SQL} WHERE note = 'x'"
    assert other["blocks"][0]["cubes"][0]["rule"] == "filter"


def test_without_the_metastore_nothing_older_than_allowed_is_used(
    people: People, table: None
) -> None:
    asked(people.owner)
    read(Run.objects.get(kind="optimizer.rewrite"))
    refused = asked(people.owner)
    assert refused.status_code == 502, "the newest state is asked of the metastore, which is away"
    Run.objects.update(finished_at=timezone.now() - timedelta(seconds=90))
    assert asked(people.owner, max_age_seconds=60).status_code == 502
    assert asked(people.owner, max_age_seconds=120).json()["state"] == "DONE"


def test_the_page_shows_both_texts_and_why_a_cube_was_not_used(people: People, table: None) -> None:
    client = client_of(people.owner)
    body = {"sql": SQL, "dialect": "trino", "max_files": 500, "max_age": 60}
    waiting = client.post(PAGE, body).content.decode()
    assert "are being read" in waiting
    assert 'hx-include="#rewrite"' in waiting
    run = Run.objects.get(kind="optimizer.rewrite")
    run.state, run.finished_at = RunState.FAILED, timezone.now()
    run.error = {"code": "iceberg.jar", "message": "Spark was started without Iceberg."}
    run.save()
    failed = client.post(PAGE, body).content.decode()
    assert "could not be read." in failed
    assert "started without Iceberg" in failed
    assert Run.objects.count() == 1, "a failure is not repeated at once"
    Run.objects.update(finished_at=timezone.now() - timedelta(minutes=2))
    assert "are being read" in client.post(PAGE, body).content.decode()
    assert Run.objects.count() == 2
    read(Run.objects.order_by("-queued_at")[0])
    shown = client.post(PAGE, body).content.decode()
    assert "Data files read: 2 of 40" in shown
    assert "lineorder__cube_sales FOR VERSION AS OF 77" in shown
    assert "hx-post" not in shown.partition('id="answered"')[2]
    other = client.post(PAGE, {**body, "sql": f"{SQL} WHERE note = 'x'"}).content.decode()
    assert "It stays as it is" in other
    assert "l.note" not in other
    assert "lineorder.note is needed" in other


def test_tables_of_others_do_not_exist(people: People, table: None) -> None:
    refused = asked(people.stranger)
    assert refused.status_code == 404
    assert refused.json()["code"] == "rewrite.table"
    page = client_of(people.stranger).post(
        PAGE, {"sql": SQL, "dialect": "trino", "max_files": 5, "max_age": 0}
    )
    assert page.status_code == 404
    assert "no Iceberg or Hudi table shop.lineorder for you" in page.content.decode()
    assert not Run.objects.exists()


def test_a_joined_table_of_somebody_else_is_as_good_as_unknown(people: People, table: None) -> None:
    sql = (
        "SELECT p_brand1, count(*) AS n FROM shop.lineorder JOIN shop.part "
        "ON lo_partkey = p_partkey GROUP BY 1"
    )
    asked(people.owner, sql=sql)
    read(Run.objects.get(kind="optimizer.rewrite"))
    answer = asked(people.owner, sql=sql, max_age_seconds=60).json()
    assert not answer["is_rewritten"]
    assert "part is no Iceberg or Hudi table that is known here" in answer["blocks"][0]["reason"]


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DELETE FROM shop.lineorder", "Give one SELECT"),
        ("SELECT count(*) FROM lineorder", "reads 0 tables"),
        ("SELECT ((", "cannot be read as Trino"),
        ("SELECT " + "(" * 90 + "1" + ")" * 90, "nested too deeply"),
    ],
)
def test_what_cannot_be_read_stays_in_the_form(
    people: People, table: None, sql: str, words: str
) -> None:
    page = client_of(people.owner).post(
        PAGE, {"sql": sql, "dialect": "trino", "max_files": 5, "max_age": 0}
    )
    assert page.status_code == 400
    assert words in page.content.decode()
    assert sql in page.content.decode()
    api = asked(people.owner, sql=sql)
    assert api.status_code == 400
    assert words in api.content.decode()
    assert not Run.objects.exists()


def test_a_database_may_come_from_the_session(people: People, table: None) -> None:
    found = asked(people.owner, sql="SELECT count(*) FROM lineorder", schema="shop")
    assert found.json()["state"] == "WAITING"
    foreign = asked(people.owner, catalogs=["lake"], catalog="tpch")
    assert foreign.status_code == 400
