"""Aggregate queries answered from cubes in Spark: the rows of the table itself."""

import pytest
from pyspark.sql import functions as f

from tests.support.cube_star import FILES, Questions, Star
from tests.support.cube_tables import SqlCube

PRODUCT = "JOIN lake.shop.product p ON s.item = p.p_id"
STORE = "JOIN lake.shop.store t ON t.s_id = s.shop"

USED = [
    "SELECT count(*) FROM {s}",
    "SELECT sum(qty), count(qty), avg(qty), avg(price), avg(cost) FROM {s} WHERE shop = 77",
    "SELECT channel, sum(price * qty) FROM {s} GROUP BY channel",
    "SELECT DISTINCT p_brand, s_city FROM {s} {product} {store}",
    "SELECT p_brand, count(*) AS n FROM {s} {product} GROUP BY p_brand HAVING n > 9 "
    "ORDER BY n, p_brand LIMIT 2",
    "SELECT c_group, max(price) FROM lake.shop.category c, {s}, lake.shop.product p "
    "WHERE c.c_id = p.p_cat AND p.p_id = s.item AND p.p_brand LIKE 'b%' GROUP BY c_group",
    "SELECT s_id, sum(qty) FROM {s} {store} WHERE shop > 1 GROUP BY s_id",
    "SELECT s_city, sum(cost) FROM {s} LEFT JOIN lake.shop.store t ON t.s_id = s.shop "
    "GROUP BY s_city",
    "SELECT shop, count(DISTINCT cost), count(DISTINCT channel), count(*) FROM {s} GROUP BY shop",
    "SELECT month(trunc(day, 'MM')) AS m, min(weight), max(id) FROM {s} GROUP BY m",
    "SELECT month(trunc(day, 'mon')) AS m, count(*) FROM {s} GROUP BY m",
    "SELECT sum(qty) FILTER (WHERE channel IS NULL), count(*) FILTER (WHERE shop = 1) FROM {s}",
    "SELECT * FROM (SELECT shop, sum(qty) AS q FROM {s} GROUP BY shop) a JOIN "
    "(SELECT shop, count(*) AS n FROM {s} GROUP BY shop) b USING (shop)",
    "SELECT shop, sum(sum(qty)) OVER (ORDER BY shop) FROM {s} GROUP BY shop",
]

UNUSED = {
    "SELECT sum(weight) FROM {s}": "no sum of",
    "SELECT count(*) FROM {s} WHERE note = 'n5'": "note is no dimension",
    "SELECT item, count(*) FROM {s} GROUP BY item": "item is no dimension",
    "SELECT trunc(day, 'YEAR') AS y, count(*) FROM {s} GROUP BY y": "day is no dimension",
    "SELECT stddev(qty) FROM {s}": "has no state",
    "SELECT sum(CASE WHEN shop = 1 THEN qty END) FROM {s}": "no sum of",
    "SELECT count(*) FROM {s} WHERE rand() > 0.5": "not deterministic",
    "SELECT count(*) FROM (SELECT * FROM {s} LIMIT 5)": "below the aggregate",
    "SELECT count(*) FROM {s} JOIN lake.shop.product p ON s.shop = p.p_id": "no such join",
    "SELECT count(*) FROM {s} JOIN lake.shop.store a ON a.s_id = s.shop "
    "JOIN lake.shop.store b ON b.s_id = s.shop": "no such join",
    "SELECT count(*) FROM {s} LEFT SEMI JOIN lake.shop.store t ON t.s_id = s.shop": "join",
    "SELECT count(*) FROM {s} WHERE shop IN (SELECT s_id FROM lake.shop.store)": "subquery",
    "SELECT count(*) FROM {s} LEFT JOIN lake.shop.store t ON t.s_id = s.shop AND s_city = 'c1'": (
        "outer join"
    ),
    "SELECT s_city, count(*) FROM lake.shop.store t LEFT JOIN {s} ON t.s_id = s.shop "
    "GROUP BY s_city": "none of lake.shop.sales",
    "SELECT s_city, count(*) FROM {s} RIGHT JOIN lake.shop.store t ON t.s_id = s.shop "
    "GROUP BY s_city": "none of lake.shop.sales",
    "SELECT count(*) FROM {s} WHERE NOT ((note IS NOT NULL) <=> true) AND note IS NOT NULL": (
        "note is no dimension"
    ),
    "SELECT try_sum(qty) FROM {s}": "try_sum",
    "SELECT shop, channel, count(*) FROM {s} GROUP BY shop, channel WITH ROLLUP": "Expand",
}


def ask(query: str) -> str:
    return query.format(s="lake.shop.sales s", product=PRODUCT, store=STORE)


@pytest.fixture(scope="module")
def whole(star: Star) -> SqlCube:
    """A cube of seven units, of which some have several files."""
    files = star.live()
    assert len(files) == FILES
    units = {1: files[:3], 2: files[3:5], **{i: [files[i + 2]] for i in range(3, 8)}}
    return star.cube().build(units).publish()


@pytest.mark.usefixtures("whole")
def test_what_a_cube_has_is_answered_from_it(star: Star) -> None:
    assert [query for query in USED if not star.same(ask(query))] == []


@pytest.mark.usefixtures("whole")
def test_what_it_has_not_is_left_alone_and_the_rule_is_named(star: Star) -> None:
    said = {query: star.why(ask(query)) for query in UNUSED}
    assert {q: lines for q, lines in said.items() if UNUSED[q] not in " ".join(lines)} == {}


@pytest.mark.usefixtures("whole")
def test_random_queries_are_equal(star: Star) -> None:
    questions = Questions(1)
    used = sum(star.same(questions.ask()) for _ in range(25))
    assert used > 6, used


@pytest.mark.usefixtures("whole")
def test_data_frames_are_answered_and_explain_says_so(star: Star) -> None:
    sold = star.spark.table("lake.shop.sales")
    product = star.spark.table("lake.shop.product")
    frame = (
        sold.join(product, sold.item == product.p_id)
        .where(f.col("p_brand").isin("b1", "b3"))
        .groupBy("p_brand")
        .agg(f.sum("qty").alias("q"), f.countDistinct("channel"))
    )
    plan = frame._jdf.queryExecution().toString()
    assert "[Cube shop.sales__cube_star of lake.shop.sales: 3000 rows from it" in plan
    found = sorted(map(tuple, frame.collect()))
    star.spark.conf.set("spark.lakewarden.cubes.enabled", "false")
    try:
        assert found == sorted(map(tuple, frame.select("*").collect()))
    finally:
        star.spark.conf.set("spark.lakewarden.cubes.enabled", "true")


@pytest.mark.usefixtures("whole")
def test_a_sketch_answers_what_is_approximate_anyway(star: Star) -> None:
    query = "SELECT approx_count_distinct(id) AS n FROM lake.shop.sales"
    assert "Cube shop.sales__cube_star" in " ".join(star.why(query))
    assert abs(star.sql(query).collect()[0].n - 3000) < 150


@pytest.mark.usefixtures("whole")
def test_ansi_mode_uses_plain_columns_only(star: Star) -> None:
    star.spark.conf.set("spark.sql.ansi.enabled", "true")
    try:
        assert star.same(
            "SELECT channel, sum(qty), sum(cost) FROM lake.shop.sales GROUP BY channel"
        )
        why = star.why("SELECT sum(price * qty) FROM lake.shop.sales")
        assert "no sum of" in " ".join(why)
    finally:
        star.spark.conf.set("spark.sql.ansi.enabled", "false")
