"""Which SQL may be a materialization, and what is read out of it."""

import pytest

from pipelines.materialized.domain.aggregates import Measure
from pipelines.materialized.domain.definition import Key, read_definition
from pipelines.materialized.domain.refusals import Refused
from pipelines.materialized.domain.tables import Join, Table

WHOLE = """
SELECT c.region AS region, date_trunc('DAY', o.at) AS day, count(*) AS n, count(o.qty) AS n_qty,
  sum(o.qty) AS qty, avg(o.qty) AS mean, min(price) AS low, max(price) AS high,
  count(DISTINCT o.customer) AS customers, count_if(o.qty > 3) AS many
FROM shop.orders AS o JOIN shop.cities c ON o.city = c.city
WHERE o.state <> 'gone' GROUP BY c.region, date_trunc('DAY', o.at)
"""


def test_a_definition_is_read() -> None:
    found = read_definition(WHOLE)
    assert found.fact == Table("shop", "orders", "o")
    assert found.joins == (Join(Table("shop", "cities", "c"), "o.city = c.city"),)
    assert found.where == "o.state <> 'gone'"
    assert found.keys[0] == Key("region", "c.region")
    assert [one.name for one in found.keys] == ["region", "day"]
    assert found.arguments == (
        "o.qty", "price", "o.customer", "CASE WHEN o.qty > 3 THEN 1 END",
    )  # fmt: skip
    assert found.measures[:3] == (
        Measure("n", "count_all"),
        Measure("n_qty", "count", 0),
        Measure("qty", "sum", 0),
    )
    assert found.distinct == (2,)
    assert found.asks(0, "sum")
    assert not found.asks(1, "sum", "avg")
    assert set(found.columns) == {"region", "at", "qty", "price", "customer", "state", "city"}
    assert found.names == (
        "region", "day", "n", "n_qty", "qty", "mean", "low", "high", "customers", "many",
    )  # fmt: skip


def test_groups_are_named_by_expression_number_or_alias() -> None:
    for group in ("dt, upper(city)", "1, 2", "dt, town", "UPPER( city ), 1"):
        found = read_definition(
            f"SELECT dt, upper(city) AS town, count(*) n FROM a.b GROUP BY {group}"
        )
        assert found.keys == (Key("dt", "dt"), Key("town", "UPPER(city)"))
        assert found.by_alias == (("town",) if group == "dt, town" else ())


