"""What a query asks of its tables, and the query narrowed to files."""

import pytest

from optimizer.pruning.domain.conditions import spark_pattern
from optimizer.pruning.domain.queries import Narrowed, Query
from optimizer.pruning.domain.uses import Names
from portal.lake.errors import RuleViolation

COLUMNS = {
    "logs.lines": {
        "id": "bigint",
        "msg": "string",
        "at": "timestamp_ntz",
        "zoned": "timestamp",
        "day": "date",
        "price": "decimal(10,2)",
        "share": "float",
        "rate": "double",
    },
    "logs.hosts": {"id": "bigint", "name": "string"},
}


def asked(where: str, dialect: str = "trino", *, joined: str = "") -> str:
    query = Query(" ".join(["SELECT * FROM lake.logs.lines l", joined, "WHERE", where]), dialect)
    use = next(one for one in query.uses if one.table == "lines")
    types = {one.number: COLUMNS[one.name] for one in query.uses if one.name in COLUMNS}
    return query.condition(use, types)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("id = 5", "(`id` = 5)"),
        ("5 < l.id", "(`id` > 5)"),
        ("id = -3", "(`id` = -3)"),
        ("id IN (1, 2)", "(`id` IN (1, 2))"),
        ("id NOT IN (1, 2)", "(NOT (`id` IN (1, 2)))"),
        ("id BETWEEN 1 AND 2", "(`id` BETWEEN 1 AND 2)"),
        ("id IS NULL", "(`id` IS NULL)"),
        ("id IS NOT NULL", "(NOT (`id` IS NULL))"),
        ("price >= 1.50", "(`price` >= 1.50)"),
        ("day = DATE '2026-01-02'", "(`day` = DATE '2026-01-02')"),
        (
            "at < TIMESTAMP '2026-01-02 03:04:05'",
            "(`at` < TIMESTAMP_NTZ '2026-01-02 03:04:05.000000')",
        ),
        ("msg LIKE '%err%'", "(`msg` LIKE '%err%')"),
        ("msg LIKE 'a\\b%'", "(`msg` LIKE 'a\\\\\\\\b%')"),
        ("msg LIKE '50!%%' ESCAPE '!'", "(`msg` LIKE '50\\\\%%')"),
        ("lower(msg) LIKE '%err%'", "(lower(`msg`) LIKE '%err%')"),
        ("msg = 'it''s'", "(`msg` = 'it\\'s')"),
        ("id = 5 AND random() < 0.1", "(`id` = 5)"),
        ("(id = 5 OR id = 6) AND msg <> 'x'", "((`id` = 5) OR (`id` = 6)) AND (`msg` <> 'x')"),
    ],
)
def test_a_condition_is_said_in_spark(where: str, expected: str) -> None:
    assert asked(where) == expected


@pytest.mark.parametrize(
    "where",
    [
        "share = 1.1",  # one engine widens it to a double, the other narrows the constant
        "zoned = TIMESTAMP '2026-01-02 03:04:05'",  # the session's zone decides
        "at = TIMESTAMP '2026-01-02 03:04:05 UTC'",
        "id = '5'",
        "msg = 5",
        "id = 5 OR random() < 0.1",
        "NOT (id = 5 AND random() < 0.1)",
        "at < TIMESTAMP '2026-01-02 03:04:05.1234567'",
        "length(msg) = 3",
        "id IN (SELECT id FROM logs.hosts)",
        "rate = 1e3",
        "nowhere = 5",
        "id = 5 IS NULL",
        "msg LIKE '%x!' ESCAPE '!'",
        "day = DATE 'yesterday'",
    ],
)
def test_what_engines_may_read_differently_is_unknown(where: str) -> None:
    assert asked(where) == ""


def test_a_column_without_a_table_counts_only_where_no_other_table_has_it() -> None:
    hosts = "JOIN lake.logs.hosts h ON h.id = l.id AND l.msg = 'x'"
    assert asked("id = 5 AND day = DATE '2026-01-02'", joined=hosts) == (
        "(`day` = DATE '2026-01-02') AND (`msg` = 'x')"
    )
    unknown = "JOIN lake.logs.unseen u ON u.k = l.id"
    assert asked("day = DATE '2026-01-02'", joined=unknown) == ""
    assert asked("l.id = 5", joined=unknown) == "(`id` = 5)"


