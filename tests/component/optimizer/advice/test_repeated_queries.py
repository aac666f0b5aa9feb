"""What is told of repeated queries over Hudi tables, and the advice that comes of it."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from optimizer.advice.domain.asked import Aggregate
from optimizer.advice.domain.stars.groupings import StarGrouping
from optimizer.advice.services import repeated_queries
from optimizer.advice.services.repeated_queries import HudiQueryLog
from optimizer.iceberg.tables.services.groupings import GroupedQuery, grouping_report
from optimizer.models import HudiTable
from pipelines.materialized.services.advice_finding import advice_find
from pipelines.models import Materialization, MaterializationAdvice
from portal.catalog.domain.repeated_queries import RepeatedQueries
from portal.catalog.services.stored_aggregates import query_logs
from tests.component.optimizer.hudi.hudi_rows import hudi

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
GB = 1 << 30
LOG = HudiQueryLog()


def asked(
    row: HudiTable, *dimensions: str, n: int = 10, function: str = "sum", days: int = 4
) -> None:
    """Record queries of some days, n of each."""
    measures = frozenset({Aggregate(function, "price")})
    grouping = StarGrouping(str(row), frozenset(dimensions), measures)
    query = GroupedQuery(GB, 2.0, f"SELECT {','.join(dimensions)}", (str(row),))
    for day in range(days):
        for _ in range(n):
            grouping_report(row, grouping, query, now=NOW - timedelta(days=day))


def told(**kept: list[str]) -> list[RepeatedQueries]:
    definitions = {name.replace("__", "."): sqls for name, sqls in kept.items()}
    return [one for _, queries in LOG.repeated("main", definitions, now=NOW) for one in queries]


@pytest.fixture
def orders() -> HudiTable:
    return hudi("orders", base_bytes=3 * GB, log_bytes=GB)


def test_groupings_that_repeat_are_told_with_the_select_that_answers_them(
    orders: HudiTable,
) -> None:
    asked(orders, "city")
    asked(orders, "city", "dt", n=5)
    (widest, *others) = told()
    assert widest.table == str(orders)
    assert widest.sql == (
        "SELECT fact.city AS city,\n  fact.dt AS dt,\n  count(*) AS n_rows,\n"
        f"  sum(fact.price) AS price_sum\nFROM {orders} fact\nGROUP BY fact.city, fact.dt"
    )
    assert (widest.n_queries, widest.n_days, widest.n_bytes) == (60, 4, 60 * GB)
    assert (widest.all_bytes, widest.table_bytes) == (60 * GB, 4 * GB)
    shapes = {one.shape: (one.n_queries, one.n_days, one.seconds) for one in widest.groupings}
    assert shapes == {"SELECT city": (40, 4, 80.0), "SELECT city,dt": (20, 4, 40.0)}
    for one in others:
        assert len(one.groupings) < len(widest.groupings)


def test_what_is_kept_already_is_not_told(orders: HudiTable) -> None:
    asked(orders, "city")
    (first,) = told()
    name = str(orders).replace(".", "__")
    assert told(**{name: [first.sql]}) == []
    plain = f"SELECT city, dt, sum(price) AS p FROM {orders} GROUP BY city, dt"
    assert told(**{name: [plain]}) == []
    other = f"SELECT dt, sum(price) AS p FROM {orders} GROUP BY dt"
    of_some = f"SELECT city, sum(price) AS p FROM {orders} WHERE dt > 'x' GROUP BY city"
    assert told(**{name: [other, of_some]}) == [first]


@pytest.mark.parametrize(
    ("dimensions", "function", "days"),
    [((), "sum", 4), (("city",), "approxdistinct", 4), (("city",), "sum", 2)],
)
def test_what_no_sql_keeps_or_too_few_days_ask_is_not_told(
    orders: HudiTable, dimensions: tuple[str, ...], function: str, days: int
) -> None:
    asked(orders, *dimensions, function=function, days=days)
    assert told() == []


def test_tables_that_are_gone_or_of_another_lake_are_not_told(orders: HudiTable) -> None:
    asked(hudi("gone", is_deleted=True), "city")
    asked(hudi("far", lake="other"), "city")
    assert told() == []
    assert [table for table, _ in LOG.repeated("other", {}, now=NOW)] == ["shop.far"]


def test_each_table_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_queries, "TABLES_A_TURN", 2)
    for name in ("a", "b", "c", "d", "e"):
        asked(hudi(name), "city", n=6)
    turns = [
        {table for table, _ in LOG.repeated("main", {}, now=NOW + timedelta(hours=hour))}
        for hour in range(3)
    ]
    assert sorted(map(len, turns)) == [1, 2, 2]
    assert set().union(*turns) == {f"shop.{name}" for name in "abcde"}


def test_queries_since_a_day_are_counted(orders: HudiTable) -> None:
    asked(orders, "city")
    asked(orders, "dt", n=1)
    (digest,) = {one.digest for one in told()[0].groupings if one.dimensions == ("city",)}
    since = (NOW - timedelta(days=1)).date()
    assert LOG.n_asked("main", str(orders), since=since, digests=[digest]) == 20
    assert LOG.n_asked("other", str(orders), since=since, digests=[digest]) == 0
    assert LOG.hears("main", since=since)
    assert not LOG.hears("main", since=(NOW + timedelta(days=1)).date())
    assert not LOG.hears("other", since=since)


def test_a_fixed_number_of_queries_is_asked_for_any_number_of_shapes(
    orders: HudiTable, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for name in ("city", "dt", "shop", "kind"):
        asked(orders, name, n=6)
    with django_assert_max_num_queries(12):
        assert told()


def test_the_portal_makes_advice_of_it(orders: HudiTable) -> None:
    assert any(isinstance(one, HudiQueryLog) for one in query_logs()), "it is registered"
    asked(orders, "city")
    assert advice_find("main", now=NOW) == 1
    row = MaterializationAdvice.objects.get()
    assert (row.name, row.facts) == (f"{orders}_by_city", str(orders))
    Materialization.objects.create(
        **{"lake": "main", "db": "marts", "table": "days", "location": "file:/x", "sql": row.sql},
        **{"identity": "6f2f2f60-8f4c-4d55-a94e-1b1f6d1f7a11", "owner": "olga", "set_by": "olga"},
        **{"set_at": NOW, "next_at": NOW, "source": str(orders)},
    )
    assert advice_find("main", now=NOW) == 0
    row.refresh_from_db()
    assert row.state == "OUTDATED"
