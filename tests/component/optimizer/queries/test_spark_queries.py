"""A Spark driver's queries come by a token and become sums of scans, each query once."""

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.models import IcebergTable, QueryDay, ScanFilter, ScanShape
from optimizer.queries.api import MOST_BYTES
from optimizer.queries.domain.spark_queries import MOST_QUERIES
from portal.access.models import User
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import iceberg
from tests.golden.spark import APPLICATION, query, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
ADDRESS = "/api/optimizer/v1/main/spark/lake/queries"


@pytest.fixture(autouse=True)
def tables(people: People) -> list[IcebergTable]:
    """The tables of the recorded queries."""
    rows = []
    for name in ("ev", "dim", "copy"):
        row = iceberg(name, now=timezone.now(), owner=people.owner.username)
        row.columns = {}
        row.save()
        rows.append(row)
    return rows


def batch(*queries: Any, **more: Any) -> dict[str, Any]:
    return {"application": APPLICATION, "queries": list(queries), **more}


def send(user: User, body: Any, *, address: str = ADDRESS, **headers: str) -> Any:
    client = Client(raise_request_exception=False)
    if not headers:
        client.force_login(user)
    text = body if isinstance(body, str) else json.dumps(body)
    return client.post(address, text, content_type="application/json", headers=headers)


def today() -> QueryDay:
    return QueryDay.objects.get()


def test_recorded_queries_become_sums_of_scans(people: People, tables: list[IcebergTable]) -> None:
    all_of_them = [one["query"] for one in told()]
    answer = send(people.owner, batch(*all_of_them))
    assert answer.status_code == 202, answer.content
    n_scans = sum(len(one["scans"]) for one in all_of_them)
    assert answer.json() == {
        "taken": len(all_of_them), "repeated": 0, "unread": 0, "unknown": 0
    }  # fmt: skip
    day = today()
    assert (day.engine, day.n_queries, day.n_failed) == ("spark", len(all_of_them), 1)
    assert (day.n_scans, day.n_unread, day.n_dropped) == (n_scans, 0, 0)
    assert ScanFilter.objects.filter(table=tables[0], column="uid", kind="=").exists()
    assert sum(one.n_scans for one in ScanShape.objects.all()) == n_scans


def test_scans_that_the_catalog_reports_itself_are_not_summed_again(people: People) -> None:
    answer = send(people.owner, batch(query("point"), has_scan_reports=True))
    assert answer.json()["taken"] == 1
    assert (today().n_queries, today().n_scans) == (1, 1)
    assert not ScanShape.objects.exists()


def test_files_and_bytes_are_those_that_were_planned(people: People) -> None:
    said = query("insert")
    (scan,) = said["scans"]
    send(people.owner, batch(said))
    whole = ScanFilter.objects.get(column="")
    assert (whole.n_files, whole.n_skipped) == (scan["files"], scan["skipped"]) == (1, 1)
    assert whole.n_bytes == ScanShape.objects.get().n_bytes == scan["bytes"] > 0


def test_a_batch_that_comes_again_counts_once(people: People) -> None:
    whole = batch(query("point"), {"no": "number"}, dropped=7)
    first, again = (send(people.owner, whole).json() for _ in range(2))
    assert (first["taken"], first["repeated"], first["unread"]) == (2, 0, 1)
    assert (again["taken"], again["repeated"], again["unread"]) == (0, 2, 0)
    day = today()
    assert (day.n_queries, day.n_repeated, day.n_dropped, day.n_unread) == (2, 2, 7, 1)
    assert ScanShape.objects.get().n_scans == 1


def test_dropped_queries_are_counted_by_what_is_new_of_them(people: People) -> None:
    for before, now in ((0, 3), (3, 3), (3, 10), (10, 4)):
        assert send(people.owner, batch(dropped_before=before, dropped=now)).status_code == 202
    assert today().n_dropped == 10
    client = Client()
    client.force_login(people.owner)
    (engine,) = client.get("/api/v1/optimizer/queries/?lake=main").json()
    assert (engine["engine"], engine["n_dropped"]) == ("spark", 10)
    page = client.get("/optimizer/advice/?lake=main").content.decode()
    assert 'data-title="Dropped">10<' in page


def test_one_wrong_query_leaves_the_others_alone(people: People) -> None:
    wrong = {**query("join"), "scans": [{"db": "shop", "table": "\ud800"}], "execution": 4_000}
    answer = send(people.owner, batch(query("point"), wrong)).json()
    assert (answer["taken"], answer["unread"]) == (2, 1)
    assert "`table` of the query" in today().unread
    assert ScanShape.objects.get().n_scans == 1


def test_who_does_not_see_a_table_adds_nothing_to_it_and_hides_nothing(people: People) -> None:
    assert send(people.stranger, batch(query("point"))).json()["unknown"] == 1
    assert not ScanShape.objects.exists()
    assert send(people.owner, batch(query("point"))).json()["taken"] == 1
    assert ScanShape.objects.get().n_scans == 1


def test_a_forged_table_is_unknown(people: People) -> None:
    forged = query("point")
    forged["scans"][0]["table"] = "ev'; DROP TABLE optimizer_scanshape; --"
    assert send(people.owner, batch(forged)).json()["unknown"] == 1


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("[]", 400, "api.400"),
        ("{}", 400, "api.400"),
        ({"application": {"id": "a\0"}, "queries": []}, 400, "api.400"),
        ({"application": {"id": "a" * 201}, "queries": []}, 400, "api.400"),
        ({"application": APPLICATION, "queries": [3]}, 400, "api.400"),
        (batch(*[{}] * (MOST_QUERIES + 1)), 400, "api.400"),
        (batch(dropped=-1), 400, "api.400"),
        (batch(dropped=True), 400, "api.400"),
        ('{"application": ' + '{"a":' * 20_000 + "1" + "}" * 20_001, 400, "api.400"),
        (batch({"text": "x" * MOST_BYTES}), 413, "optimizer.body"),
    ],
    ids=range(10),
)
def test_what_is_no_batch_is_refused(people: People, body: Any, status: int, code: str) -> None:
    answer = send(people.owner, body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not QueryDay.objects.exists()


def test_a_query_of_many_levels_is_counted_as_unread(people: People) -> None:
    deep: Any = {}
    for _ in range(200):
        deep = {"x": deep}
    answer = send(people.owner, batch(deep))
    assert (answer.status_code, answer.json()["unread"]) == (202, 1)


def test_a_token_of_the_scope_tells(people: People) -> None:
    for scope, status in (("optimizer", 202), ("refresh", 403)):
        made = token_make(
            "olga", TokenParams("spark", (scope,), 9), user=people.owner, now=timezone.now()
        )
        bearer = f"Bearer {made.secret}"
        assert send(people.owner, batch(), Authorization=bearer).status_code == status
    assert Client().post(ADDRESS, "{}", content_type="application/json").status_code == 401


def test_an_unknown_lake_is_said(people: People) -> None:
    answer = send(people.owner, batch(), address=ADDRESS.replace("main", "moon"))
    assert (answer.status_code, answer.json()["code"]) == (404, "lake.unknown")
