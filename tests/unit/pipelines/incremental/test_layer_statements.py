"""SQL of a layer is kept row by row, or refused with the clause and the reason."""

import pytest

from pipelines.incremental.domain.statements import carried, check_statement, rendered
from portal.lake.errors import RuleViolation

CHANGING, STATIC = "ods.orders", ("ods.shops", "ods.rates")


def check(text: str, *static: str) -> None:
    check_statement(text, changing=CHANGING, static=static)


@pytest.mark.parametrize(
    ("text", "static"),
    [
        ("SELECT * FROM ods.orders", ()),
        ("SELECT id, upper(name) AS name FROM ods.orders WHERE amount > 0", ()),
        ("SELECT o.id, s.city FROM ods.orders o JOIN ods.shops s ON o.shop = s.id", ("ods.shops",)),
        (
            "SELECT o.id, s.city FROM ods.orders o LEFT JOIN ods.shops s ON o.shop = s.id "
            "CROSS JOIN ods.rates r",
            STATIC,
        ),
        ("SELECT o.id FROM ods.orders o LEFT ANTI JOIN ods.shops s ON o.shop = s.id", STATIC[:1]),
        ("SELECT id FROM ods.orders WHERE shop IN (SELECT id FROM ods.shops)", STATIC[:1]),
        (
            "SELECT id, r.top FROM ods.orders JOIN (SELECT shop, max(rate) AS top FROM ods.rates "
            "GROUP BY shop) r ON r.shop = orders.shop",
            ("ods.rates",),
        ),
        (
            "WITH o AS (SELECT id, n FROM ods.orders WHERE n > 1) SELECT id, n FROM o WHERE n < 9",
            (),
        ),
        (
            "SELECT id, i FROM (SELECT id, l FROM ods.orders) LATERAL VIEW explode(l) x AS i",
            (),
        ),
        ("SELECT id, unix_timestamp(at) AS at FROM ODS.Orders", ()),
    ],
)
def test_maps_filters_and_joins_with_static_tables_are_taken(
    text: str, static: tuple[str, ...]
) -> None:
    check(text, *static)


