"""Queries are answered from stored aggregates with conditions, as far as these are fresh enough."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from optimizer.rewriting.domain.aggregates import aggregate_facts
from optimizer.rewriting.domain.answers import Answer, rewrite
from optimizer.rewriting.domain.facts import HUDI, TableFacts
from optimizer.rewriting.domain.session import Session
from portal.lake.aggregates import (
    SourceCommit,
    StoredAggregate,
    StoredDimension,
    StoredJoin,
    StoredMeasure,
)

NOW = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)
ORDERS, PLACE, INSTANT = "shop.orders", "file:/lake/shop/orders", 20261128110000000
SHOPS = "shop.shops"
BY_DAY = StoredAggregate(
    name="by_day",
    table="shop.orders_by_day",
    format=HUDI,
    source=ORDERS,
    joins=(StoredJoin("s", SHOPS, (("fact.shop_id", "id"),)),),
    dimensions=(
        StoredDimension("day", "fact.day", "date", "day"),
        StoredDimension("city", "s.city", "string", "town"),
    ),
    measures=(
        StoredMeasure(
            "m0",
            "fact.qty",
            "int",
            {"sum": "CASE WHEN qty_n > 0 THEN CAST(qty_total AS BIGINT) END", "count": "qty_n"},
        ),
        StoredMeasure("m1", "fact.buyer", "int", {"distinct_count": "buyers"}),
    ),
    rows_column="n_rows",
    filters=("fact.state = 'paid'", "fact.qty >= 1"),
    commits={ORDERS: SourceCommit(PLACE, str(INSTANT)), SHOPS: SourceCommit("u", "7")},
    known_at=NOW - timedelta(minutes=5),
    n_rows=10,
    source_rows=1_000,
)
TABLES = {
    ORDERS: TableFacts(
        ORDERS,
        PLACE,
        INSTANT,
        columns={
            "id": "int", "shop_id": "int", "day": "date", "state": "string", "qty": "int",
            "buyer": "int",
        },
        format=HUDI,
    ),
    SHOPS: TableFacts(SHOPS, "u", 7, columns={"id": "int", "city": "string"}, format=HUDI),
}  # fmt: skip
PAID = "WHERE state = 'paid' AND qty >= 1"
BOTH = f"{ORDERS} o JOIN {SHOPS} s ON o.shop_id = s.id"
QUERY = f"SELECT day, sum(qty) AS q, avg(qty) AS a, count(*) AS n FROM {BOTH} {PAID} GROUP BY day"


def answered(
    sql: str,
    dialect: str = "spark",
    one: StoredAggregate = BY_DAY,
    max_lag: timedelta | None = None,
    known: dict[str, TableFacts] = TABLES,
) -> Answer:
    cube = aggregate_facts(one, known, max_lag=max_lag, now=NOW)
    tables = {**known, ORDERS: replace(known[ORDERS], cubes=(cube,))}
    return rewrite(sql, Session(dialect), tables)


def reason(answer: Answer) -> str:
    assert not answer.is_rewritten, answer.sql
    (block,) = answer.blocks
    return answer.reason or block.reason or f"{block.cubes[0].rule}: {block.cubes[0].reason}"


@pytest.mark.parametrize("dialect", ["spark", "trino"])
def test_a_query_with_the_same_conditions_reads_the_aggregate(dialect: str) -> None:
    text = answered(QUERY, dialect).sql
    assert "FROM shop.orders_by_day AS stored" in " ".join(text.split())
    assert "orders AS" not in text
    assert "state" not in text.replace("states", "")
    for column in ("qty_total", "qty_n", "n_rows"):
        assert f"stored.{'`' if dialect == 'spark' else chr(34)}{column}" in text
    assert "shops" not in text
    assert "AS OF" not in text, "the table of an aggregate has no versions"


def test_what_a_query_asks_besides_is_asked_of_the_stored_rows() -> None:
    sql = QUERY.replace("GROUP", "AND day >= DATE '2026-11-01' GROUP")
    assert "stored.`day` >= CAST('2026-11-01' AS DATE)" in answered(sql).sql
    text = answered(QUERY.replace("GROUP", "AND s.city = 'Ulm' GROUP")).sql
    assert "stored.`town` = 'Ulm'" in text


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (QUERY.replace("state = 'paid' AND", ""), "only rows with fact.state = 'paid'"),
        (QUERY.replace("qty >= 1", "qty >= 0"), "only rows with fact.qty >= 1"),
        (QUERY.replace("qty >= 1", "qty >= 2"), "the condition o.qty >= 2"),
        (QUERY.replace("count(*)", "count(DISTINCT buyer)"), "counts of distinct values"),
        (QUERY.replace("sum(qty)", "min(qty)"), "the measure m0 has: count, sum"),
        (
            QUERY.replace(BOTH, ORDERS),
            "it holds rows joined with shop.shops, and the query does not",
        ),
        (QUERY.replace(" JOIN", " LEFT JOIN"), "joined with shop.shops"),
    ],
)
def test_what_the_aggregate_cannot_answer_is_said(sql: str, words: str) -> None:
    assert words in reason(answered(sql))


def test_columns_that_changed_after_the_last_commit_may_be_other_columns_now() -> None:
    known = dict(TABLES)
    known[SHOPS] = replace(known[SHOPS], can_be_pinned=False)
    assert "shop.shops changed after its last commit" in reason(answered(QUERY, known=known))


def test_extremes_of_floats_are_not_answered_as_zeros_have_signs() -> None:
    one = replace(
        BY_DAY, measures=(StoredMeasure("m0", "fact.weight", "double", {"min": "least"}),)
    )
    known = dict(TABLES)
    known[ORDERS] = replace(known[ORDERS], columns={**known[ORDERS].columns, "weight": "double"})
    sql = f"SELECT day, min(weight) AS w FROM {BOTH} {PAID} GROUP BY day"
    assert "negative zeros" in reason(answered(sql, one=one, known=known))


def test_floats_choose_rows_for_the_engine_that_chose_the_stored_ones() -> None:
    """Spark holds NaN for greater than any number, Trino for not comparable."""
    price = replace(BY_DAY, filters=("fact.price > 1",), joins=(), dimensions=BY_DAY.dimensions[:1])
    columns = {**TABLES[ORDERS].columns, "price": "double"}
    tables = {ORDERS: replace(TABLES[ORDERS], columns=columns)}
    facts = aggregate_facts(price, tables, max_lag=None, now=NOW)
    tables[ORDERS] = replace(tables[ORDERS], cubes=(facts,))
    for dialect, is_rewritten in (("spark", True), ("trino", False)):
        for condition in ("price > 1", "price > 1 AND day = DATE '2026-11-27'"):
            sql = f"SELECT day, sum(qty) AS q FROM orders WHERE {condition} GROUP BY day"
            found = rewrite(sql, Session(dialect, schema="shop"), tables)
            assert found.is_rewritten is is_rewritten, (dialect, condition)


def test_parts_of_dates_are_compared_as_numbers() -> None:
    years = replace(
        BY_DAY,
        filters=("year(fact.day) IN (2025, 2026)",),
        joins=(),
        dimensions=BY_DAY.dimensions[:1],
    )
    facts = aggregate_facts(years, TABLES, max_lag=None, now=NOW)
    tables = {ORDERS: replace(TABLES[ORDERS], cubes=(facts,))}
    for dialect in ("spark", "trino"):
        for condition, is_rewritten in (("year(day) = 2026", True), ("year(day) > 2024", False)):
            sql = f"SELECT day, sum(qty) AS q FROM orders WHERE {condition} GROUP BY day"
            found = rewrite(sql, Session(dialect, schema="shop"), tables)
            assert found.is_rewritten is is_rewritten, (dialect, condition)


def test_counts_of_distinct_values_are_those_of_the_stored_groups() -> None:
    sql = (
        f"SELECT o.day, s.city, count(DISTINCT o.buyer) AS n FROM {BOTH} {PAID} "
        "GROUP BY o.day, s.city"
    )
    assert "COALESCE(MAX(states.`m1_distinct_count`), 0)" in answered(sql).sql
    for other in ("GROUP BY ROLLUP (o.day, s.city)", "GROUP BY o.day, upper(s.city)"):
        changed = sql.replace("GROUP BY o.day, s.city", other).replace("o.day, s.city,", "")
        assert "counts of distinct values" in reason(answered(changed))


def test_an_aggregate_that_is_behind_is_used_as_far_as_that_is_allowed() -> None:
    newer = {**TABLES, ORDERS: replace(TABLES[ORDERS], snapshot_id=INSTANT + 1)}
    said = reason(answered(QUERY, known=newer))
    assert "was written to since it was computed 300 s ago, and 0 s is allowed" in said
    assert answered(QUERY, known=newer, max_lag=timedelta(minutes=5)).is_rewritten
    patient = replace(BY_DAY, max_lag=timedelta(minutes=10))
    assert answered(QUERY, one=patient, known=newer).is_rewritten
    strict = answered(QUERY, one=patient, known=newer, max_lag=timedelta(0))
    assert "0 s is allowed" in reason(strict), "what a query says comes first"
    just_now = answered(QUERY, one=replace(BY_DAY, known_at=NOW), known=newer)
    assert "0 s is allowed" in reason(just_now), "behind is behind, however short"
    other = {**TABLES, SHOPS: replace(TABLES[SHOPS], snapshot_id=8)}
    assert "shop.shops was written to" in reason(answered(QUERY, known=other))


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (replace(BY_DAY, known_at=None), "has not been computed yet"),
        (replace(BY_DAY, problem="its last refresh failed"), "its last refresh failed"),
        (
            replace(BY_DAY, commits={**BY_DAY.commits, ORDERS: SourceCommit("else", "1")}),
            "another table of the name shop.orders",
        ),
    ],
)
def test_an_aggregate_of_something_else_is_not_used_however_patient_a_query_is(
    one: StoredAggregate, words: str
) -> None:
    assert words in reason(answered(QUERY, one=one, max_lag=timedelta(days=1)))


def test_a_table_that_is_read_twice_is_read_at_one_commit_or_as_it_was_given() -> None:
    twice = f"WITH d AS ({QUERY}) SELECT * FROM d WHERE q > (SELECT max(qty) FROM {ORDERS})"
    answer = answered(twice)
    assert "read at two places" in answer.reason
    assert answer.sql == twice
    alike = f"WITH d AS ({QUERY}) SELECT d.q FROM d JOIN ({QUERY}) e ON d.day = e.day"
    assert answered(alike).is_rewritten


def test_tables_of_two_formats_are_not_in_every_catalog() -> None:
    iceberg = {
        **TABLES,
        ORDERS: replace(TABLES[ORDERS], format="iceberg", uuid=PLACE),
    }
    assert "through another catalog" in reason(answered(QUERY, "trino", known=iceberg))
    assert answered(QUERY, "spark", known=iceberg).is_rewritten
    named = QUERY.replace(ORDERS, f"lake.{ORDERS}").replace(SHOPS, f"lake.{SHOPS}")
    assert "through another catalog" in reason(answered(named, "spark", known=iceberg))
    assert answered(named, "spark").is_rewritten
