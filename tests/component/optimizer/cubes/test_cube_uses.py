"""Readers report what cubes answered; pages, CSV and API show it by cube, day and reader."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from optimizer.cubes.services.uses import MOST_READERS
from optimizer.models import Cube, CubeUse, IcebergTable, ReportSender
from optimizer.usage.api import MOST_USES
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from tests.component.conftest import People
from tests.component.optimizer.cubes.cube_rows import cube
from tests.component.optimizer.optimizer_rows import iceberg
from tests.component.portal.ui.table_rows import listed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
ADDRESS = "/api/optimizer/v1/main/index-reports"
TABLE_UUID = "6d5c1f5e-7c39-4d3b-9f0a-3e9d1f0c2b11"
SENDER = "0e0e0e0e-0000-4000-8000-000000000001"
DASHBOARD = {"engine": "spark", "application": "dashboard", "user": "etl"}


@pytest.fixture
def table(people: People) -> IcebergTable:
    listed("clicks", format="iceberg")
    now = datetime.now(UTC)
    return iceberg("clicks", now=now, owner=people.owner.username, uuid=TABLE_UUID)


@pytest.fixture
def by_kind(table: IcebergTable) -> Cube:
    return cube(table, now=datetime.now(UTC))


def answers(name: str = "by_kind", **values: Any) -> dict[str, Any]:
    usual = {
        "queries": 1, "rows": 6_000, "bytes": 2_000_000, "fresh_rows": 60, "cube_rows": 240,
        "cube_bytes": 9_000, "timed": 1, "seconds": 0.5,
    }  # fmt: skip
    return {"cube": name, **usual, **values}


def body(*cubes: dict[str, Any], uuid: str = TABLE_UUID, **top: Any) -> dict[str, Any]:
    return {"reader": DASHBOARD, **top, "tables": [{"table_uuid": uuid, "cubes": list(cubes)}]}


def secret_of(people: People, scope: str = "optimizer") -> str:
    wish = TokenParams("spark", (scope,), 9)
    return token_make("olga", wish, user=people.owner, now=datetime.now(UTC)).secret


def send(secret: str, said: Any) -> Any:
    return Client(raise_request_exception=False).post(
        ADDRESS,
        json.dumps(said),
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )


def client_of(people: People) -> Client:
    client = Client()
    client.force_login(people.owner)
    return client


def test_what_cubes_answered_is_summed_by_day_and_reader_and_shown(
    people: People, by_kind: Cube
) -> None:
    secret, client = secret_of(people), client_of(people)
    page_url = f"/optimizer/cubes/{by_kind.pk}/"
    empty = client.get(page_url).content.decode()
    for words in ("No reader has reported", "lakewarden.report-uri", f"http://testserver{ADDRESS}"):
        assert words in empty
    for _ in range(2):
        answer = send(secret, body(answers(), answers("nowhere"), answers(queries=3, timed=0)))
        assert answer.json() == {"taken": 2, "ignored": 1, "repeated": False}
    proxy = {"engine": "trino", "application": "trino-proxy"}
    send(secret, body(answers(timed=0, seconds=0.0), reader=proxy))
    row = CubeUse.objects.get(engine="spark")
    assert (row.n_queries, row.n_rows, row.n_bytes) == (8, 24_000, 8_000_000)
    assert (row.n_fresh_rows, row.n_cube_rows, row.n_timed, row.seconds) == (240, 960, 2, 2.0)
    page = client.get(page_url).content.decode()
    for words in ("30,000", "dashboard", "etl", "trino-proxy", "Queries of the last 7 days"):
        assert words in page
    assert "No reader has reported" not in page
    tab = client.get("/tables/shop/clicks/cubes/?lake=main").content.decode()
    assert "30,000" in tab
    every = client.get("/optimizer/cubes/?lake=main").content.decode()
    assert "30,000" in every.split('id="list"')[1]
    export: Any = client.get("/optimizer/cubes/?lake=main&format=csv")
    head, line = b"".join(export.streaming_content).decode().splitlines()
    said = dict(zip(head.split(","), line.split(","), strict=True))
    assert [said[one] for one in ("n_queries", "n_rows_saved", "n_bytes_saved")] == [
        "9", "30000", "10000000",
    ]  # fmt: skip
    one = client.get(f"/api/v1{page_url}").json()
    (listed_one,) = client.get("/api/v1/optimizer/cubes/?lake=main").json()["results"]
    for found in (one, listed_one):
        assert (found["n_queries"], found["n_rows_saved"], found["n_bytes_saved"]) == (
            9, 30_000, 10_000_000,
        )  # fmt: skip
        assert found["last_used_at"]
    uses = client.get(f"/api/v1{page_url}uses/").json()["results"]
    assert {(use["engine"], use["n_queries"]) for use in uses} == {("spark", 8), ("trino", 1)}


def test_older_weeks_are_no_longer_counted_and_then_gone(people: People, by_kind: Cube) -> None:
    now = datetime.now(UTC)
    for days in (20, 90):
        CubeUse.objects.create(
            cube=by_kind, day=now.date() - timedelta(days=days), engine="spark", n_queries=7,
            application=f"of {days} days", last_used_at=now - timedelta(days=days),
        )  # fmt: skip
    send(secret_of(people), body(answers()))
    assert not CubeUse.objects.filter(application="of 90 days").exists()
    assert client_of(people).get(f"/api/v1/optimizer/cubes/{by_kind.pk}/").json()["n_queries"] == 1
    assert "of 20 days" in client_of(people).get(f"/optimizer/cubes/{by_kind.pk}/").content.decode()


def test_a_report_that_comes_again_counts_once(people: People, by_kind: Cube) -> None:
    secret = secret_of(people)
    for sequence, is_repeated in ((1, False), (1, True), (3, False), (2, True), (4, False)):
        answer = send(secret, body(answers(), sender=SENDER, sequence=sequence))
        assert answer.json()["repeated"] is is_repeated, sequence
    assert CubeUse.objects.get().n_queries == 3
    # Somebody else's program of the same number, and one that was silent for weeks.
    other = ReportSender.objects.create(
        lake="main", user="ben", sender=UUID(SENDER), sequence=99, reported_at=datetime.now(UTC)
    )
    ReportSender.objects.filter(pk=other.pk).update(
        reported_at=datetime.now(UTC) - timedelta(days=30)
    )
    assert send(secret, body(answers(), sender=SENDER, sequence=5)).json()["taken"] == 1
    fresh = SENDER.replace("0001", "0002")
    assert send(secret, body(answers(), sender=fresh, sequence=1)).json()["taken"] == 1
    assert not ReportSender.objects.filter(pk=other.pk).exists()


def test_indexes_and_cubes_come_in_one_report(people: People, by_kind: Cube) -> None:
    use = {"column": "nowhere", "kind": "bloom", "plans": 1, "files": 1, "bytes": 1}
    said = body(answers())
    said["tables"][0]["indexes"] = [use]
    assert send(secret_of(people), said).json() == {"taken": 1, "ignored": 1, "repeated": False}


def test_names_of_readers_do_not_fill_the_database(people: People, by_kind: Cube) -> None:
    secret = secret_of(people)
    for number in range(MOST_READERS + 3):
        reader = {"engine": "spark", "application": f"job {number}"}
        assert send(secret, body(answers(), reader=reader)).json()["taken"] == 1
    assert CubeUse.objects.count() == MOST_READERS + 1
    assert CubeUse.objects.get(application="").n_queries == 3
    assert "further readers" in client_of(people).get(
        f"/optimizer/cubes/{by_kind.pk}/"
    ).content.decode()  # fmt: skip


def test_who_may_not_see_a_table_adds_nothing(people: People, by_kind: Cube) -> None:
    client = Client()
    client.force_login(people.stranger)
    text = json.dumps(body(answers()))
    answer = client.post(ADDRESS, text, content_type="application/json")
    assert answer.json()["taken"] == 0
    assert send(secret_of(people, "refresh"), body(answers())).status_code == 403
    Cube.objects.update(state="DROPPED", is_there=None)
    assert send(secret_of(people), body(answers())).json()["ignored"] == 1
    assert not CubeUse.objects.exists()


@pytest.mark.parametrize(
    "said",
    [
        {"tables": [{"table_uuid": TABLE_UUID}]},
        body(answers(queries=0)),
        body(answers(rows=-1)),
        body(answers(bytes=2**63)),
        body(answers(seconds=-0.5)),
        body(answers(seconds="NaN")),
        body(answers(seconds="Infinity")),
        body(answers("x" * 41)),
        body(answers("a\x00b")),
        body({"cube": "by_kind"}),
        body(*[answers()] * (MOST_USES + 1)),
        body(answers(), reader={"engine": "presto"}),
        body(answers(), reader={"engine": "spark", "application": "x" * 201}),
        body(answers(), sender=SENDER),
        body(answers(), sender=SENDER, sequence=0),
        body(answers(), sender="me", sequence=1),
    ],
    ids=range(16),
)
def test_what_is_wrong_is_refused_and_nothing_is_kept(
    people: People, by_kind: Cube, said: Any
) -> None:
    answer = send(secret_of(people), said)
    assert (answer.status_code, answer.json()["code"]) == (400, "api.400")
    assert not CubeUse.objects.exists()
    assert not ReportSender.objects.exists()
