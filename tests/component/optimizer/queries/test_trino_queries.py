"""Trino's events come by a token and become sums of scans, each query once."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.advice.selectors import recorded_shapes
from optimizer.models import IcebergTable, QueryDay, RecordedQuery, ScanFilter, ScanShape
from optimizer.queries.api import MOST_BYTES
from optimizer.queries.services.taking import KNOWN_FOR, trino_query_report
from portal.access.models import User
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import iceberg
from tests.golden.trino import event, events

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
ADDRESS = "/api/optimizer/v1/main/trino/lake/queries"
POINT = "SELECT count(*) FROM lake.shop.ev WHERE uid = 40"


@pytest.fixture(autouse=True)
def tables(people: People) -> list[IcebergTable]:
    """The two tables of the recorded queries, of 90,000 bytes each."""
    rows = []
    for name in ("ev", "dim"):
        row = iceberg(name, now=timezone.now(), owner=people.owner.username)
        row.n_bytes, row.columns = 90_000, {}
        row.save()
        rows.append(row)
    return rows


def send(user: User, body: Any, *, address: str = ADDRESS, **headers: str) -> Any:
    client = Client(raise_request_exception=False)
    if not headers:
        client.force_login(user)
    text = body if isinstance(body, str) else json.dumps(body)
    return client.post(address, text, content_type="application/json", headers=headers)


def today() -> QueryDay:
    return QueryDay.objects.get()


def test_recorded_queries_become_sums_of_scans(people: People, tables: list[IcebergTable]) -> None:
    for one in events():
        assert send(people.owner, one).status_code == 202
    day = today()
    assert (day.engine, day.n_queries, day.n_failed) == ("trino", 26, 2)
    assert (day.n_unread, day.n_unknown, day.n_repeated) == (0, 0, 0)
    shapes = recorded_shapes(tables[0], now=timezone.now()).shapes
    by_filter = {tuple(map(tuple, one["filters"])): one for one in shapes}
    assert day.n_scans == sum(one["n_scans"] for one in shapes) + 4  # of `dim`
    point = by_filter[("uid", "="),]
    assert (point["n_scans"], point["n_files"], point["n_bytes"]) == (2, 18, 180_000)
    # Of three days one was read: a third of files and bytes, as engines' own reports would count.
    part = by_filter[("day", "="), ("uid", "IN")]
    assert (part["n_files"], part["n_bytes"]) == (3, 30_000)
    assert by_filter[("uid", "dynamic"),]["n_scans"] == 3
    found = ScanFilter.objects.get(table=tables[0], column="note", kind="contains")
    assert found.n_scans == 1


def test_an_event_that_comes_again_counts_once(people: People) -> None:
    first = send(people.owner, event(POINT)).json()
    again = send(people.owner, event(POINT)).json()
    assert (first["scans"], first["repeated"]) == (1, False)
    assert (again["scans"], again["repeated"]) == (0, True)
    assert ScanShape.objects.get().n_scans == 1
    assert (today().n_queries, today().n_repeated) == (1, 1)


def test_nobody_s_event_hides_another_one_s(people: People) -> None:
    send(people.stranger, event(POINT))
    assert (today().n_unknown, ScanShape.objects.count()) == (1, 0)
    assert send(people.owner, event(POINT)).json()["scans"] == 1


def test_queries_are_forgotten_after_two_days(people: People) -> None:
    now = timezone.now()
    for begins, at in ((POINT, now - KNOWN_FOR - timedelta(hours=1)), ("DELETE FROM dim", now)):
        said = event(begins)
        trino_query_report("main", said, catalog="lake", user=people.owner, now=at)
    assert RecordedQuery.objects.get().query_id == event("DELETE FROM dim")["metadata"]["queryId"]
    assert QueryDay.objects.count() == 2


def test_a_table_of_unknown_size_has_the_bytes_that_trino_read(
    people: People, tables: list[IcebergTable]
) -> None:
    IcebergTable.objects.update(n_bytes=None)
    send(people.owner, event(POINT))
    assert ScanShape.objects.get().n_bytes == 49_824


def test_a_plan_of_another_version_is_counted_and_shown(people: People) -> None:
    broken = event(POINT)
    broken["metadata"]["payload"] = '{"new": "form"}'
    answer = send(people.owner, broken)
    assert answer.status_code == 202, "Trino would send it again and again"
    assert "shop.ev is read" in answer.json()["unread"]
    assert (today().n_queries, today().n_unread, ScanShape.objects.count()) == (1, 1, 0)
    client = Client()
    client.force_login(people.owner)
    page = client.get("/optimizer/advice/?lake=main").content.decode()
    assert "that was not readable: The plan does not show where shop.ev is read." in page
    (told,) = client.get("/api/v1/optimizer/queries/?lake=main").json()
    assert (told["engine"], told["n_unread"]) == ("trino", 1)


def test_a_page_without_queries_says_how_trino_tells_of_them(people: People) -> None:
    client = Client()
    client.force_login(people.owner)
    page = client.get("/optimizer/advice/?lake=main").content.decode()
    assert f"connect-ingest-uri=http://testserver{ADDRESS}" in page
    assert client.get("/api/v1/optimizer/queries/?lake=main").json() == []


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("[]", 400, "api.400"),
        ("{}", 400, "api.400"),
        ('{"metadata": {}}', 400, "queries.event"),
        ('{"metadata": 3}', 400, "api.400"),
        ('{"metadata": {"queryId": "q"}, "context": []}', 400, "api.400"),
        ('{"metadata": ' + '{"a":' * 20_000 + "1" + "}" * 20_001, 400, "api.400"),
        ('{"metadata": {"queryId": "' + "x" * MOST_BYTES + '"}}', 413, "optimizer.body"),
    ],
    ids=range(7),
)
def test_what_is_no_event_is_refused(people: People, body: str, status: int, code: str) -> None:
    answer = send(people.owner, body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not QueryDay.objects.exists()


def test_a_large_event_is_taken(people: People) -> None:
    large = event(POINT)
    large["metadata"]["plan"] = "x" * (MOST_BYTES - 100_000)
    answer = send(people.owner, large)
    assert answer.status_code == 202, answer.content
    assert answer.json()["scans"] == 1


@pytest.mark.parametrize("query_id", ["a\0b", "\ud800", "<script>alert(1)</script>"])
def test_an_odd_name_harms_nothing(people: People, query_id: str) -> None:
    odd = event(POINT)
    odd["metadata"]["queryId"] = query_id
    assert send(people.owner, odd).status_code in (202, 400)


def test_a_token_of_the_scope_tells(people: People) -> None:
    for scope, status in (("optimizer", 202), ("refresh", 403)):
        wish = TokenParams("trino", (scope,), 9)
        made = token_make("olga", wish, user=people.owner, now=timezone.now())
        bearer = f"Bearer {made.secret}"
        assert send(people.owner, event(POINT), Authorization=bearer).status_code == status
    assert Client().post(ADDRESS, "{}", content_type="application/json").status_code == 401


def test_an_unknown_lake_is_said(people: People) -> None:
    answer = send(people.owner, event(POINT), address=ADDRESS.replace("main", "moon"))
    assert (answer.status_code, answer.json()["code"]) == (404, "lake.unknown")
