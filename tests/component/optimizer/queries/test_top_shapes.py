"""Queries that cost most: who sees them, filters, CSV, API, and how an analysis is taken in."""

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.models import IcebergTable, TopShape
from optimizer.queries.run_kinds import KEEP_KIND, TopShapesKind
from optimizer.queries.services.analysis import TOP_KIND
from portal.access.models import User
from portal.runs.models import Run
from portal.runs.requests.services import run_request
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import iceberg
from tests.component.optimizer.queries.shape_rows import top_shape

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
PAGE, API = "/optimizer/queries/", "/api/v1/optimizer/queries/shapes/"
ONE, TWO, ALL = "1" * 32, "2" * 32, "3" * 32


@pytest.fixture
def shapes(people: People) -> None:
    """Olga's table, a table of others, and queries of one, of both, and of what nobody named."""
    now = timezone.now()
    iceberg("ev", now=now, owner="olga")
    iceberg("hr", now=now, owner="hugo")
    top_shape(now, "shop.ev", digest=ONE, text="SELECT one", n_queries=7, seconds=5.0)
    top_shape(now, "shop.ev", "shop.hr", digest=TWO, text="SELECT two", is_helped=True, share=0.1)
    top_shape(now, "shop.ev", digest=ALL, text="SELECT all", names_all_tables=False)


def page(user: User, query: str = "", address: str = PAGE) -> str:
    client = Client()
    client.force_login(user)
    answer = client.get(f"{address}?lake=main{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def api(user: User, address: str = API) -> Any:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client.get(f"{address}?lake=main")


@pytest.mark.usefixtures("shapes")
def test_a_query_is_seen_by_those_who_see_all_its_tables(people: People) -> None:
    seen = {
        name: {one["digest"] for one in api(user).json()["results"]}
        for name, user in (
            ("owner", people.owner),
            ("stranger", people.stranger),
            ("operator", people.operator),
        )
    }
    assert seen == {"owner": {ONE}, "stranger": set(), "operator": {ONE, TWO, ALL}}
    text = page(people.owner)
    assert "SELECT one" in text
    assert "SELECT two" not in text
    assert "SELECT all" not in text
    for digest, status in ((ONE, 200), (TWO, 404), (ALL, 404)):
        assert api(people.owner, f"{API}{digest}/").status_code == status
        client = Client(raise_request_exception=False)
        client.force_login(people.owner)
        assert client.get(f"{PAGE}{digest}/?lake=main").status_code == status
    IcebergTable.objects.filter(table="ev").update(owner="hugo")
    assert api(people.owner).json()["results"] == []


@pytest.mark.usefixtures("shapes")
def test_the_list_is_filtered_by_the_address_and_is_a_csv(people: People) -> None:
    for query, wanted in (
        ("&help=none", {"SELECT one", "SELECT all"}),
        ("&help=some", {"SELECT two"}),
        ("&table=shop.hr", {"SELECT two"}),
        ("&table=shop", {"SELECT one", "SELECT two", "SELECT all"}),
        ("&text=ALL", {"SELECT all"}),
        ("&engine=spark", set()),
    ):
        text = page(people.operator, query)
        shown = {one for one in ("SELECT one", "SELECT two", "SELECT all") if one in text}
        assert shown == wanted, query
    assert "No query fits this filter" in page(people.operator, "&engine=spark")
    client = Client()
    client.force_login(people.operator)
    answer: Any = client.get(f"{PAGE}?lake=main&format=csv&sort=-queries")
    data = b"".join(answer.streaming_content).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(data)))
    assert [row["text"] for row in rows][-1] == "SELECT one"
    assert rows[-1]["n_queries"] == "7"
    assert "shop.ev" in rows[-1]["table_names"]


@pytest.mark.usefixtures("shapes")
def test_a_shape_s_page_has_its_numbers(people: People) -> None:
    text = page(people.owner, address=f"{PAGE}{ONE}/")
    assert "SELECT one" in text
    assert "shop.ev" in text
    assert "Queries by day" in text
    assert "+100 % against the two weeks before" in text
    assert api(people.owner, f"{API}{ONE}/").json()["days"][0]["n_queries"] == 40


def test_an_empty_page_says_how_queries_are_kept(people: People, settings: Any) -> None:
    assert "recorded_queries" in page(people.owner)
    path = settings.LAKEWARDEN_LAKES
    said = json.loads(path.read_text(encoding="utf-8"))
    said["main"]["recorded_queries"] = "ops.queries"
    path.write_text(json.dumps(said), encoding="utf-8")
    assert "Nothing is analysed yet" in page(people.owner)
    assert "Analyse now" not in page(people.owner)
    assert "Analyse now" in page(people.operator)
    for user, status in ((people.owner, 403), (people.operator, 302)):
        client = Client(raise_request_exception=False)
        client.force_login(user)
        assert client.post(f"{PAGE}analyse/?lake=main").status_code == status
    client.post(f"{PAGE}analyse/?lake=main")
    assert Run.objects.filter(kind=TOP_KIND).count() == 1, "one is under way"


def test_a_lake_that_keeps_none_is_not_analysed(people: People) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(people.operator)
    answer = client.post(f"{API}analyse/?lake=main")
    assert (answer.status_code, answer.json()["code"]) == (400, "queries.off")
    assert TopShapesKind().scheduled_params("main", now=timezone.now()) is None


@pytest.mark.usefixtures("shapes")
def test_an_analysis_takes_the_place_of_the_one_before(people: People, settings: Any) -> None:
    now = timezone.now()
    run = run_request(TOP_KIND, lake="main", params={}, requested_by="schedule", now=now)
    found = {
        "shape": "4" * 32,
        "engine": "spark",
        "text": "SELECT new",
        "is_parsed": True,
        "names_all_tables": True,
        "n_queries": 3,
        "n_failed": 0,
        "seconds": 6.0,
        "seconds_lately": 6.0,
        "seconds_before": 0.0,
        "p50": None,
        "p95": None,
        "n_bytes": 5,
        "share": 0.2,
        "days": [],
        "last_at": (now - timedelta(days=1)).isoformat(),
        "tables": [{"db": "shop", "table": "ev"}],
    }
    TopShapesKind().ingest(run, {"outcome": "failed", "error": {}, "result": {}})
    assert TopShape.objects.count() == 3
    for _ in range(2):
        manifest = {"outcome": "done", "result": {"shapes": [found], "now": now.isoformat()}}
        TopShapesKind().ingest(run, manifest)
        assert manifest["result"] == {"now": now.isoformat(), "n_shapes": 1}, (
            "the run keeps no text"
        )
    row = TopShape.objects.get()
    assert (row.text, row.is_helped, row.change_percent) == ("SELECT new", True, None)
    assert [str(one) for one in row.tables.all()] == ["shop.ev"]
    assert "SELECT new" in page(people.owner)
    assert not Run.objects.filter(kind=KEEP_KIND).exists()
