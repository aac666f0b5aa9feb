"""Tests what is read from a query: filters by kind, groups, aggregates, and keys of joins."""

import pytest

from optimizer.advice.domain.asked import (
    Aggregate,
    Asked,
    JoinKey,
    asked_in,
)
from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.pruning.domain.uses import Names
from portal.lake.errors import RuleViolation

NAMES = Names(catalog="lake", schema="sales")
COLUMNS = {
    "sales.orders": frozenset({"day", "city", "price", "shop_id", "note", "id"}),
    "sales.shops": frozenset({"shop_id", "region", "id"}),
}


def asked(sql: str, dialect: str = "trino") -> list[Asked]:
    return asked_in(sql, dialect, NAMES, COLUMNS)


def filters(where: str) -> dict[str, str]:
    found = asked(f"SELECT * FROM lake.sales.orders o WHERE {where}")
    (one,) = [one for one in found if one.table == "sales.orders"]
    return {filter.column: filter.kind.value for filter in one.filters}


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("city = 'Kiel'", {"city": "="}),
        ("'Kiel' = City", {"city": "="}),
        ("o.city IN ('Kiel', 'Ulm')", {"city": "IN"}),
        ("city IN ('Kiel')", {"city": "="}),
        ("day BETWEEN DATE '2026-01-01' AND current_date", {"day": "range"}),
        ("price > 5 AND price <= 10", {"price": "range"}),
        ("5 < price", {"price": "range"}),
        ("note LIKE 'a%'", {"note": "prefix"}),
        ("starts_with(note, 'a')", {"note": "prefix"}),
        ("note LIKE 'a%b'", {"note": "contains"}),
        ("lower(note) LIKE '%a%'", {"note": "contains"}),
        ("note LIKE 'abc'", {"note": "="}),
        ("note LIKE concat('a', city)", {"note": "other"}),
        ("note IS NULL", {"note": "null"}),
        ("note IS NOT NULL", {"note": "null"}),
        ("NOT city = 'Kiel'", {"city": "other"}),
        ("city <> 'Kiel'", {"city": "other"}),
        ("city = 'Kiel' OR city IN ('Ulm')", {"city": "IN"}),
        ("price < 1 OR price > 9", {"price": "range"}),
        ("city = 'Kiel' OR price > 9", {"city": "other", "price": "other"}),
        ("(city = 'a' AND price = 1) OR city = 'b'", {"city": "other", "price": "other"}),
        ("city = (SELECT max(region) FROM shops)", {"city": "dynamic"}),
        ("shop_id IN (SELECT shop_id FROM shops WHERE region = 'N')", {"shop_id": "dynamic"}),
        ("price * 2 > 9", {"price": "other"}),
        ("upper(city) = 'KIEL'", {"city": "other"}),
        ("price > id", {"price": "other", "id": "other"}),
        ("TRUE", {}),
    ],
)
def test_a_condition_has_its_kind(where: str, found: dict[str, str]) -> None:
    assert filters(where) == found


def test_groups_aggregates_and_joins_belong_to_their_tables() -> None:
    orders, shops = asked(
        "SELECT region, date_trunc('month', day), count(*), sum(price), count(DISTINCT o.id), "
        "max(price * 2) FROM orders o JOIN shops s ON o.shop_id = s.shop_id AND region <> 'X' "
        "WHERE city = 'Kiel' GROUP BY 1, 2 HAVING avg(price) > 3 ORDER BY min(price)"
    )
    assert orders == Asked(
        "sales.orders",
        filters=(Filter("city", FilterKind.EQUAL),),
        groups=("day",),
        aggregates=(
            Aggregate("count", "*"),
            Aggregate("sum", "price"),
            Aggregate("count distinct", "id"),
            Aggregate("max", ""),
            Aggregate("avg", "price"),
            Aggregate("min", "price"),
        ),
        joins=(JoinKey("shop_id", "sales.shops", "shop_id"),),
    )
    assert orders.select == shops.select == 0
    assert shops == Asked(
        "sales.shops",
        filters=(Filter("region", FilterKind.OTHER),),
        groups=("region",),
        joins=(JoinKey("shop_id", "sales.orders", "shop_id"),),
    )


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("sum(price * id)", ("sum", "price * id")),
        ("sum((Price - o.id) * -id)", ("sum", "(price - id) * -id")),
        ("sum(price * 2)", ("sum", "")),
        ("sum(price + length(note))", ("sum", "")),
        ("count(1)", ("count", "*")),
        ("sum(price) FILTER (WHERE id > 5)", ("sum filter", "price")),
        ("approx_distinct(id)", ("approxdistinct", "id")),
    ],
)
def test_arithmetic_of_columns_stands_as_it_is_and_nothing_with_a_constant(
    expression: str, found: tuple[str, str]
) -> None:
    (one,) = asked(f"SELECT {expression} FROM orders o")
    assert one.aggregates == (Aggregate(*found),)


