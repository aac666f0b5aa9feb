"""A query is answered from cubes where that is sure to be the same, else the rule is named."""

import json
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.rewriting.domain.answers import rewrite, tables_read
from optimizer.rewriting.domain.facts import CubeFacts, TableFacts
from optimizer.rewriting.domain.session import Session
from portal.lake.errors import RuleViolation
from tests.support.cube_queries import CUBE, PARTLY, QUERIES, STAR, answered, tables

ONE = "FROM ssb.lineorder l"


def reason(sql: str, dialect: str = "trino", cube: CubeFacts = CUBE, zone: str = "") -> str:
    answer = answered(sql, dialect, cube, zone)
    assert not answer.is_rewritten, answer.sql
    assert answer.sql == sql
    if not answer.blocks:
        return answer.reason
    (block,) = answer.blocks
    if block.reason:
        return block.reason
    (one,) = block.cubes
    assert not one.used
    return f"{one.rule}: {one.reason}"


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (f"SELECT 1 {ONE}", "no aggregation of a table of this lake"),
        (f"SELECT note, count(*) {ONE} GROUP BY 1", "dimension: l.note is needed"),
        (f"SELECT count(*) {ONE} WHERE note = 'x'", "filter: the condition l.note = 'x'"),
        (f"SELECT sum(lo_custkey) {ONE}", "measure: SUM(l.lo_custkey) is of no measure"),
        (f"SELECT avg(lo_big) {ONE}", "the measure big has: sum"),
        (f"SELECT sum(lo_big) {ONE}", "type: the sum of big could pass 64 bits"),
        (f"SELECT max(lo_tax) {ONE}", "type: tax is a double"),
        (f"SELECT lo_weight, count(*) {ONE} GROUP BY 1", "type: the dimension weight is a double"),
        (f"SELECT approx_distinct(lo_partkey) {ONE}", "cannot be merged by trino"),
        (f"SELECT approx_distinct(lo_partkey, 0.1) {ONE}", "no sketch is stored"),
        (f"SELECT array_agg(lo_revenue) {ONE}", "cannot be made from stored states"),
        (f"SELECT sum(lo_revenue) OVER () {ONE}", "no aggregation"),
        (f"SELECT rank() OVER (ORDER BY count(*)) {ONE} GROUP BY lo_discount", "window function"),
        (f"SELECT count(*) {ONE} WHERE rand() < 0.5", "RAND() is not known to give the same"),
        (f"SELECT count(*) {ONE} WHERE my_udf(lo_discount)", "is not known to give the same"),
        (f"SELECT count(*) {ONE} WHERE lo_discount IN (SELECT 1)", "holds a subquery"),
        (" ".join(["SELECT count(*)", ONE, "WHERE EXISTS (SELECT 1 FROM x)"]), "holds a subquery"),
        (f"SELECT count(*) {ONE} TABLESAMPLE BERNOULLI (10)", "by a sample"),
        (f"SELECT count(*) {ONE} RIGHT JOIN ssb.part ON lo_partkey = p_partkey", "RIGHT JOIN"),
        (f"SELECT count(*) {ONE} FULL JOIN ssb.part ON lo_partkey = p_partkey", "FULL JOIN"),
        (f"SELECT count(*) {ONE} JOIN ssb.part ON lo_partkey = p_size", "other columns"),
        (f"SELECT count(*) {ONE}, ssb.part", "on other columns than declared"),
        (f"SELECT count(*) {ONE} JOIN ssb.part USING (p_partkey)", "USING"),
        (
            f"SELECT count(*) {ONE} LEFT JOIN ssb.part ON lo_partkey = p_partkey AND p_size > 1",
            "other conditions than equal columns",
        ),
        (
            "SELECT count(*) FROM ssb.part LEFT JOIN ssb.lineorder ON lo_partkey = p_partkey",
            "nulls may stand for rows of ssb.lineorder",
        ),
        (
            f"SELECT count(*) {ONE} JOIN ssb.lineorder m ON l.lo_partkey = m.lo_partkey",
            "reads ssb.lineorder 2 times",
        ),
        ("SELECT count(*) FROM ssb.part", "there is no cube or materialization of ssb.part"),
        ("SELECT count(*) FROM ssb.lineorder FOR VERSION AS OF 3", "a snapshot that it names"),
        (
            "SELECT count(*) FROM ssb.lineorder l, (SELECT 1 AS one) t",
            "it reads from a subquery",
        ),
        (
            "SELECT count(*) FROM ssb.lineorder, other",
            "other is no Iceberg or Hudi table that is known",
        ),
        (f"SELECT count(*) {ONE} WHERE \"$path\" = 'x'", "is a column of none of its tables"),
        (f"SELECT count(l.gone) {ONE}", "is no column of its tables"),
        (f"SELECT sum(count(*)) {ONE} GROUP BY lo_discount", "aggregate of an aggregate"),
        (f"SELECT lo_discount {ONE} GROUP BY 7", "GROUP BY 7 names no column"),
    ],
)
def test_a_query_that_does_not_fit_is_left_with_the_rule_that_failed(sql: str, words: str) -> None:
    assert words in reason(sql)


