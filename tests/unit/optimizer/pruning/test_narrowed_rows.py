"""Random queries give the same rows whole and narrowed, judged by SQLite with files of its own.

A file of a table is kept where the condition that the query's reader took from it is true of any
of the file's rows, which is the most that indexes may leave out.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.pruning.domain.queries import Narrowed, Query
from optimizer.pruning.domain.uses import Names

COLUMNS = {
    "logs.lines": {"id": "bigint", "code": "bigint", "word": "string"},
    "logs.hosts": {"id": "bigint", "code": "bigint", "name": "string"},
}
N_FILES, N_IDS = 6, 12
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_VERSION = re.compile(r" FOR VERSION AS OF \d+")
_WRAPPED = re.compile(
    r"\(SELECT \* FROM (\S+) FOR VERSION AS OF 7(?: WHERE (?:FALSE|\"\$path\" IN \([^()]*\)))?\)"
    r"( AS lines| AS hosts)?"
)


@cache
def lake() -> sqlite3.Connection:
    """Return both tables with a few rows a file; values repeat across tables, and some are null."""
    link = sqlite3.connect(":memory:", check_same_thread=False)
    link.execute("ATTACH ':memory:' AS logs")
    link.execute("PRAGMA case_sensitive_like = ON")
    for table, columns in COLUMNS.items():
        link.execute(f'CREATE TABLE {table} ({", ".join(columns)}, "$path")')
        salt = len(table) + ("hosts" in table)
        for n in range(N_FILES * 3):
            value = (n * 7 + salt) % N_IDS
            row = [value if n % 5 else None, n % 4, f"w{value % 3}a{n % 4}", f"f{n % N_FILES}"]
            link.execute(" ".join(["INSERT INTO", table, "VALUES (?, ?, ?, ?)"]), row)
    return link


def leaves(alias: str, text: str, *, qualified: bool) -> st.SearchStrategy[str]:
    number = st.integers(-1, N_IDS).map(str)
    column = st.sampled_from([f"{alias}.id", f'{alias}."CODE"', f"{alias.upper()}.code"])
    word = st.sampled_from([f"{alias}.{text}"] + ([] if qualified else [text, f'"{text}"']))
    some = st.sampled_from(["'%w1%'", "'w2%'", "'%a3'", "'w0a1'", "'it''s'"])
    return st.one_of(
        st.builds("{} {} {}".format, column, st.sampled_from(COMPARISONS), number),
        st.builds("{} = {}".format, number, column),
        st.builds("{} BETWEEN {} AND {}".format, column, number, number),
        st.builds(
            "{} {} ({}, {})".format, column, st.sampled_from(["IN", "NOT IN"]), number, number
        ),
        st.builds("{} IS {}NULL".format, column, st.sampled_from(["", "NOT "])),
        st.builds("{} LIKE {}".format, word, some),
        st.builds("{} = {}".format, word, some),
        st.builds("abs({}) = {}".format, column, number),
    )


def conditions(alias: str, text: str, *, qualified: bool = False) -> st.SearchStrategy[str]:
    return st.recursive(
        leaves(alias, text, qualified=qualified),
        lambda inner: st.one_of(
            st.builds("({} AND {})".format, inner, inner),
            st.builds("({} OR {})".format, inner, inner),
            st.builds("NOT ({})".format, inner),
        ),
        max_leaves=4,
    )


SHAPES = (
    "SELECT a.id, word FROM logs.lines a WHERE {a}",
    "SELECT lines.id /* f */ FROM logs.lines, logs.hosts b WHERE lines.id = b.id AND {b}",
    "SELECT a.id, b.code FROM logs.lines AS a {j} logs.hosts b ON a.id = b.id AND {a} WHERE {b}",
    'SELECT a.id, c.id FROM logs.hosts b {j} "logs".lines "a" ON a.id = b.id {k} logs.lines c '
    "ON c.id = b.code WHERE {b} AND {c}",
    "WITH a AS (SELECT * FROM logs.lines a WHERE {a}) SELECT a.id, b.id FROM a, logs.hosts b "
    "WHERE a.code = b.code AND {b}",
    "SELECT a.id FROM logs.lines a WHERE {a} AND a.id IN (SELECT code FROM logs.hosts b WHERE {b})",
    "SELECT a.id FROM logs.lines a WHERE {a} OR NOT EXISTS (SELECT 1 FROM logs.hosts b WHERE "
    "b.id = a.id AND {b} AND {a})",
    "SELECT a.id FROM logs.lines a WHERE {a} UNION ALL SELECT code FROM logs.hosts b WHERE {b}",
    "SELECT id FROM logs.lines EXCEPT SELECT code FROM logs.hosts b WHERE {b} -- é'",
    "SELECT code, count(*) FROM logs.lines a WHERE {a} GROUP BY code HAVING count(*) > 1",
    "SELECT (SELECT max(b.id) FROM logs.hosts b WHERE b.code = a.code AND {b}) FROM logs.lines a "
    "WHERE {a}",
    "SELECT count(*) FROM (SELECT id, code FROM logs.lines a WHERE {a}) c {j} logs.hosts b ON "
    "c.code = b.code AND {b} WHERE c.id > 3",
)
JOINS = st.sampled_from(["JOIN", "INNER JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
QUERIES = st.builds(
    lambda shape, **parts: shape.format(**parts),
    st.sampled_from(SHAPES),
    a=conditions("a", "word", qualified=True),
    b=conditions("b", "name"),
    c=conditions("c", "word", qualified=True),
    j=JOINS,
    k=JOINS,
)


def rows(sql: str) -> list[str]:
    with closing(lake().execute(_VERSION.sub("", sql))) as found:
        return sorted(map(repr, found.fetchall()))


def kept(table: str, condition: str) -> Iterator[str]:
    for file in (f"f{n}" for n in range(N_FILES)):
        said = condition.replace("\\'", "''")
        asked = " ".join(["SELECT count(*) FROM", table, 'WHERE "$path" = ? AND', said])
        if lake().execute(asked, [file]).fetchone()[0]:
            yield file


@settings(max_examples=150, deadline=None)
@given(QUERIES)
def test_narrowed_queries_give_the_same_rows(sql: str) -> None:
    query = Query(sql, "trino", Names("lake"))
    types = {use.number: COLUMNS[use.name] for use in query.uses}
    answers = {}
    for use in query.uses:
        condition = query.condition(use, types)
        if condition and not use.whole:
            answers[use.number] = Narrowed(7, list(kept(use.name, condition)))
    narrowed = query.narrowed(answers)
    assert rows(narrowed) == rows(sql), narrowed
    assert _WRAPPED.sub(r"\1", narrowed) == sql, "nothing else has changed"


JOINED = (
    "SELECT a.id FROM logs.lines a, logs.hosts b WHERE a.id = b.id AND {b}",
    "SELECT a.id, b.name FROM logs.lines a {j} logs.hosts b ON a.id = b.code AND {a} WHERE {b}",
    "SELECT a.id FROM logs.hosts b {j} logs.lines a ON (b.code = a.code AND {b}) WHERE {a}",
    "SELECT a.id FROM logs.lines a, logs.hosts b, logs.hosts c WHERE a.id = b.id AND {b} "
    "AND c.code = a.code AND c.id > 3",
    "SELECT a.id FROM logs.lines a {j} logs.hosts b ON a.id = b.id WHERE {b} OR a.id = b.code",
    "SELECT a.id FROM logs.lines a WHERE EXISTS (SELECT 1 FROM logs.hosts b, logs.lines c "
    "WHERE b.id = a.id AND b.code = c.code AND {b})",
    "SELECT lines.id FROM logs.lines {j} logs.hosts b ON word = name AND {b} WHERE b.id = lines.id",
)


@settings(max_examples=150, deadline=None)
@given(
    st.builds(
        lambda shape, **parts: shape.format(**parts),
        st.sampled_from(JOINED),
        a=conditions("a", "word", qualified=True),
        b=conditions("b", "name", qualified=True),
        j=JOINS,
    )
)
def test_keys_of_joined_tables_narrow_others_and_lose_no_row(sql: str) -> None:
    query = Query(sql, "trino", Names("lake"))
    types = {use.number: COLUMNS[use.name] for use in query.uses}
    conditions = {use.number: query.condition(use, types) for use in query.uses}
    asked = {number: [text] if text else [] for number, text in conditions.items()}
    answers: dict[int, Narrowed] = {}
    for pair in query.equal_columns(types):
        one, other = query.uses[pair.number], query.uses[pair.other]
        if conditions[other.number] and not one.whole and not other.whole:
            where = conditions[other.number].replace("\\'", "''")
            found = " ".join(["SELECT", pair.other_column, "FROM", other.name, "WHERE", where])
            keys = {key for (key,) in lake().execute(found) if key is not None}
            asked[one.number].append(f"{pair.column} IN ({', '.join(map(repr, keys))})")
            answers.setdefault(other.number, Narrowed(7, None))
    for use in query.uses:
        if asked[use.number] and not use.whole:
            condition = " AND ".join(asked[use.number])
            answers[use.number] = Narrowed(7, list(kept(use.name, condition)))
    narrowed = query.narrowed(answers)
    assert rows(narrowed) == rows(sql), narrowed
    assert _WRAPPED.sub(r"\1", narrowed) == sql