N = "count(*) AS n"
REFUSED = [
    ("SELECT a, count(*) FROM d.t GROUP BY a", "SELECT", "give COUNT(*) a name"),
    ("SELECT upper(a), count(*) n FROM d.t GROUP BY 1", "SELECT", "a name with AS"),
    (f"SELECT {N} FROM d.t", "GROUP BY", "at least one dimension"),
    (f"SELECT a, {N} FROM d.t WHERE dt > 'yesterday' GROUP BY a", "'yesterday'", "present"),
    (f"SELECT a, {N} FROM d.t WHERE dt = DATE 'today' GROUP BY a", "'today'", "present"),
    ("SELECT a FROM d.t GROUP BY a", "SELECT", "no aggregate"),
    (f"SELECT a, {N} FROM d.t GROUP BY a HAVING count(*) > 1", "HAVING", "when you read"),
    (f"SELECT a, {N} FROM d.t GROUP BY a ORDER BY a", "ORDER BY", "sort"),
    (f"SELECT a, {N} FROM d.t GROUP BY a LIMIT 3", "LIMIT", "all groups"),
    (f"SELECT DISTINCT a, {N} FROM d.t GROUP BY a", "SELECT DISTINCT", "GROUP BY"),
    ("SELECT a, row_number() OVER (ORDER BY a) AS r FROM d.t GROUP BY a", "OVER", "window"),
    (f"WITH x AS (SELECT 1) SELECT a, {N} FROM d.t GROUP BY a", "subquery", "cannot be told"),
    (f"SELECT a, {N} FROM (SELECT * FROM d.t) GROUP BY a", "subquery", "cannot be told"),
    (f"SELECT a, {N} FROM d.t WHERE b IN (SELECT 1) GROUP BY a", "subquery", "cannot be told"),
    (f"SELECT a, {N} FROM d.t WHERE rand() > 0.5 GROUP BY a", "rand()", "same value"),
    (f"SELECT a, {N} FROM d.t WHERE at > current_date() GROUP BY a", "current_date()", "same"),
    (f"SELECT a, {N} FROM d.t WHERE reflect('a', 'b') = 1 GROUP BY a", "reflect()", "same"),
    (f"SELECT my_udf(a) AS a, {N} FROM d.t GROUP BY 1", "my_udf()", "same"),
    (f"SELECT a, {N} FROM d.t LEFT JOIN d.u ON t.x = u.x GROUP BY a", "LEFT JOIN", "inner"),
    (f"SELECT a, {N} FROM d.t FULL OUTER JOIN d.u ON t.x = u.x GROUP BY a", "FULL JOIN", "inner"),
    (f"SELECT a, {N} FROM d.t CROSS JOIN d.u GROUP BY a", "CROSS JOIN", "ON"),
    (f"SELECT a, {N} FROM d.t, d.u GROUP BY a", "CROSS JOIN", "ON"),
    (f"SELECT a, {N} FROM d.t JOIN d.u USING (x) GROUP BY a", "USING", "ON"),
    (f"SELECT t.a, {N} FROM d.t JOIN d.t AS u ON t.x = u.x GROUP BY t.a", "JOIN", "to itself"),
    (f"SELECT a, {N} FROM t GROUP BY a", "FROM", "db.table"),
    (f"SELECT a, {N} FROM c.d.t GROUP BY a", "FROM", "db.table"),
    (f"SELECT a, {N} FROM d.t TABLESAMPLE (1 PERCENT) GROUP BY a", "FROM", "name alone"),
    (f"SELECT a, {N} FROM d.t LATERAL VIEW explode(x) y AS z GROUP BY a", "explode()", "same"),
    (f"SELECT a, {N} FROM d.t GROUP BY a, b", "GROUP BY", "select b as well"),
    (f"SELECT a, b, {N} FROM d.t GROUP BY a", "GROUP BY", "b is neither"),
    (f"SELECT a, {N} FROM d.t GROUP BY ROLLUP (a)", "GROUP BY", "ROLLUP"),
    (f"SELECT a, {N} FROM d.t GROUP BY a WITH CUBE", "GROUP BY", "CUBE"),
    (f"SELECT a, {N} FROM d.t GROUP BY 3", "GROUP BY", "no column 3"),
    ("SELECT a, sum(x) / sum(y) AS r FROM d.t GROUP BY a", "SELECT", "more than one aggregate"),
    ("SELECT a, sum(DISTINCT x) AS s FROM d.t GROUP BY a", "SELECT", "only count"),
    ("SELECT a, count(DISTINCT x, y) AS s FROM d.t GROUP BY a", "SELECT", "one column"),
    ("SELECT a, count(x, y) AS s FROM d.t GROUP BY a", "SELECT", "one column"),
    ("SELECT a, stddev(x) AS s FROM d.t GROUP BY a", "SELECT", "cannot be kept"),
    ("SELECT a, sum(x) FILTER (WHERE y) AS s FROM d.t GROUP BY a", "FILTER", "CASE"),
    ("SELECT a, sum(sum(x)) AS s FROM d.t GROUP BY a", "SELECT", "of an aggregate"),
    (f"SELECT a, {N}, max(x) AS n FROM d.t GROUP BY a", "SELECT", "two columns"),
    (f"SELECT a AS _lw_n, {N} FROM d.t GROUP BY a", "SELECT", "no name"),
    (f"SELECT *, {N} FROM d.t GROUP BY a", "SELECT", "name each column"),
    (f"SELECT a, {N} FROM d.t WHERE count(*) > 1 GROUP BY a", "WHERE", "no aggregate"),
    (f"SELECT a, {N} FROM d.t GROUP BY a UNION ALL SELECT 1, 2", "UNION", "one SELECT"),
    ("DROP TABLE d.t", "SELECT", "must not write"),
    (f"SELECT a, {N} FROM d.t GROUP BY a; DROP TABLE d.t", "SELECT", "one statement"),
    ("SELECT FROM WHERE", "SELECT", "cannot be read"),
]


@pytest.mark.parametrize(("sql", "clause", "reason"), REFUSED)
def test_what_is_refused_names_its_clause_and_the_reason(
    sql: str, clause: str, reason: str
) -> None:
    with pytest.raises(Refused) as caught:
        read_definition(sql)
    assert caught.value.clause == clause, str(caught.value)
    assert reason in caught.value.reason
