"""What queries group by is summed up as their events come: no text and no constant is kept."""

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.advice.domain.asked import Aggregate, Asked, JoinKey
from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.cubes.domain.readers import Engine
from optimizer.iceberg.tables.services.groupings import BEYOND, MOST_GROUPINGS
from optimizer.models import IcebergTable, QueryDay, QueryGrouping, ScanShape
from optimizer.queries.domain.query_record import QueryRecord, TableScan
from optimizer.queries.services.taking import query_take
from portal.access.models import User
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import iceberg
from tests.component.optimizer.queries.test_trino_queries import send
from tests.component.portal.ui.table_rows import listed
from tests.golden.trino import events

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
COLUMNS = {
    "ev": ("id", "uid", "city", "note", "price", "qty", "ts", "day", "dbl", "bool_col", "props"),
    "dim": ("uid", "name"),
}
KEY = "fact.uid=shop.dim.uid"


@pytest.fixture(autouse=True)
def tables(people: People) -> list[IcebergTable]:
    """The two tables of the recorded queries, with their columns."""
    rows = []
    for name, columns in COLUMNS.items():
        listed(name, format="iceberg")
        row = iceberg(name, now=timezone.now(), owner=people.owner.username)
        row.n_bytes, row.columns = 90_000, dict.fromkeys(columns, "int")
        row.save()
        rows.append(row)
    return rows


def client_of(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def take(user: User, text: str = "", number: int = 0, **values: Any) -> None:
    scans = values.pop("scans", ("ev",))
    record = QueryRecord(
        Engine.TRINO,
        f"q{number}",
        is_failed=False,
        scans=tuple(
            TableScan("shop", one, (), n_bytes=9 - place) for place, one in enumerate(scans)
        ),
        text=text,
        catalog="lake",
        default_db="shop",
        **values,
    )
    query_take("main", record, user=user, now=timezone.now())


def test_recorded_queries_become_groupings(people: People, tables: list[IcebergTable]) -> None:
    for one in events():
        assert send(people.owner, one).status_code == 202
    found = {tuple(one.dimensions): one for one in QueryGrouping.objects.filter(refused="")}
    star = found[(f"shop.dim.name via {KEY}",)]
    assert (star.measures, star.joins, star.n_queries) == (["sum(price)"], [KEY], 1)
    assert star.table == tables[0]
    # As its scans count: all of the table.
    assert star.n_bytes == 90_000
    assert star.shape == (
        "SELECT d.name, SUM(e.price) FROM ev AS e JOIN dim AS d ON e.uid = d.uid "
        "WHERE d.name = ? GROUP BY d.name"
    )
    assert star.tables == ["shop.dim", "shop.ev"]
    assert found[("ts",)].measures == ["sum(price)"]
    refused = {one.refused for one in QueryGrouping.objects.exclude(refused="")}
    assert refused == {
        "qty is filtered by more than values and ranges",
        "the SELECT reads a subquery, or what is no table of the lake, beside it",
        "the SELECT has a subquery in a condition",
    }
    for constant in ("n5", "berlin", "2026", "fox", "4.00"):
        assert constant not in json.dumps(list(QueryGrouping.objects.values("shape", "dimensions")))
    day = QueryDay.objects.get()
    # The view, which hides its table.
    assert (day.n_unparsed, day.unparsed) == (1, "It reads shop.ev through a view.")
    client = client_of(people.owner)
    page = client.get("/optimizer/advice/?lake=main").content.decode()
    assert "of whose text nothing could be read: It reads shop.ev through a view." in page
    (told,) = client.get("/api/v1/optimizer/queries/?lake=main").json()
    assert (told["n_unparsed"], told["n_unread"]) == (1, 0)


def test_a_query_that_comes_again_is_counted_once(people: People) -> None:
    for _ in range(2):
        take(people.owner, "SELECT count(*) FROM ev WHERE city = 'x'", seconds=2.5)
    take(people.owner, "SELECT count(*) FROM ev WHERE city = 'y'", 1, seconds=1.5)
    one = QueryGrouping.objects.get()
    assert (one.n_queries, one.seconds) == (2, 4.0)


def test_what_an_engine_tells_is_taken_before_its_text(people: People) -> None:
    asked = (
        Asked(
            "shop.ev",
            filters=(Filter("city", FilterKind.EQUAL),),
            aggregates=(Aggregate("sum", "price"),),
            joins=(JoinKey("uid", "shop.dim", "uid"),),
        ),
        Asked("shop.dim", groups=("name",), joins=(JoinKey("uid", "shop.ev", "uid"),)),
    )
    take(people.owner, "no SQL at all (", scans=("ev", "dim"), asked=asked, has_own_reports=True)
    one = QueryGrouping.objects.get()
    assert one.dimensions == ["city", f"shop.dim.name via {KEY}"]
    assert (one.shape, QueryDay.objects.get().n_unparsed) == ("", 0)
    assert not ScanShape.objects.exists(), "the engine reports its scans apart"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT (", "cannot be read"),
        ("SELECT " + "(" * 500 + "1" + ")" * 500 + " FROM ev", "nested too deeply"),
        ("SELECT " + ", ".join(["uid"] * 30_000) + " FROM ev", "words"),
        ("x" * 200_001, "more than 200,000 characters"),
        ("SELECT 'open FROM ev", "cannot be read"),
        ("SELECT \x00 \ud83d FROM ev WHERE", "cannot be read"),
        ("SELECT count(*) FROM v_ev", "through a view"),
        ("DROP TABLE ev; SELECT 1", ""),
        ("DELETE FROM ev WHERE city = 'x'", ""),
        ("", ""),
    ],
    ids=range(10),
)
def test_hostile_and_unreadable_texts_are_counted(people: People, text: str, reason: str) -> None:
    take(people.owner, text)
    day = QueryDay.objects.get()
    assert (day.n_queries, day.n_unparsed) == (1, int(reason != ""))
    assert reason in day.unparsed
    assert not QueryGrouping.objects.exists()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM ev WHERE \"<script>alert(1)</script>\" = 'x'",
        'SELECT count(*) AS "\'; DROP TABLE x; --" FROM ev GROUP BY city',
        "SELECT count(*) FROM ev -- 4711\n WHERE city = '4711' /* 4711 */",
        "SELECT sum(price * 4711) FROM ev WHERE city IN ('4711', 'b')",
        "SELECT count(*) FROM ev WHERE city = '4711' GROUP BY uid % 4711",
        'SELECT count(*) AS "a\nb" FROM ev GROUP BY city',
    ],
)
def test_nothing_of_a_constant_or_comment_is_kept(people: People, text: str) -> None:
    take(people.owner, text)
    kept = json.dumps(list(QueryGrouping.objects.values("shape", "dimensions", "measures")))
    assert QueryGrouping.objects.count() == 1
    assert "4711" not in kept
    page = client_of(people.owner).get("/tables/shop/ev/scans/?lake=main").content.decode()
    assert "<script>alert(1)" not in page


