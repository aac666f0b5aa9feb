"""Definitions of cubes: what is taken, what is refused, and with what reason."""

import json
from typing import Any

import pytest

from optimizer.cubes.domain.definition import as_json, parse, serialise
from optimizer.cubes.domain.expressions import columns_of
from portal.lake.errors import RuleViolation
from tests.golden.cubes import make


def _with(**changed: Any) -> dict[str, Any]:
    return {**as_json(make.DEFINITION), **changed}


def test_a_definition_comes_back_as_it_was_written() -> None:
    assert parse(serialise(make.DEFINITION)) == make.DEFINITION
    assert make.DEFINITION.is_resolved()
    assert not parse(_with(columns={})).is_resolved()


def test_states_have_the_types_of_the_contract() -> None:
    assert [(one.name, one.type) for one in make.DEFINITION.states()] == [
        ("revenue_sum", "bigint"),
        ("revenue_count", "bigint"),
        ("profit_sum", "decimal(22,2)"),
        ("profit_max", "decimal(12,2)"),
        ("mode_distinct", "array<string>"),
        ("mode_sketch", "binary"),
    ]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": "By"}, "lower-case"),
        ({"name": "rows"}, "column of every cube"),
        ({"name": "a" * 41}, "at most 40"),
        ({"table": {"name": "lineorder"}}, "write db.table"),
        ({"table": {"name": "a.b; drop table c"}}, "write db.table"),
        ({"time_zone": "Mars/Olympus"}, "time zone"),
        ({"time_zone": "../../etc/passwd"}, "time zone"),
        ({"dimensions": []}, "at least one"),
        ({"dimensions": [{"name": "unit", "expression": "fact.a", "type": "int"}]}, "every cube"),
        ({"dimensions": [{"name": "d", "expression": "fact.a", "type": "double"}]}, "float"),
        ({"dimensions": [{"name": "d", "expression": "x.a", "type": "int"}]}, "no join"),
        (
            {
                "dimensions": [
                    {"name": f"d{n}", "expression": "fact.a", "type": "int"} for n in range(17)
                ]
            },
            "at most 16",
        ),
        ({"dimensions": [{"name": "d", "expression": "fact.a", "type": "int"}] * 2}, "twice"),
        (
            {
                "measures": [
                    {"name": "m", "expression": "fact.a", "type": "double", "functions": ["sum"]}
                ]
            },
            "order of the rows",
        ),
        (
            {
                "measures": [
                    {
                        "name": "m",
                        "expression": "fact.a",
                        "type": "decimal(29,2)",
                        "functions": ["sum"],
                    }
                ]
            },
            "28 digits",
        ),
        (
            {
                "measures": [
                    {"name": "m", "expression": "fact.a", "type": "int", "functions": ["avg"]}
                ]
            },
            "exist",
        ),
        (
            {"measures": [{"name": "m", "expression": "fact.a", "type": "int", "functions": []}]},
            "without",
        ),
        ({"joins": [{"alias": "fact", "table": "a.b", "on": [["fact.a", "b"]]}]}, "joins as fact"),
        (
            {"joins": [{"alias": "part", "table": "a.b", "on": [["supplier.a", "b"]]}]},
            "not named before",
        ),
        ({"joins": [{"alias": "part", "table": "a.b", "on": []}]}, "0 columns"),
        ({"star_tree": {"max_leaf": 0}}, "max_leaf"),
        ({"star_tree": {"budget": 1}}, "more than 1"),
        ({"star_tree": {"budget": float("nan")}}, "more than 1"),
        ({"star_tree": {"budget": "2"}}, "no number"),
        ({"star_tree": {"dimensions": ["nothing"]}}, "no dimension"),
        ({"columns": {"fact.lo_partkey": "4"}}, "whole number"),
        ({"columns": {"fact.lo_partkey": -1}}, "field id"),
        ({"dimensions": "x"}, "cannot be read"),
        ({"format": "other"}, "another format"),
    ],
)
def test_a_definition_that_cannot_be_built_is_refused_with_the_reason(
    changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(RuleViolation, match=said):
        parse(json.dumps(_with(**changed)))


def test_a_newer_definition_is_not_guessed_at() -> None:
    with pytest.raises(RuleViolation) as refused:
        parse(_with(version=2))
    assert refused.value.code == "cube.newer"


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("fact.a * (1 - fact.b)", (("fact", "a"), ("fact", "b"))),
        ("date_trunc('DAY', fact.t)", (("fact", "t"),)),
        ("cast(fact.a / 100 as int)", (("fact", "a"),)),
        ("case when part.x in ('a', 'b') then 1 else 0 end", (("part", "x"),)),
        ("`fact`.`A b`", (("fact", "A b"),)),
        ("extract(year from fact.d)", (("fact", "d"),)),
        ("lpad(substr(fact.s, 1, 3), 4, '0')", (("fact", "s"),)),
    ],
)
def test_scalar_expressions_tell_their_columns(text: str, columns: object) -> None:
    assert columns_of(text) == columns


@pytest.mark.parametrize(
    "text",
    [
        "rand()",
        "fact.a + rand()",
        "current_date()",
        "sum(fact.a)",
        "(select 1)",
        "fact.a in (select 1)",
        "exists(select 1)",
        "row_number() over (order by fact.a)",
        "a",
        "fact.a.b",
        "fact.*",
        "1",
        "fact.a; drop table x",
        "fact.a -- x",
        "fact.a /* x */",
        "fact.a\nfrom x",
        "fact.a from x",
        "fact.a, fact.b",
        "fact.a as b",
        "reflect('java.lang.System', 'exit', fact.a)",
        "input_file_name()",
        "uuid()",
        "explode(fact.a)",
        "transform(fact.a, x -> x)",
        "raise_error(fact.a)",
        "'\\' or fact.a = '",
        "drop table x",
        "",
        "(" * 400 + "fact.a" + ")" * 400,
        "fact.a + " * 200 + "1",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        columns_of(text)
    assert refused.value.code == "cube.expression"
