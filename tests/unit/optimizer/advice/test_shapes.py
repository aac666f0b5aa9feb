"""Tests that queries which differ in constants alone have one shape, and that none stays in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.advice.domain.shapes import shape_of

ORDERS = "SELECT day, sum(price) FROM lake.sales.orders WHERE city = 'Kiel' AND n > 5 GROUP BY day"


@pytest.mark.parametrize(
    "other",
    [
        ORDERS.replace("'Kiel'", "'Hamburg'"),
        ORDERS.replace("5", "-17"),
        ORDERS.replace("SELECT day", "select  DAY"),
        ORDERS.replace("WHERE", "-- of yesterday\nWHERE"),
        ORDERS + ";",
    ],
)
def test_constants_case_and_comments_make_no_other_shape(other: str) -> None:
    assert shape_of(other, "trino") == shape_of(ORDERS, "trino")


@pytest.mark.parametrize(
    "other",
    [
        ORDERS.replace("n > 5", "n >= 5"),
        ORDERS.replace("city", "town"),
        ORDERS.replace("sum", "max"),
        ORDERS.replace("GROUP BY day", "GROUP BY 1"),
        ORDERS.replace("GROUP BY day", "GROUP BY 2"),
    ],
)
def test_another_column_function_or_condition_is_another_shape(other: str) -> None:
    assert shape_of(other, "trino").digest != shape_of(ORDERS, "trino").digest


def test_a_list_of_any_length_is_one_constant() -> None:
    few, many = (
        shape_of(f"SELECT * FROM t WHERE id IN ({', '.join(map(str, range(n)))})", "spark")
        for n in (2, 900)
    )
    assert few == many
    assert "1" not in few.text


def test_what_is_no_sql_has_a_shape_too() -> None:
    broken = [shape_of(f"SELECT FROM WHERE ( x = 'secret {n}'", "trino") for n in (1, 2)]
    assert broken[0] == broken[1]
    assert not broken[0].is_parsed
    assert "secret" not in broken[0].text
    assert shape_of("it's \x00 nothing", "trino").text == ""
    assert shape_of("", "trino").is_parsed is False


@pytest.mark.parametrize("sql", ["CALL system.open('abc', 1)", "ALTER USER x IDENTIFIED BY abc"])
def test_of_a_command_its_first_word_stays(sql: str) -> None:
    shape = shape_of(sql, "spark")
    assert (shape.text, shape.is_parsed) == (f"{sql.split(maxsplit=1)[0].lower()} ?", False)


def test_a_very_long_text_is_folded_by_its_words() -> None:
    long = "SELECT * FROM t WHERE a IN (" + ", ".join(f"'{n:07}'" for n in range(40_000)) + ")"
    shape = shape_of(long, "trino")
    assert not shape.is_parsed
    assert len(shape.text) <= 20_000
    assert "0000007" not in shape.text


def test_a_text_of_very_many_words_is_not_parsed() -> None:
    """A parser takes seconds for it, in a process that answers other people meanwhile."""
    text = "SELECT a FROM t WHERE b IN ({}) AND c = 5"
    many, more = (text.format(", ".join(map(str, range(n)))) for n in (6_000, 7_000))
    shape = shape_of(many, "trino")
    assert shape == shape_of(more, "trino")
    assert not shape.is_parsed
    assert shape.text == "select a from t where b in ( ? ) and c = ?"


@given(st.text(alphabet="abcXYZ019 _-%", min_size=3, max_size=20), st.integers())
def test_no_constant_stays_in_a_shape(word: str, number: int) -> None:
    secret = f"Q{word}Q"
    sql = (
        f"WITH x AS (SELECT a FROM d.t WHERE b = '{secret}' OR c IN ('{secret}', 'z')) "
        f"SELECT CASE WHEN a = '{secret}' THEN {number} ELSE 0 END FROM x "
        f"WHERE a LIKE '%{secret}%' AND d BETWEEN DATE '2026-01-01' AND DATE '2026-02-01' "
        f"LIMIT {abs(number) % 1000}"
    )
    for dialect in ("trino", "spark"):
        shape = shape_of(sql, dialect)
        assert shape.is_parsed
        assert secret.lower() not in shape.text.lower()
        assert "2026" not in shape.text
        assert shape == shape_of(sql.replace(secret, "other"), dialect)