def test_a_shape_that_names_another_table_is_not_kept(people: People) -> None:
    take(people.owner, "INSERT INTO secret SELECT count(*) FROM ev")
    take(people.owner, "SELECT count(*) FROM ev, pg.public.people p WHERE p.id = uid", 1)
    assert {one.shape for one in QueryGrouping.objects.all()} == {""}


def test_made_up_groupings_do_not_fill_the_database(
    people: People, tables: list[IcebergTable]
) -> None:
    tables[0].columns = {}
    tables[0].save()
    for number in range(MOST_GROUPINGS + 3):
        take(people.owner, f"SELECT count(*) FROM ev WHERE made_up_{number} = 1", number)
    assert QueryGrouping.objects.count() == MOST_GROUPINGS + 1
    other = QueryGrouping.objects.get(digest="")
    assert (other.n_queries, other.refused, other.shape) == (3, BEYOND, "")


def test_a_person_sees_groupings_of_tables_that_they_see(
    people: People, tables: list[IcebergTable]
) -> None:
    take(
        people.owner,
        "SELECT name, sum(price) FROM ev JOIN dim d ON ev.uid = d.uid GROUP BY 1",
        scans=("ev", "dim"),
    )
    take(people.owner, "SELECT count(*), stddev(price) FROM ev", 1)
    address = f"/api/v1/optimizer/tables/{tables[0].pk}/scans/"
    tab = "/tables/shop/ev/scans/?lake=main"
    client = client_of(people.owner)
    shown = client.get(address).json()["groupings"]
    assert [one["refused"] for one in shown] == ["", "no cube holds a state of stddev"]
    page = client.get(tab).content.decode()
    for words in (f"shop.dim.name via {KEY}", "sum(price)", "no cube holds a state of stddev"):
        assert words in page, words
    IcebergTable.objects.filter(table="dim").update(owner="somebody else")
    assert len(client.get(address).json()["groupings"]) == 1
    assert "shop.dim" not in client.get(tab).content.decode()
    assert client_of(people.stranger).get(address).status_code == 404


def test_a_table_without_groupings_says_how_engines_tell(people: People) -> None:
    page = client_of(people.owner).get("/tables/shop/ev/scans/?lake=main").content.decode()
    assert "No engine has told of a query that aggregates" in page