def test_an_aggregate_over_a_window_is_none_of_the_query() -> None:
    (one,) = asked("SELECT sum(price) OVER (PARTITION BY city), max(sum(id)) OVER () FROM orders")
    assert one.aggregates == (Aggregate("sum", "id"),)


@pytest.mark.parametrize(
    ("tail", "unfit"),
    [
        ("WHERE EXISTS (SELECT 1 FROM shops)", "has a subquery in a condition"),
        (", (SELECT 1 AS x) t", "reads a subquery, or what is no table of the lake, beside it"),
        ("LEFT SEMI JOIN shops s ON s.id = o.id", "is only looked up by a semi or anti join"),
        ("WHERE day = strange", ""),
        (", shops s WHERE day = strange", "names a column of which the table is not known"),
        ("WHERE day > 5", ""),
    ],
)
def test_what_is_not_told_otherwise_is_said(tail: str, unfit: str) -> None:
    first = asked(f"SELECT count(*) FROM orders o {tail}", "spark")
    assert {one.unfit for one in first if one.table == "sales.orders"} == {unfit}


def test_each_select_has_a_number() -> None:
    found = asked("SELECT 1 FROM orders, shops UNION ALL SELECT 2 FROM orders")
    assert [(one.table, one.select) for one in found] == [
        ("sales.orders", 0), ("sales.shops", 0), ("sales.orders", 1),
    ]  # fmt: skip


def test_keys_of_using_belong_to_both_tables() -> None:
    orders, shops = asked("SELECT 1 FROM orders JOIN shops USING (shop_id)")
    assert orders.joins == (JoinKey("shop_id", "sales.shops", "shop_id"),)
    assert shops.joins == (JoinKey("shop_id", "sales.orders", "shop_id"),)


def test_a_column_of_two_tables_without_a_name_is_left_out() -> None:
    orders, shops = asked("SELECT 1 FROM orders, shops WHERE id = 5 AND region = 'N'")
    assert orders.filters == ()
    assert shops.filters == (Filter("region", FilterKind.EQUAL),)


def test_each_place_of_a_table_has_its_own_conditions() -> None:
    first, second = asked(
        "WITH kiel AS (SELECT * FROM orders WHERE city = 'Kiel') "
        "SELECT * FROM kiel JOIN orders AS o ON o.id = kiel.id WHERE o.price > 5"
    )
    assert {one.column for one in first.filters + second.filters} == {"city", "price", "id"}
    assert first.filters == (Filter("city", FilterKind.EQUAL),)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO x SELECT * FROM lake.sales.orders WHERE city = 'Kiel'",
        "CREATE TABLE x AS SELECT * FROM lake.sales.orders WHERE city = 'Kiel'",
    ],
)
def test_what_a_statement_reads_is_asked_too(sql: str) -> None:
    assert [one.filters for one in asked(sql)] == [(Filter("city", FilterKind.EQUAL),)]


@pytest.mark.parametrize("sql", ["SELECT 1", "DROP TABLE lake.sales.orders", "SELECT 1; SELECT 2"])
def test_what_reads_no_table_asks_nothing(sql: str) -> None:
    assert asked(sql) == []


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(RuleViolation) as refused:
        asked("SELECT FROM WHERE (")
    assert refused.value.code == "advice.syntax"