def test_a_condition_within_a_dimension_is_kept_on_both_sides() -> None:
    sql = f"SELECT count(*) AS n {STAR} WHERE upper(n_name) LIKE 'F%' OR lo_discount + 1 > 3"
    text = answered(sql, cube=PARTLY).sql
    assert 'UPPER(stored."nation") LIKE \'F%\' OR stored."discount" + 1 > 3' in text
    assert "UPPER(n.n_name) LIKE 'F%' OR l.lo_discount + 1 > 3" in text


def test_times_are_cut_in_the_zone_of_the_cube_or_not_at_all() -> None:
    sql = "SELECT date_trunc('hour', lo_at) AS h, count(*) AS n FROM ssb.lineorder GROUP BY 1"
    there = replace(CUBE, view=replace(CUBE.view, time_zone="Asia/Shanghai"))
    assert answered(sql).is_rewritten
    assert "time zone Asia/Shanghai" in reason(sql, cube=there)
    assert "of its session" in reason(sql, "spark")
    assert answered(sql, "spark", zone="UTC").is_rewritten
    assert answered(sql, "spark", there, zone="Asia/Shanghai").is_rewritten
    assert "Asia/Shanghai" in reason(sql, "spark", there, zone="UTC")


@pytest.mark.parametrize(
    ("cube", "words"),
    [
        (replace(CUBE, problem="it has no rows yet"), "coverage: it has no rows yet"),
        (replace(CUBE, uncovered_rows=500, n_uncovered=1, uncovered=("x",)), "does not cover 33 %"),
        (replace(CUBE, uncovered_rows=5, n_uncovered=600), "600 files are not covered"),
        (replace(CUBE, dimensions={**CUBE.dimensions, "cust": (22,)}), "ssb.customer has another"),
        (replace(CUBE, units=tuple((n, n) for n in range(0, 900, 2))), "do not count any more"),
    ],
)
def test_a_cube_that_does_not_cover_enough_is_not_used(cube: CubeFacts, words: str) -> None:
    assert words in reason(QUERIES["total"], cube=cube)


def test_engines_that_cannot_read_chosen_files_need_a_whole_cube() -> None:
    assert answered(QUERIES["total"], "starrocks").is_rewritten
    assert "cannot read chosen files" in reason(QUERIES["total"], "doris", PARTLY)


def test_sums_are_refused_where_they_could_overflow() -> None:
    wide = tuple(
        replace(one, type="decimal(30,2)") if one.name == "price" else one
        for one in CUBE.view.measures
    )
    cube = replace(CUBE, view=replace(CUBE.view, measures=wide))
    assert "could pass 38 digits" in reason("SELECT sum(lo_price) FROM ssb.lineorder", cube=cube)
    many = replace(CUBE, covered_rows=10**13)
    assert "what a double holds" in reason("SELECT avg(lo_revenue) FROM ssb.lineorder", cube=many)
    assert answered("SELECT sum(lo_big) FROM ssb.lineorder", cube=replace(
        CUBE, max_abs={"big": 2**40})).is_rewritten  # fmt: skip


