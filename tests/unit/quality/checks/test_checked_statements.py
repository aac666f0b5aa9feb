"""SQL of a rule only reads, only what it may read, and what runs is what was parsed."""

import pytest

from quality.checks.domain.statements import check_filter, check_query, rendered, tables_of


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM {rows}",
        "SELECT max(x) - min(x) FROM {rows} WHERE y IN (SELECT y FROM sales.other)",
        "WITH a AS (SELECT x FROM {rows}) SELECT count(*) FROM a JOIN sales.other o ON a.x = o.x",
        "SELECT count(*) FROM (SELECT x FROM {rows} GROUP BY x HAVING count(*) > 1)",
        "SELECT 1 UNION ALL SELECT 2",
    ],
)
def test_a_query_that_reads_one_number_is_taken(text: str) -> None:
    check_query(text, databases={"sales"})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("DELETE FROM sales.orders", "only SELECT"),
        ("INSERT INTO sales.orders SELECT 1", "only SELECT"),
        ("CREATE TABLE sales.x AS SELECT 1", "only SELECT"),
        ("DROP TABLE sales.orders", "only SELECT"),
        ("MERGE INTO sales.a USING sales.b ON a.x = b.x WHEN MATCHED THEN DELETE", "only SELECT"),
        ("TRUNCATE TABLE sales.orders", "only SELECT"),
        ("SET spark.sql.ansi.enabled = true", "only SELECT"),
        ("CALL lake.system.expire_snapshots('a.b')", "only SELECT"),
        ("INSERT OVERWRITE DIRECTORY '/tmp/x' SELECT 1", "SELECT|SQL"),
        ("SELECT 1; DROP TABLE sales.orders", "one statement"),
        ("SELECT 1, 2", "several columns"),
        ("SELECT * FROM {rows}", "several columns"),
        ("SELECT count(*) FROM orders", "write db.table"),
        ("SELECT count(*) FROM hr.wages", "not one that it may read"),
        ("SELECT count(*) FROM lake.sales.orders", "another catalog"),
        ("SELECT count(*) FROM parquet.`/etc`", "not one that it may read"),
        ("SELECT (SELECT max(pay) FROM hr.wages) FROM {rows}", "not one that it may read"),
        ("SELECT reflect('java.lang.System', 'exit', 1)", "reflect is not allowed"),
        ("SELECT raise_error(max(mail)) FROM {rows}", "raise_error is not allowed"),
        ("SELECT assert_true(false, max(mail)) FROM {rows}", "assert_true is not allowed"),
        ("SELECT java_method('java.lang.System', 'exit', 1)", "not allowed"),
        ("SELECT count( FROM {rows}", "cannot be read"),
        ("", "SELECT"),
    ],
)
def test_what_else_a_query_might_do_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        check_query(text, databases={"sales"})


@pytest.mark.parametrize("text", ["a = 1", "a is not null and (b > 2 or c like 'x%')", "a"])
def test_a_condition_is_taken(text: str) -> None:
    check_filter(text)


def test_a_filter_runs_no_code() -> None:
    with pytest.raises(ValueError, match="not allowed"):
        check_filter("reflect('java.lang.System', 'getenv') is null")


def test_tables_are_replaced_and_names_of_the_query_stay() -> None:
    text = "WITH a AS (SELECT x FROM {rows} r) SELECT count(*) FROM a JOIN sales.b ON a.x = b.x"
    assert tables_of(text) == ("sales.b",)
    assert rendered(text, rows="v", names={"sales.b": "w"}) == (
        "WITH a AS (SELECT x FROM `v` AS r) SELECT COUNT(*) FROM a JOIN `w` AS b ON a.x = b.x"
    )


def test_a_comment_hides_nothing() -> None:
    run = rendered("SELECT count(*) /* x */ FROM {rows} -- ; DROP", rows="v", names={})
    assert "\n" not in run
    assert run.startswith("SELECT COUNT(*)")