@pytest.mark.parametrize(
    ("joins", "whole"),
    [
        ("a.t x LEFT JOIN a.u y ON x.k = y.k", ["", "nulls"]),
        ("a.t x RIGHT JOIN a.u y ON x.k = y.k", ["nulls", ""]),
        ("a.t x FULL JOIN a.u y ON x.k = y.k", ["nulls", "nulls"]),
        ("a.t x JOIN a.u y ON x.k = y.k", ["", ""]),
        ("a.t x, a.u y", ["", ""]),
        ("a.t x TABLESAMPLE BERNOULLI (10)", ["sampled"]),
    ],
)
def test_a_table_that_nulls_may_stand_for_is_read_whole(joins: str, whole: list[str]) -> None:
    found = {
        one.alias: one.whole for one in Query(" ".join(["SELECT 1 FROM", joins]), "trino").uses
    }
    for said, wanted in zip([found[alias] for alias in sorted(found)], whole, strict=True):
        assert bool(said) is bool(wanted)
        assert wanted in said


def test_a_table_is_wrapped_where_it_stands_and_nothing_else_changes() -> None:
    sql = (
        "WITH e AS (SELECT * FROM c.logs.lines -- é\n WHERE id = 5 OR id = 6)\n"
        'SELECT 1E0, x.* FROM e, logs."hosts"  x'
    )
    query = Query(sql, "trino")
    said = query.narrowed({0: Narrowed(17, ["s3://b/f'1.parquet"]), 1: Narrowed(3, [])})
    lines = (
        "(SELECT * FROM c.logs.lines FOR VERSION AS OF 17 WHERE \"$path\" IN ('s3://b/f''1.parquet'))"
        " AS lines"
    )
    hosts = '(SELECT * FROM logs."hosts" FOR VERSION AS OF 3 WHERE FALSE)'
    assert said == sql.replace("c.logs.lines", lines).replace('logs."hosts"', hosts)
    assert query.narrowed({}) == sql


def test_a_snapshot_that_the_query_names_stays() -> None:
    query = Query("SELECT * FROM logs.lines FOR VERSION AS OF 17 AS l WHERE l.id = 1", "trino")
    assert query.uses[0].snapshot == 17
    assert query.narrowed({0: Narrowed(17, ["f"])}) == (
        "SELECT * FROM (SELECT * FROM logs.lines FOR VERSION AS OF 17 WHERE \"$path\" IN ('f')) "
        "AS l WHERE l.id = 1"
    )


def test_spark_reads_its_own_column_of_files() -> None:
    said = Query("SELECT * FROM `lo``gs`.lines AS l", "spark").narrowed({0: Narrowed(17, ["a'\\"])})
    assert said == (
        "SELECT * FROM (SELECT * FROM `lo``gs`.lines VERSION AS OF 17 WHERE _file IN ('a\\'\\\\'))"
        " AS l"
    )


@pytest.mark.parametrize(
    ("sql", "whole"),
    [
        ('SELECT "$path" FROM a.t', "hidden column $path"),
        ('SELECT x."$file_modified_time" FROM a.t x', "hidden column"),
        ("SELECT a.t.id FROM a.t", "with its database"),
        ("SELECT c.a.t.id FROM c.a.t", "with its database"),
        ("SELECT * FROM a.t AS x (k, v) WHERE v = 5", "other names"),
        (
            "SELECT * FROM a.t FOR TIMESTAMP AS OF TIMESTAMP '2026-01-01 00:00:00'",
            "name a snapshot",
        ),
        ("SELECT * FROM a.t FOR VERSION AS OF 'main'", "name a snapshot"),
        ("SELECT * FROM (a.t x JOIN a.u y ON x.k = y.k)", "not understood (joins)"),
    ],
)
def test_a_place_that_cannot_be_wrapped_is_read_whole(sql: str, whole: str) -> None:
    assert whole in Query(sql, "trino").uses[0].whole


@pytest.mark.parametrize(
    ("sql", "names", "uses"),
    [
        ("SELECT * FROM lake.a.t, other.a.t o", Names("lake"), ["a.t"]),
        ("SELECT * FROM LAKE.A.T, a.u", Names("lake"), ["a.t", "a.u"]),
        ("SELECT * FROM lake.a.t, a.u", Names("lake", session="other"), ["a.t"]),
        ("SELECT * FROM t, u", Names("lake", session="lake", schema="A"), ["a.t", "a.u"]),
        ("WITH T AS (SELECT 1) SELECT * FROM t, u", Names("lake", schema="a"), ["a.u"]),
        ("SELECT * FROM x.t, a.u, UNNEST(ARRAY[1]) AS v (n)", Names(), ["x.t", "a.u"]),
    ],
)
def test_only_tables_of_the_lake_count(sql: str, names: Names, uses: list[str]) -> None:
    assert [use.name for use in Query(sql, "trino", names).uses] == uses