def test_columns_without_a_name_keep_the_name_that_the_engine_gives() -> None:
    sql = "SELECT year(lo_date), count(*), lo_discount FROM ssb.lineorder GROUP BY 1, 3"
    assert 'IF(TRUE, states."year")' in answered(sql).sql
    assert "YEAR(l.lo_date) has no name" in reason(sql.replace("lineorder", "lineorder l"), "spark")
    spark = answered("SELECT count(*), sum(lo_revenue) FROM ssb.lineorder", "spark").sql
    assert "AS `count(1)`" in spark
    assert "AS `sum(lo_revenue)`" in spark


def test_names_of_the_output_are_told_from_columns() -> None:
    sql = (
        "SELECT lo_discount AS d, sum(lo_revenue) AS lo_revenue FROM ssb.lineorder GROUP BY 1 "
        "ORDER BY lo_revenue, d"
    )
    assert "ORDER BY\n  lo_revenue,\n  d" in answered(sql).sql
    mixed = f"{sql.partition('ORDER')[0]} ORDER BY lo_revenue + 1"
    assert "another one of the output" in reason(mixed)
    spark = "SELECT lo_discount AS d, count(*) AS n FROM ssb.lineorder GROUP BY d HAVING n > 2"
    assert answered(spark, "spark").is_rewritten
    assert "none of its tables" in reason(spark)


def test_the_smaller_of_two_cubes_is_used_and_the_other_says_so() -> None:
    small = replace(CUBE, table="ssb.lineorder__cube_small", n_rows=10)
    known = tables()
    known["ssb.lineorder"] = replace(known["ssb.lineorder"], cubes=(CUBE, small))
    answer = rewrite(QUERIES["total"], Session("trino"), known)
    (block,) = answer.blocks
    assert block.used == small.table
    reason = "ssb.lineorder__cube_small answers with fewer rows"
    assert [one.reason for one in block.cubes] == [reason, ""]
    assert "lineorder__cube_small FOR VERSION" in answer.sql


@pytest.mark.parametrize(
    ("first", "second", "used", "reason"),
    [
        (5, 9, "a", "ssb.a answers with fewer rows"),
        (9, 5, "b", "ssb.b answers with fewer rows"),
        (5, 5, "a", "ssb.a answers"),
        (0, 5, "b", "ssb.b answers"),
        (5, 0, "a", "ssb.a answers"),
    ],
)
def test_one_whose_rows_nobody_counted_answers_last(
    first: int, second: int, used: str, reason: str
) -> None:
    """A materialization that was refreshed by an older release does not say how many it has."""
    pair = {"a": first, "b": second}
    cubes = tuple(replace(CUBE, table=f"ssb.{one}", n_rows=n) for one, n in pair.items())
    known = tables()
    known["ssb.lineorder"] = replace(known["ssb.lineorder"], cubes=cubes)
    (block,) = rewrite(QUERIES["total"], Session("trino"), known).blocks
    assert block.used == f"ssb.{used}"
    assert {one.reason for one in block.cubes} == {reason, ""}


