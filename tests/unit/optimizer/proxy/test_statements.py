"""Which statements may be rewritten, and which headers are handed on."""

import pytest

from optimizer.proxy.domain.headers import to_client, to_trino
from optimizer.proxy.domain.statements import MOST_REWRITTEN, Statement, statement_of

HEADERS = {"x-trino-catalog": "lake", "x-trino-schema": "logs"}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "  -- why\n/* a */ select * from t",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "((SELECT 1) UNION SELECT 2)",
    ],
)
def test_a_query_may_be_rewritten_in_its_session(sql: str) -> None:
    assert statement_of(HEADERS, sql.encode()) == Statement(sql, "lake", "logs")
    assert statement_of({}, sql.encode()) == Statement(sql, "", "")


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "EXECUTE q USING 1",
        "PREPARE q FROM SELECT 1",
        "EXPLAIN SELECT 1",
        "EXPLAIN ANALYZE SELECT 1",
        "INSERT INTO t SELECT 1",
        "CREATE TABLE t AS SELECT 1",
        "SET SESSION a = 1",
        "SHOW TABLES",
        "TABLE t",
        "VALUES 1",
        "selecting",
        "SELECT 1 " + "x" * MOST_REWRITTEN,
        "/*" * 40_000,
    ],
)
def test_nothing_but_queries_is_rewritten(sql: str) -> None:
    assert statement_of(HEADERS, sql.encode()) is None


@pytest.mark.parametrize(
    "header", [("x-trino-transaction-id", "4f1b"), ("content-encoding", "gzip")]
)
def test_what_has_a_snapshot_of_its_own_or_is_packed_is_passed_on(header: tuple[str, str]) -> None:
    assert statement_of(dict([header]), b"SELECT 1") is None
    assert statement_of({"x-trino-transaction-id": "none"}, b"SELECT 1") is not None
    assert statement_of({}, b"SELECT '\xff'") is None


def test_headers_of_one_connection_stay_there() -> None:
    given = [
        ("Authorization", "Bearer x"),
        ("X-Trino-Session", "a=b,c=d"),
        ("Connection", "close, X-Once"),
        ("X-Once", "1"),
        ("Host", "proxy"),
        ("X-Forwarded-Host", "balancer"),
        ("Transfer-Encoding", "chunked"),
        ("Content-Length", "3"),
    ]
    assert list(to_trino(given)) == [("Authorization", "Bearer x"), ("X-Trino-Session", "a=b,c=d")]
    answer = [("Set-Cookie", "a"), ("Set-Cookie", "b"), ("X-Forwarded-Host", "x"), ("Upgrade", "y")]
    assert list(to_client(answer)) == answer[:3]
