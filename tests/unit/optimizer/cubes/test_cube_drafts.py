"""Definitions of cubes as people type them, and the expressions that are let in."""

from dataclasses import replace
from typing import Any

import pytest

from optimizer.cubes.domain.drafts import Draft, draft_of, parse_draft, read_draft
from portal.lake.errors import RuleViolation

STAR = Draft(
    name="By_Brand",
    joins="part: ssb.part on lo_partkey = p_partkey\n"
    "maker: ssb.maker on part.p_mfgr = maker.m_id and part.p_year = m_year",
    dimensions="brand = part.p_brand1\nlo_shipmode\n\nyear = year(lo_orderdate)\nmaker.m_nation",
    measures="revenue = lo_revenue * (1 - lo_discount): sum, count, sum\nlo_quantity: min,max",
    max_leaf=10,
    skip_star="year",
)


def test_a_star_schema_is_read_and_written_back_the_same() -> None:
    definition, refused = read_draft(STAR, "ssb.lineorder")
    assert not refused
    assert definition["name"] == "by_brand"
    assert definition["joins"] == [
        {"alias": "part", "table": "ssb.part", "on": [["fact.lo_partkey", "p_partkey"]]},
        {
            "alias": "maker",
            "table": "ssb.maker",
            "on": [["part.p_mfgr", "m_id"], ["part.p_year", "m_year"]],
        },
    ]
    assert [one["name"] for one in definition["dimensions"]] == [
        "brand", "lo_shipmode", "year", "m_nation",
    ]  # fmt: skip
    assert definition["dimensions"][1]["expression"] == "fact.lo_shipmode"
    assert definition["measures"][0] == {
        "name": "revenue",
        "expression": "fact.lo_revenue * (1 - fact.lo_discount)",
        "functions": ["sum", "count"],
    }
    assert definition["star_tree"] == {"max_leaf": 10, "dimensions": [], "skip_star": ["year"]}
    assert parse_draft(draft_of(definition), "ssb.lineorder") == definition
    within = parse_draft(replace(STAR, budget=1.5), "ssb.lineorder")
    assert within["star_tree"]["budget"] == 1.5
    assert parse_draft(draft_of(within), "ssb.lineorder") == within


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("name", "1st", "a letter, then"),
        ("joins", "part ssb.part", "Line 1: Write it as"),
        ("joins", "fact: ssb.part on a = b", "is taken"),
        ("joins", "p: part on a = b", "as database.table"),
        ("joins", "p: ssb.part on x.a = b", "neither fact nor"),
        ("joins", "p: ssb.part on a = y.b", "a column of p, not of y"),
        ("joins", "p: ssb.part on a > b", "as `column = its_key`"),
        ("joins", "p: ssb.part on a = b", "Nothing uses the join p"),
        ("dimensions", "", "1 to 16 dimensions"),
        ("dimensions", "\n".join(f"d{n}" for n in range(17)), "1 to 16 dimensions"),
        ("dimensions", "year(a)", "Give it a name"),
        ("dimensions", "part.brand", "no join has the alias part"),
        ("dimensions", "a\na", "Line 2: The name a is taken"),
        ("dimensions", "unit = a", "The name unit is taken"),
        ("dimensions", "x = (SELECT max(b) FROM secret.t)", "a cube does not take"),
        ("measures", "a", "name = expression: functions"),
        ("measures", "a: median", "median is none of them"),
        ("measures", "\n".join(f"m{n}: sum" for n in range(33)), "at most 32"),
        ("skip_star", "nothing", "nothing is no dimension"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(field: str, text: str, words: str) -> None:
    values: dict[str, Any] = {
        "name": "c",
        "dimensions": "d",
        "measures": "m: sum",
        "max_leaf": 10,
        field: text,
    }
    draft = Draft(**values)
    _, refused = read_draft(draft, "ssb.lineorder")
    assert [one.field for one in refused] == [field]
    assert words in str(refused[0])
    with pytest.raises(RuleViolation):
        parse_draft(draft, "ssb.lineorder")


def test_a_star_tree_without_its_leaf_is_refused() -> None:
    _, refused = read_draft(Draft("c", dimensions="d", skip_star="d"), "a.b")
    assert [one.field for one in refused] == ["max_leaf"]


@pytest.mark.parametrize(
    "text",
    [
        "x = reflect('java.lang.System', 'exit', '0')",
        "x = rand() + a",
        "x = a; DROP TABLE ssb.lineorder",
        "x = a) FROM x; DROP TABLE y --",
        "x = (SELECT 1)",
        "x = cat.db.tab.col",
        "x = 1",
    ],
)
def test_what_could_do_more_than_compute_is_refused_at_its_line(text: str) -> None:
    _, refused = read_draft(Draft("c", dimensions=f"a\n{text}"), "ssb.lineorder")
    assert [(one.field, one.line) for one in refused] == [("dimensions", 2)]


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("month = date_trunc('MONTH', at)", "DATE_TRUNC('MONTH', fact.at)"),
        (
            "size = CASE WHEN a > 5 THEN 'big' ELSE 'small' END",
            "CASE WHEN fact.a > 5 THEN 'big' ELSE 'small' END",
        ),
        ("up = upper(fact.`odd name`)", "upper(fact.`odd name`)"),
        ("Mixed", "fact.Mixed"),
    ],
)
def test_bare_columns_are_those_of_the_table(text: str, expression: str) -> None:
    definition, refused = read_draft(Draft("c", dimensions=text), "ssb.lineorder")
    assert not refused
    assert definition["dimensions"][0]["expression"] == expression
