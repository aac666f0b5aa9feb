"""Tests which columns of joined tables a policy may name, and by which joins they are found."""

from typing import Any

import pytest

from optimizer.cubes.domain.declared_joins import declared_joins, is_joined
from optimizer.cubes.domain.definition import joins_read, joins_written
from portal.lake.errors import RuleViolation

PART = {"alias": "part", "table": "ssb.part", "on": [["fact.lo_partkey", "p_partkey"]]}
MAKER = {"alias": "maker", "table": "ssb.maker", "on": [["part.p_mfgr", "m_id"]]}
DATES = {"alias": "dates", "table": "ssb.dates", "on": [["fact.lo_date", "d_key"]]}


def cube(*joins: dict[str, Any]) -> dict[str, Any]:
    return {"name": "c", "joins": list(joins)}


def test_a_column_is_found_by_the_joins_that_lead_to_it() -> None:
    joins = declared_joins([cube(PART, MAKER), cube(DATES, PART), {"name": "plain"}])
    brand, city = joins.column("part.p_brand1"), joins.column("maker.m_city")
    assert (brand.table, brand.alias, brand.keys) == ("ssb.part", "part", ("lo_partkey",))
    assert [one.alias for one in city.path] == ["part", "maker"]
    assert (city.table, city.column, city.keys) == ("ssb.maker", "m_city", ("lo_partkey",))


def test_a_key_of_several_columns_gives_all_of_the_tables_own() -> None:
    both = {
        "alias": "stock",
        "table": "ssb.stock",
        "on": [["fact.lo_partkey", "s_part"], ["fact.lo_shop", "s_shop"], ["dates.d_year", "s_y"]],
    }
    joins = declared_joins([cube(DATES, both)])
    assert joins.column("stock.n").keys == ("lo_date", "lo_partkey", "lo_shop")


@pytest.mark.parametrize("text", ["nothing.x", "Part.p_brand1", "maker.m_city"])
def test_a_join_that_no_cube_declares_is_refused_with_those_that_are(text: str) -> None:
    joins = declared_joins([cube(PART)])
    with pytest.raises(RuleViolation, match=r"declared: part\)") as refused:
        joins.column(text)
    assert refused.value.code == "layout.join"


def test_an_alias_of_two_meanings_means_nothing_nor_does_what_hangs_on_it() -> None:
    other = {**PART, "on": [["fact.lo_partkey", "p_other"]]}
    joins = declared_joins([cube(PART, MAKER), cube(other, DATES)])
    for text in ("part.p_brand1", "maker.m_city"):
        with pytest.raises(RuleViolation, match="different ways"):
            joins.column(text)
    assert joins.column("dates.d_year").table == "ssb.dates"


def test_what_is_no_longer_declared_is_left_out_of_an_order() -> None:
    joins = declared_joins([cube(PART, MAKER)])
    found = joins.of(["maker.m_city", "gone.x", "part.p_brand1", "lo_quantity"])
    assert [one.alias for one in found] == ["part", "maker"]
    assert joins_read(joins_written(found)) == found


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("part.p_brand1", True),
        ("lo_quantity", False),
        ("a.b", False),
        ("A.B", False),
        (".b", False),
        ("a.", False),
    ],
)
def test_a_column_of_the_table_itself_comes_first(text: str, joined: bool) -> None:
    assert is_joined(text, ["lo_quantity", "a.b"]) is joined
