"""What repeated queries ask, as the SELECT of one aggregate, and what a SELECT holds."""

import pytest

from optimizer.advice.domain.asked import asked_in
from optimizer.advice.domain.stars.drafts import Held, held_for
from optimizer.advice.domain.stars.groupings import star_groupings
from optimizer.advice.domain.stars.selects import can_be_kept, held_by_select, select_of
from optimizer.pruning.domain.uses import Names

COLUMNS = {
    "shop.orders": ["city", "price", "qty", "who", "dt", "store", "n_rows"],
    "shop.stores": ["region", "id", "city"],
}
JOINED = """SELECT s.region, date_trunc('month', o.dt), sum(o.price * o.qty), max(o.qty)
FROM shop.orders o JOIN shop.stores s ON o.store = s.id WHERE s.city IN ('a', 'b')
GROUP BY s.region, date_trunc('month', o.dt)"""


def held(sql: str) -> Held:
    asked = asked_in(sql, "spark", Names(), COLUMNS)
    (found,) = star_groupings(asked, {"shop.orders": 1})
    assert not found.refused
    return held_for(found.dimensions, found.measures, found.joins)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT city, sum(price), avg(qty), count(DISTINCT who) FROM shop.orders "
        "WHERE dt = '2026-01-01' GROUP BY city",
        "SELECT year(dt), count(qty), min(price), max(price) FROM shop.orders GROUP BY year(dt)",
        "SELECT n_rows, count(*) FROM shop.orders GROUP BY n_rows",
        JOINED,
    ],
)
def test_the_select_holds_what_the_queries_ask(sql: str) -> None:
    asked = held(sql)
    assert can_be_kept(asked)
    _, text = select_of(asked, "shop.orders")
    found = held_by_select(text)
    assert found is not None
    table, holds = found
    assert table == "shop.orders"
    assert holds.answers(asked)


def test_the_select_has_groups_joins_and_a_name_for_each_column() -> None:
    name, text = select_of(held(JOINED), "shop.orders")
    assert name == "orders_by_dt_city"
    assert text == (
        "SELECT fact.dt AS dt,\n"
        "  stores.city AS city,\n"
        "  stores.region AS region,\n"
        "  count(*) AS n_rows,\n"
        "  max(fact.qty) AS qty_max,\n"
        "  sum(fact.price * fact.qty) AS price_qty_sum\n"
        "FROM shop.orders fact\n"
        "JOIN shop.stores stores ON fact.store = stores.id\n"
        "GROUP BY fact.dt, stores.city, stores.region"
    )


def test_names_of_columns_are_never_given_twice() -> None:
    _, text = select_of(held("SELECT n_rows, sum(qty) FROM shop.orders GROUP BY n_rows"), "a.b")
    assert "fact.n_rows AS n_rows" in text
    assert "count(*) AS n_rows_2" in text


def test_sketches_and_what_has_no_groups_are_not_kept() -> None:
    assert not can_be_kept(held("SELECT count(*) FROM shop.orders"))
    sketch = "SELECT city, approx_count_distinct(who) FROM shop.orders GROUP BY city"
    assert not can_be_kept(held(sketch))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT city, count(*) AS n FROM shop.orders WHERE qty > 3 GROUP BY city",
        "SELECT city, median(qty) AS m FROM shop.orders GROUP BY city",
        "SELECT city FROM shop.orders",
        "not SQL at all (",
    ],
)
def test_of_some_rows_or_of_more_than_groups_nothing_is_said(sql: str) -> None:
    assert held_by_select(sql) is None


def test_columns_without_a_table_are_those_of_the_only_one() -> None:
    found = held_by_select("SELECT city, sum(qty) AS q FROM shop.orders GROUP BY city")
    assert found is not None
    assert found[1].answers(held("SELECT city, sum(qty) FROM shop.orders GROUP BY city"))
