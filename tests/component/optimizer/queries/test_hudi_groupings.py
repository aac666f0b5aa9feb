"""Queries over Hudi tables: their groupings are summed, and answers from aggregates are counted."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from optimizer.advice.domain.asked import Aggregate, Asked, JoinKey
from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.cubes.domain.readers import Engine
from optimizer.iceberg.tables.selectors.groupings import (
    groupings_lately,
    groupings_summed,
    recorded_groupings,
)
from optimizer.models import HudiGrouping, HudiTable, QueryDay, QueryGrouping, ScanDay, ScanShape
from optimizer.queries.domain.query_record import QueryRecord, TableScan
from optimizer.queries.selectors import top_shapes_visible
from optimizer.queries.services.taking import QueryTaken, query_take
from portal.access.models import User
from portal.catalog.services import stored_aggregates
from tests.component.conftest import People
from tests.component.optimizer.hudi.hudi_rows import hudi
from tests.component.optimizer.optimizer_rows import iceberg
from tests.component.optimizer.queries.shape_rows import top_shape
from tests.component.optimizer.queries.test_spark_queries import batch, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
BY_CITY = Asked(
    "shop.rides",
    filters=(Filter("day", FilterKind.RANGE),),
    groups=("city",),
    aggregates=(Aggregate("sum", "price"),),
)
SQL = "SELECT city, sum(price) FROM shop.rides WHERE day > '2026-11-01' GROUP BY city"
Answers = list[tuple[str, str]]


@pytest.fixture(autouse=True)
def rides(people: People) -> HudiTable:
    return hudi("rides", owner=people.owner.username, base_bytes=700, log_bytes=300)


@pytest.fixture
def answers() -> Iterator[Answers]:
    """The aggregates that queries were answered from, as those hear it who keep them."""
    found: Answers = []
    stored_aggregates.register_answered("t", lambda lake, table, _at: found.append((lake, table)))
    yield found
    stored_aggregates.register_answered("t", lambda *_: None)


def take(user: User, *asked: Asked, number: int = 0, **values: Any) -> QueryTaken:
    """Take a query that read tables of `shop`, by name with their bytes."""
    scans = values.pop("scans", {"rides": 50})
    record = QueryRecord(
        Engine.SPARK,
        f"q{number}",
        is_failed=values.pop("is_failed", False),
        scans=tuple(TableScan("shop", name, (), n_bytes=size) for name, size in scans.items()),
        asked=asked,
        catalog="spark_catalog",
        default_db="shop",
        **values,
    )
    return query_take("main", record, user=user, now=timezone.now())


def test_what_a_query_groups_a_hudi_table_by_is_summed_once(
    people: People, rides: HudiTable
) -> None:
    for _ in range(2):
        take(people.owner, BY_CITY, text=SQL, seconds=2.5)
    taken = take(people.owner, BY_CITY, number=1, text=SQL, seconds=1.5)
    assert (taken.scans, taken.unknown, taken.unread) == (1, 0, "")
    one = HudiGrouping.objects.get()
    assert (one.table, one.n_queries, one.n_bytes, one.seconds) == (rides, 2, 100, 4.0)
    assert (one.dimensions, one.measures, one.refused) == (["city", "day"], ["sum(price)"], "")
    assert one.shape == "SELECT city, SUM(price) FROM shop.rides WHERE day > ? GROUP BY city"
    assert one.tables == ["shop.rides"]
    now = timezone.now()
    (summed,) = groupings_summed(rides, now=now)
    assert (summed.digest, summed.n_queries, summed.n_days) == (one.digest, 2, 1)
    (recorded,) = recorded_groupings(groupings_summed(rides, now=now))
    assert recorded.measures == {Aggregate("sum", "price")}
    # No sums of scans are kept of such tables.
    assert not ScanShape.objects.exists()
    assert not ScanDay.objects.exists()
    assert not QueryGrouping.objects.exists()
    day = QueryDay.objects.get()
    assert (day.n_queries, day.n_scans, day.n_unknown, day.n_repeated) == (2, 2, 0, 1)


def test_only_tables_that_are_there_and_that_the_sender_sees_have_groupings(
    people: People, rides: HudiTable
) -> None:
    assert take(people.stranger, BY_CITY, text=SQL).unknown == 1
    rides.is_deleted = True
    rides.save()
    assert take(people.owner, BY_CITY, number=1, text=SQL).unknown == 1
    assert not HudiGrouping.objects.exists()


def test_the_fact_is_the_table_of_which_most_was_read(people: People, rides: HudiTable) -> None:
    cities = hudi("cities", owner=people.owner.username, base_bytes=5_000)
    joined = (
        Asked(
            "shop.rides",
            aggregates=(Aggregate("sum", "price"),),
            joins=(JoinKey("city_id", "shop.cities", "id"),),
        ),
        Asked("shop.cities", groups=("name",), joins=(JoinKey("id", "shop.rides", "city_id"),)),
    )
    take(people.owner, *joined, scans={"rides": 50, "cities": 4})
    (one,) = HudiGrouping.objects.all()
    key = "fact.city_id=shop.cities.id"
    assert (one.table, one.n_bytes, one.refused) == (rides, 50, "")
    assert (one.dimensions, one.joins) == ([f"shop.cities.name via {key}"], [key])
    (shown,) = groupings_lately(rides, people.owner, now=timezone.now())
    assert shown.digest == one.digest
    # Where nobody told what was read, the larger table is the fact.
    take(people.owner, *joined, number=1, scans={"rides": 0, "cities": 0}, n_bytes=600)
    two = HudiGrouping.objects.exclude(pk=one.pk).get()
    assert (two.table, two.n_bytes) == (cities, 500)
    # Whoever does not see a joined table is not shown that it is joined.
    cities.owner = people.stranger.username
    cities.save()
    assert not groupings_lately(rides, people.owner, now=timezone.now())


def test_tables_of_both_formats_of_one_catalog_are_taken_together(
    people: People, rides: HudiTable
) -> None:
    dim = iceberg("dim", now=timezone.now(), owner=people.owner.username)
    joined = (
        Asked(
            "shop.rides",
            aggregates=(Aggregate("count", "*"),),
            joins=(JoinKey("uid", "shop.dim", "uid"),),
        ),
        Asked("shop.dim", groups=("name",), joins=(JoinKey("uid", "shop.rides", "uid"),)),
    )
    assert take(people.owner, *joined, scans={"rides": 50, "dim": 4}).scans == 2
    assert HudiGrouping.objects.get().table == rides
    assert ScanShape.objects.get().table == dim
    assert sum(one.n_scans for one in ScanDay.objects.all()) == 1
    take(people.owner, *joined, number=1, scans={"rides": 5, "dim": 40})
    assert QueryGrouping.objects.get().table == dim


def test_a_query_that_reads_another_table_than_it_asks_for_is_an_answer(
    people: People, answers: Answers
) -> None:
    hudi("by_city", owner=people.owner.username)
    for _ in range(2):
        take(people.owner, BY_CITY, text=SQL, scans={"by_city": 3})
    assert answers == [("main", "shop.by_city")]
    # The fact was not read, so no aggregate of it is missing.
    assert not HudiGrouping.objects.exists()
    iceberg("clicks", now=timezone.now(), owner=people.owner.username)
    of_iceberg = Asked("shop.clicks", aggregates=(Aggregate("count", "*"),))
    take(people.owner, of_iceberg, number=1, scans={"by_city": 3})
    assert answers[1:] == [("main", "shop.by_city")]


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        ((Asked("shop.by_city", groups=("city",)),), {}),
        ((Asked("shop.by_city"), BY_CITY), {}),
        ((BY_CITY,), {"scans": {"by_city": 3, "rides": 50}}),
        ((), {}),
        ((Asked("shop.nowhere"),), {}),
        ((Asked("rides"),), {}),
        ((BY_CITY,), {"scans": {"nowhere": 3}}),
        ((BY_CITY,), {"scans": {}}),
        ((BY_CITY,), {"is_failed": True}),
    ],
    ids=range(9),
)
def test_what_reads_what_it_asks_for_is_no_answer(
    people: People, answers: Answers, asked: tuple[Asked, ...], values: dict[str, Any]
) -> None:
    hudi("by_city", owner=people.owner.username)
    take(people.owner, *asked, **{"scans": {"by_city": 3}, **values})
    assert answers == []


def test_who_reads_a_table_by_name_is_told_apart_from_answers(people: People) -> None:
    found: list[tuple[str, ...]] = []
    stored_aggregates.register_read("t", lambda _lake, tables, _at: found.append(tuple(tables)))
    hudi("by_city", owner=people.owner.username)
    iceberg("clicks", now=timezone.now(), owner=people.owner.username)
    take(people.owner, BY_CITY, scans={"by_city": 3})
    assert found == [], "it was answered"
    both = {"by_city": 3, "rides": 50, "clicks": 1, "nowhere": 1}
    for _ in range(2):
        take(people.owner, number=1, scans=both)
    take(people.owner, number=2, scans=both, is_failed=True)
    stored_aggregates.register_read("t", lambda *_: None)
    assert found == [("shop.by_city", "shop.rides")]


def test_answers_are_counted_of_tables_that_the_sender_sees(
    people: People, answers: Answers
) -> None:
    kept = hudi("by_city", owner=people.stranger.username)
    take(people.owner, BY_CITY, scans={"by_city": 3})
    take(people.stranger, BY_CITY, number=1, scans={"by_city": 3})
    kept.owner, kept.is_deleted = people.owner.username, True
    kept.save()
    take(people.owner, BY_CITY, number=2, scans={"by_city": 3})
    assert answers == []


def test_a_driver_tells_of_hudi_tables_under_the_session_catalog(
    people: People, answers: Answers
) -> None:
    hudi("by_city", owner=people.owner.username)
    said = {
        "execution": 7,
        "state": "FINISHED",
        "ended_at": "2026-11-28T12:00:00Z",
        "seconds": 1.5,
        "scans": [{"db": "shop", "table": "rides", "bytes": 9}],
        "asked": [
            {"db": "shop", "table": "rides", "groups": ["city"], "aggregates": [["count", "*"]]}
        ],
    }
    stored = said | {"execution": 8, "scans": [{"db": "shop", "table": "by_city", "bytes": 1}]}
    address = "/api/optimizer/v1/main/spark/spark_catalog/queries"
    for _ in range(2):
        answer = send(people.owner, batch(said, stored), address=address)
        assert answer.status_code == 202, answer.content
    assert HudiGrouping.objects.get().n_queries == 1
    assert answers == [("main", "shop.by_city")]
    unread = send(people.owner, batch(said | {"execution": 9, "asked": [{}]}), address=address)
    assert unread.json()["unread"] == 1
    assert HudiGrouping.objects.get().n_queries == 1


def test_tables_are_looked_up_at_once_however_many_there_are(
    people: People, django_assert_max_num_queries: Any
) -> None:
    names = [f"t{n}" for n in range(20)]
    for name in names:
        hudi(name, owner=people.owner.username)
    asked = [Asked(f"shop.{name}", select=n) for n, name in enumerate(names)]
    with django_assert_max_num_queries(25):
        assert take(people.owner, *asked, scans=dict.fromkeys(names, 5)).scans == 20


def test_owners_see_what_cost_most_of_their_hudi_tables(people: People) -> None:
    iceberg("dim", now=timezone.now(), owner=people.owner.username)
    both = top_shape(timezone.now(), "shop.rides", "shop.dim")
    top_shape(timezone.now(), "shop.rides", "shop.nowhere", digest="6" * 32)
    assert list(top_shapes_visible("main", people.owner)) == [both]
    assert not top_shapes_visible("main", people.stranger).exists()