def test_names_without_a_database_mean_those_of_the_session() -> None:
    session = Session("trino", schema="ssb", catalog="lake", catalogs=frozenset({"lake"}))
    answer = rewrite("SELECT count(*) FROM lineorder", session, tables())
    assert "FROM ssb.lineorder__cube_sales FOR VERSION AS OF 77" in answer.sql
    for sql in ("SELECT count(*) FROM tpch.ssb.lineorder", "SELECT 1"):
        with pytest.raises(RuleViolation, match="reads 0 tables"):
            tables_read(sql, session)
    common = "WITH part AS (SELECT 1 AS a) SELECT count(*) FROM part, lineorder"
    assert tables_read(common, session) == ["ssb.lineorder"]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT '" + "x" * 2_000_000 + "'", "rewrite.long"),
        ("SELECT " + "(" * 5_000 + "1" + ")" * 5_000, "rewrite.deep"),
        ("SELECT " + "NOT " * 5_000 + "a FROM ssb.lineorder", "rewrite.deep"),
        ("SELECT " + "CASE WHEN a THEN " * 900 + "1" + " END" * 900, "rewrite.deep"),
        ("SELECT 1" + " UNION ALL SELECT 1" * 200, "rewrite.long"),
        ("SELECT 1" + ", 1" * 12_000, "rewrite.long"),
        ("DROP TABLE ssb.lineorder", "rewrite.no_select"),
        ("SELECT 1; SELECT 2", "rewrite.no_select"),
        ("SELECT ((", "rewrite.syntax"),
        ("SELECT 'a", "rewrite.syntax"),
        ("", "rewrite.no_select"),
    ],
)
def test_hostile_texts_are_refused_with_the_rule(sql: str, code: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        rewrite(sql, Session("trino"), tables())
    assert refused.value.code == code


def test_a_query_with_200_conditions_is_answered() -> None:
    where = " AND ".join(f"(lo_discount <> {n} OR p_brand1 = 'b{n}')" for n in range(200))
    sql = f"SELECT p_brand1, count(*) AS n {STAR} WHERE {where} GROUP BY p_brand1"
    assert answered(sql, cube=PARTLY).sql.count("<>") == 400
    terms = " + ".join(["1"] * 2_000)
    assert answered(f"SELECT count(*) AS n {ONE} WHERE lo_discount < {terms}").blocks


def test_what_is_known_goes_through_json() -> None:

    for one in tables(PARTLY).values():
        assert TableFacts.from_json(json.loads(json.dumps(one.to_json()))) == one


def test_arithmetic_is_found_again_in_trino_where_it_cannot_overflow() -> None:
    sql = QUERIES["arithmetic"]
    assert answered(sql).is_rewritten
    for bounds in ({}, {"lo_revenue": (0, 10**9), "lo_discount": (0, 10)}):
        known = tables()
        known["ssb.lineorder"] = replace(known["ssb.lineorder"], bounds=bounds)
        assert not rewrite(sql, Session("trino"), known).is_rewritten
        assert rewrite(sql, Session("spark"), known).is_rewritten
    assert "of no measure" in reason(f"SELECT sum(lo_discount * lo_revenue) {ONE}")
    assert "of no measure" in reason(f"SELECT sum(lo_revenue / lo_discount) {ONE}")


def test_a_table_whose_columns_changed_since_its_snapshot_is_not_pinned() -> None:
    known = tables(PARTLY)
    known["ssb.lineorder"] = replace(known["ssb.lineorder"], can_be_pinned=False)
    answer = rewrite(QUERIES["total"], Session("trino"), known)
    assert not answer.is_rewritten
    assert answer.reason == "the columns of ssb.lineorder changed after its last commit"
    known["ssb.lineorder"] = replace(known["ssb.lineorder"], cubes=(CUBE,))
    assert rewrite(QUERIES["total"], Session("trino"), known).is_rewritten


def test_a_column_that_a_join_makes_equal_to_a_dimension_counts_as_it() -> None:
    keyed = replace(CUBE.view.dimensions[0], name="brand", expression="part.p_partkey", type="int")
    view = replace(CUBE.view, dimensions=(keyed, *CUBE.view.dimensions[1:]))
    cube = replace(CUBE, view=view)
    answer = answered(
        "SELECT lo_partkey AS k, count(*) AS n FROM ssb.lineorder GROUP BY 1", cube=cube
    )
    assert 'states."brand" AS k' in answer.sql


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.randoms())
def test_the_fewest_rows_that_are_known_answer_in_any_order(sizes: list[int], dice: Random) -> None:
    cubes = [replace(CUBE, table=f"ssb.c{n}", n_rows=rows) for n, rows in enumerate(sizes)]
    dice.shuffle(cubes)
    known = tables()
    known["ssb.lineorder"] = replace(known["ssb.lineorder"], cubes=tuple(cubes))
    (block,) = rewrite(QUERIES["total"], Session("trino"), known).blocks
    rows = {one.table: one.n_rows for one in cubes}
    least = min((one for one in sizes if one), default=0)
    assert rows[block.used] == least
    for one in block.cubes:
        is_larger = rows[one.table] > least > 0
        assert one.used or one.reason.endswith(" rows") == is_larger
