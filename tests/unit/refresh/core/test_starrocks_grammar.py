"""The simulator reads statements as front ends do: the right ones, and refuses the wrong ones."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refresh.core.domain import statements
from refresh.core.domain.names import ClusterId, ExternalTable
from refresh.core.domain.versions import Dialect
from stack.starrocks import grammar
from stack.starrocks.grammar import Ask, ExplainCosts, Name, Refresh, Set, Show, Use
from stack.starrocks.texts import SqlError

SALES = Name(("hive", "shop", "sales"))


@pytest.mark.parametrize(
    ("sql", "statement"),
    [
        ("REFRESH EXTERNAL TABLE hive.shop.sales", Refresh(SALES, ())),
        ("refresh external table `hive`.`shop`.`sales` ;", Refresh(SALES, ())),
        (
            "REFRESH EXTERNAL TABLE t PARTITION ('dt=1/hr=00', \"dt=2\")",
            Refresh(Name(("t",)), ("dt=1/hr=00", "dt=2")),
        ),
        (
            r"REFRESH EXTERNAL TABLE t PARTITION ('a\'b\\c''d')",
            Refresh(Name(("t",)), (r"a'b\c'd",)),
        ),
        ("EXPLAIN COSTS SELECT * FROM hive.shop.sales", ExplainCosts(SALES, ())),
        (
            "EXPLAIN COSTS SELECT * FROM t WHERE dt='1' AND hr = 2",
            ExplainCosts(Name(("t",)), (("dt", "1"), ("hr", "2"))),
        ),
        ("SHOW FRONTENDS", Show("FRONTENDS")),
        ("SHOW PROC '/frontends'", Show("PROC", Name(("/frontends",)))),
        ("SHOW CREATE CATALOG `a-b`", Show("CREATE CATALOG", Name(("a-b",)))),
        ("SHOW TABLES FROM hive.shop LIKE 's%'", Show("TABLES", Name(("hive", "shop")), "s%")),
        ("ADMIN SHOW FRONTEND CONFIG LIKE '%x%'", Show("FRONTEND CONFIG", like="%x%")),
        ("SET query_timeout = 5", Set("query_timeout", "5")),
        ("SET @@session.query_timeout=5", Set("query_timeout", "5")),
        ("SET CATALOG hive", Set("catalog", "hive")),
        ("SET NAMES utf8mb4 COLLATE utf8mb4_bin", Set("names", "utf8mb4")),
        ("USE hive.shop", Use(Name(("hive", "shop")))),
        ("select @@version_comment limit 1", Ask("@@version_comment")),
    ],
)
def test_statements_are_read(sql: str, statement: object) -> None:
    assert grammar.read(sql, is_old=False) == statement


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("REFRESH TABLE t", "column 8. Detail message: No viable statement for input 'REFRESH"),
        ("REFRESH EXTERNAL TABLE t FORCE", "Unexpected input 'FORCE'"),
        ("REFRESH EXTERNAL TABLE t PARTITION (dt)", "Unexpected input 'dt'"),
        ("REFRESH EXTERNAL TABLE t PARTITION ('a'", "Unexpected input '<EOF>'"),
        ("REFRESH EXTERNAL TABLE 'open", "Unexpected input"),
        ("REFRESH CATALOG hive", "Unexpected input 'CATALOG'"),
        ("DROP TABLE t", "Unexpected input 'DROP'"),
        ("SHOW NOTHING", "Unexpected input 'NOTHING'"),
        ("", "Unexpected input '<EOF>'"),
    ],
)
def test_what_is_no_statement_is_refused_in_their_words(sql: str, says: str) -> None:
    with pytest.raises(SqlError, match="Getting syntax error at line 1") as refused:
        grammar.read(sql, is_old=False)
    assert says in str(refused.value)
    assert refused.value.code == 1064


def test_the_old_version_takes_bare_partition_names_and_no_catalogs() -> None:
    read = grammar.read("REFRESH EXTERNAL TABLE ext.t PARTITION (p1, 'dt=2')", is_old=True)
    assert read == Refresh(Name(("ext", "t")), ("p1", "dt=2"))
    for sql in (
        "REFRESH EXTERNAL TABLE hive.shop.sales",
        "SHOW CREATE TABLE hive.shop.sales",
        "EXPLAIN COSTS SELECT * FROM hive.shop.sales",
        "SHOW TABLES FROM hive.shop",
        "SHOW CATALOGS",
        "SHOW CREATE CATALOG hive",
        "SET CATALOG hive",
        "USE hive.shop",
    ):
        grammar.read(sql, is_old=False)
        with pytest.raises(SqlError, match="Syntax error"):
            grammar.read(sql, is_old=True)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")))))
def test_every_partition_that_the_portal_writes_is_read_back(names: list[str]) -> None:
    names = [name for name in names if "\u2028" not in name and "\u2029" not in name]
    table = ExternalTable(ClusterId("bi"), "hive", "shop", "sales")
    sql = statements.refresh(table, dialect=Dialect.CATALOGS, partitions=names)
    assert grammar.read(sql, is_old=False) == Refresh(SALES, tuple(names))


@given(st.text(max_size=40))
def test_no_text_breaks_the_reading(text: str) -> None:
    for is_old in (True, False):
        for head in ("", "REFRESH EXTERNAL TABLE ", "SHOW "):
            with suppress(SqlError):
                grammar.read(head + text, is_old=is_old)