@pytest.mark.parametrize(
    ("text", "static", "clause", "reason"),
    [
        ("SELECT s, 1 n FROM ods.orders GROUP BY s", (), "GROUP BY", "a materialization"),
        ("SELECT count(*) AS n FROM ods.orders", (), "COUNT", "Define a materialization"),
        ("SELECT DISTINCT shop FROM ods.orders", (), "DISTINCT", "Define a materialization"),
        ("SELECT id, rank() OVER (ORDER BY n) AS r FROM ods.orders", (), "RANK", "window"),
        ("SELECT id FROM ods.orders ORDER BY id", (), "ORDER BY", "no order"),
        ("SELECT id FROM ods.orders LIMIT 3", (), "LIMIT", "could not be computed"),
        ("SELECT id FROM ods.orders WHERE dt = 'today'", (), "'today'", "present moment"),
        ("SELECT id FROM ods.orders TABLESAMPLE (1 PERCENT)", (), "TABLESAMPLE", "other rows"),
        ("SELECT id FROM ods.orders UNION ALL SELECT id FROM ods.orders", (), "UNION", "each part"),
        ("SELECT a.id FROM ods.orders a JOIN ods.orders b ON a.id = b.ref", (), "JOIN", "itself"),
        (
            "SELECT id FROM ods.orders WHERE n IN (SELECT n FROM ods.orders)", (),
            "subquery", "again",
        ),
        (
            "SELECT o.id FROM ods.orders o FULL JOIN ods.shops s ON o.shop = s.id", STATIC[:1],
            "FULL JOIN", "inner or a left",
        ),
        (
            "SELECT o.id FROM ods.orders o RIGHT JOIN ods.shops s ON o.shop = s.id", STATIC[:1],
            "RIGHT JOIN", "inner or a left",
        ),
        (
            "SELECT o.id FROM ods.shops s LEFT JOIN ods.orders o ON o.shop = s.id", STATIC[:1],
            "FROM", "first",
        ),
        ("SELECT id, now() AS at FROM ods.orders", (), "now()", "at each call"),
        ("SELECT id, rand() AS r FROM ods.orders", (), "RAND()", "at each call"),
        ("SELECT id, unix_timestamp() AS r FROM ods.orders", (), "()", "at each call"),
        ("SELECT id, n + 1 FROM ods.orders", (), "n + 1", "AS"),
        ("SELECT id, n AS id FROM ods.orders", (), "id", "two columns"),
        ("SELECT id, n AS _hoodie_n FROM ods.orders", (), "_hoodie_n", "programs"),
        ("SELECT id FROM hr.wages", (), "FROM", "none of the declared"),
        ("SELECT id FROM lake.ods.orders", (), "FROM", "none of the declared"),
        ("SELECT id FROM parquet.`/etc`", (), "FROM", "none of the declared"),
        ("SELECT id FROM orders", (), "FROM", "none of the declared"),
        ("SELECT id FROM range(9)", (), "FROM", "no table"),
        ("SELECT id FROM ods.orders VERSION AS OF 3", (), "time travel", "as they are"),
        ("SELECT id FROM ods.orders, LATERAL (SELECT 1 AS x)", (), "LATERAL", "static"),
        ("SELECT id FROM ods.orders", STATIC[:1], "FROM", "ods.shops"),
        ("SELECT id FROM ods.shops", STATIC[:1], "FROM", "follows"),
        (
            "WITH o AS (SELECT s, max(n) n FROM ods.orders GROUP BY s) SELECT * FROM o", (),
            "GROUP BY", "materialization",
        ),
        (
            "WITH o AS (SELECT * FROM ods.orders) SELECT a.id FROM o a JOIN o b ON a.n = b.n", (),
            "JOIN", "itself",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_by_rows_is_refused_with_clause_and_reason(
    text: str, static: tuple[str, ...], clause: str, reason: str
) -> None:
    with pytest.raises(RuleViolation, match=reason) as caught:
        check(text, *static)
    assert caught.value.code == "layer.statement"
    assert clause in str(caught.value.fields["clause"])


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM ods.orders",
        "INSERT INTO ods.orders SELECT 1",
        "CREATE TABLE ods.x AS SELECT 1",
        "DROP TABLE ods.orders",
        "MERGE INTO ods.orders USING ods.shops b ON true WHEN MATCHED THEN DELETE",
        "SET spark.sql.ansi.enabled = true",
        "CALL lake.system.expire_snapshots('a.b')",
        "SELECT 1; DROP TABLE ods.orders",
        "SELECT id, reflect('java.lang.System', 'exit', 1) AS x FROM ods.orders",
        "SELECT ( FROM ods.orders",
        "",
    ],
)
def test_sql_that_writes_or_runs_code_is_refused(text: str) -> None:
    with pytest.raises(RuleViolation) as caught:
        check(text)
    assert caught.value.code == "layer.statement"


def test_a_statement_is_run_from_what_was_parsed_with_views_for_its_tables() -> None:
    text = "SELECT orders.id, s.city FROM ods.orders JOIN ods.shops AS s ON orders.shop = s.id -- x"
    names = {"ods.orders": "v0", "ods.shops": "v1"}
    assert rendered(text, names) == (
        "SELECT orders.id, s.city FROM `v0` AS orders JOIN `v1` AS s ON orders.shop = s.id /* x */"
    )


def test_columns_that_are_taken_as_they_are_are_known() -> None:
    text = "SELECT o.id AS order_id, o.n + 1 AS n, s.id FROM ods.orders o JOIN ods.shops s ON true"
    assert carried(text) == {"id": "order_id"}
    assert carried("SELECT id, shop FROM ods.orders") == {"id": "id", "shop": "shop"}
    assert carried("SELECT id FROM (SELECT n AS id FROM ods.orders)") == {}
