"""Conditions of a stored aggregate follow from a query's, judged by an engine of SQL on rows."""

import sqlite3
from collections.abc import Sequence

import pytest
import sqlglot
from hypothesis import example, given
from hypothesis import strategies as st
from sqlglot import exp

from optimizer.matching.domain.blocks import conjuncts
from optimizer.matching.domain.implied import Reader, rest_of
from optimizer.matching.domain.rules import Unfit

TYPES = {"n": "int", "t": "string", "d": "date", "x": "double"}
NUMBERS, TEXTS = (-1, 0, 1, 2, 3), ("a", "b", "c", "")


def _key(node: exp.Expr) -> str:
    return node.unnest().sql("spark")


def _type(node: exp.Expr) -> str | None:
    return TYPES.get(node.name) if isinstance(node, exp.Column) else None


READER = Reader(_key, _type)


def rest(stored: str, asked: str) -> list[str] | None:
    """Return the conditions that are left, None where the stored rows do not do."""
    wanted = conjuncts(sqlglot.parse_one(stored, dialect="spark"))
    given_ = conjuncts(sqlglot.parse_one(asked, dialect="spark"))
    try:
        return [one.sql("spark") for one in rest_of(wanted, READER, given_, READER)]
    except Unfit:
        return None


def _literal(column: str) -> st.SearchStrategy[str]:
    if column == "n":
        return st.sampled_from(NUMBERS).map(str)
    return st.sampled_from(TEXTS).map(lambda one: f"'{one}'")


@st.composite
def condition(draw: st.DrawFn) -> str:
    """Return one condition over a number or a text."""
    column = draw(st.sampled_from(["n", "t"]))
    literal = _literal(column)
    form = draw(st.sampled_from(["op", "swapped", "between", "in", "null", "like", "not"]))
    if form in ("op", "swapped"):
        sign = draw(st.sampled_from(["<", "<=", ">", ">=", "=", "<>"]))
        parts = [column, sign, draw(literal)]
        return " ".join(parts if form == "op" else reversed(parts))
    if form == "between":
        return f"{column} BETWEEN {draw(literal)} AND {draw(literal)}"
    if form == "in":
        return f"{column} IN ({', '.join(draw(st.lists(literal, min_size=1, max_size=3)))})"
    if form == "null":
        return f"{column} IS {draw(st.sampled_from(['', 'NOT ']))}NULL"
    return f"{'NOT ' if form == 'not' else ''}{column} LIKE 'a%'"


_conditions = st.lists(condition(), min_size=1, max_size=3).map(" AND ".join)


def _rows(conditions: Sequence[str]) -> set[tuple[int | None, str | None]]:
    engine = sqlite3.connect(":memory:")
    engine.execute("CREATE TABLE r (n INTEGER, t TEXT)")
    every = [(n, t) for n in (None, *NUMBERS) for t in (None, *TEXTS)]
    engine.executemany("INSERT INTO r VALUES (?, ?)", every)
    where = " AND ".join(f"({one})" for one in conditions) or "1 = 1"
    found = set(engine.execute(f"SELECT n, t FROM r WHERE {where}"))
    engine.close()
    return found


@given(_conditions, _conditions)
@example("n >= 0", "0 < n AND n < 3")
@example("n BETWEEN 0 AND 3", "n IN (0, 3)")
@example("n IS NOT NULL", "n <> 1")
def test_the_rows_are_those_of_the_query(stored: str, asked: str) -> None:
    left = rest(stored, asked)
    if left is not None:
        assert _rows([stored, *left]) == _rows([asked])


@pytest.mark.parametrize(
    ("stored", "asked", "left"),
    [
        ("n >= 1", "n >= 1", []),
        ("n >= 1", "n > 0", None),
        ("n >= 1", "n = 2 AND t = 'a'", ["n = 2", "t = 'a'"]),
        ("n >= 1 AND n < 3", "n BETWEEN 1 AND 2", ["n BETWEEN 1 AND 2"]),
        ("n BETWEEN 1 AND 2", "n >= 1 AND n <= 2", []),
        ("t IN ('a', 'b')", "t = 'b'", ["t = 'b'"]),
        ("t IN ('a', 'b')", "t IN ('b', 'a')", []),
        ("t IN ('a', 'b')", "t IN ('b', 'c')", None),
        ("t IS NOT NULL", "t > 'a'", ["t > 'a'"]),
        ("t IS NOT NULL", "n > 1", None),
        ("d >= DATE '2026-01-01'", "d >= DATE '2026-02-01'", ["d >= CAST('2026-02-01' AS DATE)"]),
        ("d >= DATE '2026-02-01'", "d >= DATE '2026-01-01'", None),
        # A text that is read as a date is not ordered as texts are.
        ("d >= '2026-1-2'", "d >= '2026-1-11'", None),
        ("d >= '2026-1-2'", "d >= '2026-1-2'", []),
        ("t >= 1", "t >= 2", None),
        # Spark reads the text as a number for =, and the numbers as texts for IN.
        ("t IN (1, 2)", "t = 1", None),
        ("t IN (1)", "t = 1", None),
        ("t = 1", "t = 1 AND n = 1", ["n = 1"]),
        ("d IN ('2026-1-1')", "d = '2026-1-1'", None),
        ("n IN ('05', '6')", "n = '05'", None),
        # A double holds no more digits than these.
        ("x > 0.1", "x >= 0.10000000000000000001", None),
        ("x > 0.1", "x > 0.2", ["x > 0.2"]),
        # There is no such day: nothing is after it.
        ("d >= CAST('2026-02-30' AS DATE)", "d >= DATE '2026-03-01'", None),
        ("upper(t) LIKE 'A%'", "upper(t) LIKE 'A%' AND n = 1", ["n = 1"]),
        ("t LIKE 'a%'", "t LIKE 'ab%'", None),
    ],
)
def test_what_is_left_to_be_asked(stored: str, asked: str, left: list[str] | None) -> None:
    assert rest(stored, asked) == left
