"""Tests what a query groups a fact table by, over the joins to its dimensions."""

import pytest

from bench.cube_ssb import QUERIES
from optimizer.advice.domain.asked import Aggregate, asked_in
from optimizer.advice.domain.stars.groupings import StarGrouping, star_groupings
from optimizer.advice.domain.stars.names import (
    Step,
    column_text,
    path_text,
    read_column,
    read_path,
    tables_in,
)
from optimizer.pruning.domain.uses import Names
from tests.unit.optimizer.advice.ssb import SIZES, ssb_columns

NAMES = Names("lake", None, "ssb")
TABLES = {one: f"lake.ssb.{one}" for one in ("lineorder", "date", "customer", "supplier", "part")}
DATE = "via fact.lo_orderdate=ssb.date.d_key"


def grouped(sql: str, dialect: str = "trino") -> StarGrouping:
    found = star_groupings(asked_in(sql, dialect, NAMES, ssb_columns()), SIZES)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize("number", QUERIES)
def test_each_query_of_the_benchmark_is_a_grouping_of_its_fact(number: str) -> None:
    found = grouped(QUERIES[number].format(**TABLES))
    assert (found.table, found.refused) == ("ssb.lineorder", "")
    assert len(found.measures) == 1
    assert f"d_year {DATE}" in " ".join(found.dimensions) or number in ("1.2",)
    n_joined = {"1": 1, "2": 3, "3": 3, "4": 4}[number[0]]
    assert len(found.joins) == n_joined
    words = " ".join([*found.dimensions, *map(str, found.measures), *found.joins])
    for constant in ("MFGR#", "ASIA", "AMERICA", "199", "UNITED", "Dec", "25"):
        assert constant not in words, words


def test_dimensions_measures_and_keys_of_one_query() -> None:
    found = grouped(QUERIES["2.1"].format(**TABLES))
    assert found.dimensions == {
        f"ssb.date.d_year {DATE}",
        "ssb.part.p_brand1 via fact.lo_partkey=ssb.part.p_key",
        "ssb.part.p_category via fact.lo_partkey=ssb.part.p_key",
        "ssb.supplier.s_region via fact.lo_suppkey=ssb.supplier.s_key",
    }
    assert found.measures == {Aggregate("sum", "lo_revenue")}
    assert grouped(QUERIES["1.1"].format(**TABLES)).measures == {
        Aggregate("sum", "lo_extendedprice * lo_discount")
    }


def test_it_does_not_matter_how_a_join_is_written() -> None:
    select = "SELECT p_brand1, sum(lo_revenue), count(*) FROM "
    tail = " WHERE p_category = 'x' GROUP BY 1"
    comma = grouped(f"{select} part p, lineorder WHERE lo_partkey = p_key AND p_category = 'x' "
                    "GROUP BY p_brand1")  # fmt: skip
    joined = grouped(f"{select} lineorder l JOIN part ON p_key = l.lo_partkey{tail}")
    assert comma == joined
    assert comma.measures == {Aggregate("sum", "lo_revenue"), Aggregate("count", "*")}