def test_which_of_several_catalogs_is_the_lake_must_be_said() -> None:
    with pytest.raises(RuleViolation, match=r"several catalogs \(lake, other\)") as refused:
        Query("SELECT * FROM lake.a.t, other.a.u", "trino")
    assert refused.value.code == "prune.catalog"


@pytest.mark.parametrize("dialect", ["starrocks", "doris"])
def test_an_engine_without_paths_of_files_says_so(dialect: str) -> None:
    with pytest.raises(RuleViolation, match="no column that says which data file") as refused:
        Query("SELECT * FROM a.t WHERE id = 1", dialect)
    assert refused.value.code == "prune.dialect"


def test_a_list_that_makes_the_query_too_long_is_refused() -> None:
    with pytest.raises(RuleViolation) as refused:
        Query("SELECT * FROM a.t", "trino").narrowed({0: Narrowed(1, ["x" * 1_000] * 1_000)})
    assert refused.value.code == "prune.long"


@pytest.mark.parametrize(
    ("sql", "dialect", "code"),
    [
        ("SELECT 1", "trino", "prune.tables"),
        ("SELECT * FROM t", "trino", "prune.tables"),
        ("DELETE FROM a.t", "trino", "prune.no_select"),
        ("SELECT 1 FROM a.t; SELECT 2 FROM a.t", "trino", "prune.no_select"),
        ("SELECT FROM WHERE", "trino", "prune.syntax"),
        ("", "trino", "prune.no_select"),
        ("SELECT 1 FROM a.t", "oracle", "prune.dialect"),
        ("SELECT 1 FROM a.t -- " + "x" * 100_000, "trino", "prune.long"),
        (" UNION ALL ".join("SELECT 1 FROM a.t" for _ in range(21)), "trino", "prune.tables"),
        ("(" * 5_000, "trino", "prune.syntax"),
        ("SELECT * FROM a.t WHERE id = 1_000", "trino", "prune.syntax"),
        ("SELECT * FROM a.t JOIN b.t ON 1 = 1", "trino", "prune.syntax"),
    ],
)
def test_what_cannot_be_narrowed_says_why(sql: str, dialect: str, code: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        Query(sql, dialect)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("pattern", "escape", "expected"),
    [("a%_", "", "a%_"), ("a\\", "", "a\\\\"), ("!!!_", "!", "!\\_"), ("!x", "!", None)],
)
def test_patterns_keep_their_meaning(pattern: str, escape: str, expected: str | None) -> None:
    assert spark_pattern(pattern, escape) == expected


@pytest.mark.parametrize(
    ("sql", "pairs"),
    [
        ("a.f JOIN a.d ON f.k = d.k WHERE d.v = 1", {(0, "k", 1, "k"), (1, "k", 0, "k")}),
        ("a.f, a.d WHERE (d.v = 1 AND (k = D.k))", set()),
        ("a.f, a.d WHERE (d.v = 1 AND (x = D.k))", {(0, "x", 1, "k"), (1, "k", 0, "x")}),
        ("a.f, a.d WHERE d.v = 1 AND (f.k = d.k OR f.k = 1)", set()),
        ("a.f, a.d WHERE NOT f.k = d.k AND f.k = f.k AND f.k = d.v + 1", set()),
        ("a.f LEFT JOIN a.d ON f.k = d.k WHERE d.v = 1", set()),
        ("a.f LEFT JOIN a.d ON true WHERE f.k = d.k", {(0, "k", 1, "k"), (1, "k", 0, "k")}),
        ("a.f WHERE k IN (SELECT k FROM a.d WHERE d.k = f.k AND d.v = 1)", set()),
    ],
)
def test_columns_are_equal_only_where_every_row_says_so(
    sql: str, pairs: set[tuple[int, str, int, str]]
) -> None:
    query = Query(f"SELECT 1 FROM {sql}", "trino")
    columns = {"f": {"k": "int", "x": "int"}, "d": {"k": "int", "v": "int"}}
    types = {use.number: columns[use.table] for use in query.uses}
    order = {use.number: 0 if use.table == "f" else 1 for use in query.uses}
    found = {
        (order[one.number], one.column, order[one.other], one.other_column)
        for one in query.equal_columns(types)
    }
    assert found == pairs


def test_a_table_may_be_pinned_and_read_whole() -> None:
    query = Query("SELECT * FROM a.f, a.d", "trino")
    assert query.narrowed({1: Narrowed(3, None)}) == (
        "SELECT * FROM a.f, (SELECT * FROM a.d FOR VERSION AS OF 3) AS d"
    )
