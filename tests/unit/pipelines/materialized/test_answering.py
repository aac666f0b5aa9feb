"""A definition as who rewrites queries compares it with them."""

import json

import pytest

from pipelines.materialized.domain.answers import Unanswering, answering, described
from pipelines.materialized.domain.definition import read_definition
from pipelines.materialized.domain.messages import Types
from portal.lake.aggregates import StoredJoin

ONE = """
SELECT dt, upper(city) AS town, count(*) AS n, sum(qty) AS q, avg(price) AS p,
  count(DISTINCT city) AS cities
FROM db.rows WHERE qty > 1 AND (id = 2 OR id = 3) GROUP BY dt, upper(city)
"""
TWO = """
SELECT s.city, count(*) AS n FROM db.rows r JOIN db.shops s ON r.shop = s.id AND s.kind = r.kind
GROUP BY s.city
"""


def test_expressions_are_over_the_facts_and_states_over_the_kept_columns() -> None:
    types = Types(("date", "string"), ("int", "decimal(9,2)", "string"))
    found = answering(read_definition(ONE), types)
    assert [(one.name, one.expression, one.type) for one in found.dimensions] == [
        ("dt", "fact.`dt`", "date"),
        ("town", "UPPER(fact.`city`)", "string"),
    ]
    assert [one.expression for one in found.measures] == [
        "fact.`qty`",
        "fact.`price`",
        "fact.`city`",
    ]
    qty, price, city = (one.states for one in found.measures)
    assert qty == {
        "count": "`_lw_count_0`",
        "sum": "CASE WHEN `_lw_count_0` > 0 THEN CAST(`_lw_sum_0` AS BIGINT) END",
    }
    assert "AS DECIMAL(19, 2)" in price["sum"]
    assert city["distinct_count"] == "`_lw_distinct_2`"
    assert found.filters == ("fact.`qty` > 1", "fact.`id` = 2 OR fact.`id` = 3")


def test_joins_are_pairs_of_columns() -> None:
    found = answering(read_definition(TWO), Types(("string",), ()))
    pairs = (("fact.shop", "id"), ("fact.kind", "kind"))
    assert found.joins == (StoredJoin("s", "db.shops", pairs),)
    assert found.dimensions[0].expression == "s.`city`"


def test_a_commit_says_what_its_rows_are_of_and_which_columns_these_were_of() -> None:
    columns = {
        "db.rows": {"shop": "int", "Kind": "string", "other": "int"},
        "db.shops": {"id": "int", "kind": "string", "city": "string"},
    }
    said = described(read_definition(TWO), Types(("string",), ()), columns, "UTC")
    assert (said["fact"], said["rows_column"], said["time_zone"]) == ("db.rows", "_lw_n", "UTC")
    assert said["columns"] == {
        "fact.shop": "int",
        "fact.kind": "string",
        "s.id": "int",
        "s.kind": "string",
        "s.city": "string",
    }
    assert json.loads(json.dumps(said))["joins"] == [
        {"alias": "s", "table": "db.shops", "on": [["fact.shop", "id"], ["fact.kind", "kind"]]}
    ]


def test_no_dimension_is_called_as_what_is_kept_of_an_aggregate() -> None:
    sql = "SELECT dt AS m0_sum, sum(qty) AS q FROM db.rows GROUP BY dt"
    found = answering(read_definition(sql), Types(("date",), ("int",)))
    kept = {f"{one.name}_{function}" for one in found.measures for function in one.states}
    assert not kept & {one.name for one in found.dimensions}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("AND s.kind = r.kind", "AND s.kind > r.kind", "is no equality of columns"),
        ("AND s.kind = r.kind", "AND s.kind = 3", "is not by a column"),
        ("SELECT s.city", "SELECT upper(city) AS city", "without a table's alias"),
        ("db.shops s", "db.shops fact", "is called fact"),
        ("SELECT s.city", "SELECT s.city AS rows", "is called rows"),
    ],
)
def test_what_is_not_written_as_queries_are_says_so(old: str, new: str, words: str) -> None:
    sql = TWO.replace(old, new).replace("GROUP BY s.city", "GROUP BY 1")
    sql = sql.replace("s.", "fact.") if "fact" in new else sql
    with pytest.raises(Unanswering, match=words):
        answering(read_definition(sql), Types(("string",), ()))