def test_chains_and_two_dates_have_paths_of_their_own() -> None:
    found = grouped(
        "SELECT o.d_year, c.d_year, min(s_city) FROM lineorder "
        "JOIN date o ON lo_orderdate = o.d_key JOIN date c ON lo_tax = c.d_key "
        "JOIN part ON lo_partkey = p_key JOIN supplier ON p_mfgr = s_key GROUP BY 1, 2"
    )
    assert found.refused == ""
    assert found.dimensions == {
        f"ssb.date.d_year {DATE}",
        "ssb.date.d_year via fact.lo_tax=ssb.date.d_key",
        # Of a dimension the least value follows from its values.
        "ssb.supplier.s_city via fact.lo_partkey=ssb.part.p_key and "
        "ssb.part.p_mfgr=ssb.supplier.s_key",
    }
    assert found.measures == frozenset()
    assert tables_in(found.joins) == {"ssb.date", "ssb.part", "ssb.supplier"}


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT stddev(lo_tax) FROM lineorder", "no cube holds a state of stddev"),
        ("SELECT sum(lo_tax * 2) FROM lineorder", "sum is of an expression"),
        ("SELECT sum(nobody_knows) FROM lineorder, part WHERE lo_partkey = p_key", "expression"),
        ("SELECT sum(lo_tax) FILTER (WHERE lo_discount > 1) FROM lineorder", "sum filter"),
        ("SELECT sum(p_key) FROM lineorder, part WHERE lo_partkey = p_key", "of a column of ssb"),
        ("SELECT count(*) FROM lineorder, part", "joined by no equal columns"),
        ("SELECT count(*) FROM lineorder a, lineorder b WHERE a.lo_tax = b.lo_tax", "itself"),
        (
            "SELECT count(*) FROM lineorder, part, supplier WHERE lo_partkey = p_key "
            "AND lo_suppkey = s_key AND s_city = p_mfgr",
            "joined with each other besides",
        ),
        ("SELECT count(*) FROM lineorder WHERE lo_shipmode LIKE '%A%'", "more than values"),
        ("SELECT count(*) FROM lineorder WHERE EXISTS (SELECT 1 FROM part)", "subquery"),
        ("SELECT count(*) FROM lineorder JOIN (SELECT 1 x) t ON lo_tax = t.x", "a subquery, or"),
        ("SELECT count(*) FROM lineorder WHERE lo_tax = (SELECT 1)", "subquery in a condition"),
        (
            "SELECT count(*) FROM lineorder JOIN part ON lo_partkey = p_key WHERE other > 1",
            "of which the table is not known",
        ),
        ('SELECT count(*) FROM lineorder WHERE "lo tax" = 1', "needs quotes"),
    ],
)
def test_what_no_cube_answers_is_said(sql: str, reason: str) -> None:
    assert reason in grouped(sql).refused


@pytest.mark.parametrize(
    "where",
    ["p_mfgr <> 'x'", "p_mfgr LIKE 'x%'", "p_mfgr IS NULL OR s_city = 'a'", "lo_tax IS NULL"],
)
def test_dimension_tables_may_be_filtered_in_any_way(where: str) -> None:
    sql = "SELECT count(*) FROM lineorder, part, supplier WHERE lo_partkey = p_key "
    assert grouped(f"{sql} AND lo_suppkey = s_key AND ({where})").refused == ""


def test_windows_and_grouping_sets_are_of_what_is_grouped() -> None:
    found = grouped(
        "SELECT lo_tax, sum(sum(lo_revenue)) OVER (ORDER BY lo_tax) FROM lineorder "
        "GROUP BY ROLLUP (lo_tax, lo_shipmode)"
    )
    assert found.dimensions == {"lo_tax", "lo_shipmode"}
    assert found.measures == {Aggregate("sum", "lo_revenue")}


def test_a_name_of_the_list_means_what_stands_there_and_using_is_a_key() -> None:
    found = star_groupings(
        asked_in(
            "SELECT upper(region) AS r, count(*) FROM sales JOIN shops USING (shop) GROUP BY r",
            "spark",
            Names("", None, "d"),
            {"d.sales": frozenset({"shop", "price"}), "d.shops": frozenset({"shop", "region"})},
        ),
        {"d.sales": 9, "d.shops": 1},
    )
    (one,) = found
    assert one.dimensions == {"d.shops.region via fact.shop=d.shops.shop"}
    assert one.refused == ""


def test_each_select_is_read_by_itself_and_one_without_aggregates_not_at_all() -> None:
    sql = (
        "WITH t AS (SELECT lo_tax, sum(lo_revenue) r FROM lineorder GROUP BY lo_tax) "
        "SELECT count(*) FROM part WHERE p_mfgr = 'x' UNION ALL SELECT max(r) FROM t "
        "UNION ALL SELECT p_key FROM part"
    )
    found = star_groupings(asked_in(sql, "trino", NAMES, ssb_columns()), SIZES)
    assert {(one.table, *one.dimensions) for one in found} == {
        ("ssb.lineorder", "lo_tax"), ("ssb.part", "p_mfgr"),
    }  # fmt: skip
    assert star_groupings(asked_in(sql, "trino", NAMES, ssb_columns()), {}) == []


def test_names_are_read_back_as_they_were_written() -> None:
    path = (
        Step("fact", "d.shops", (("a", "b"), ("c", "d"))),
        Step("d.shops", "d.towns", (("town", "id"),)),
    )
    assert read_path(path_text(path)) == path
    assert read_column(column_text(path, "name")) == (path, "name", "")
    assert read_column("plain") == ((), "plain", "")
    for text in ("d.t.c via nothing", "d.t.c via fact.a=d.other.b", "x via fact.a=d.t.b"):
        with pytest.raises(ValueError, match=r"is no|ends at"):
            read_column(text)
