"""Tests what is written of a query: no constant, unless its tables' policies keep them."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.shapes import parted
from optimizer.cubes.domain.readers import Engine
from optimizer.queries.domain.help import is_helped
from optimizer.queries.domain.kept_query import (
    MOST_FILLED,
    HiddenConstants,
    hidden,
    query_line,
    shape_line,
)
from optimizer.queries.domain.query_record import QueryRecord, TableScan
from optimizer.queries.domain.segments import is_old, is_segment, segment_name

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
KEY = b"k" * 32
TEXT = "SELECT a FROM t WHERE city = 'Kiel' AND n IN (4711, 4712) LIMIT 10"
WORDS = st.text(alphabet='abcXYZ019 _-%äß"\\', min_size=4, max_size=20)


def of(text: str, dialect: str = "trino", key: bytes = KEY) -> HiddenConstants:
    return hidden(parted(text, dialect), key)


def record(text: str = TEXT, **values: Any) -> QueryRecord:
    scan = TableScan("shop", "ev", (Filter("city", FilterKind.EQUAL),), 10, 0.5, 3)
    made = QueryRecord(Engine.TRINO, "q1", is_failed=False, scans=(scan,), text=text, user="olga")
    return replace(made, **values)


def line(text: str = TEXT, *, keeps_constants: bool = False, **values: Any) -> dict[str, Any]:
    query = record(text, **values)
    said = query_line(query, of(text), keeps_constants=keeps_constants, now=NOW)
    assert said.endswith(b"\n")
    assert said.count(b"\n") == 1
    found: dict[str, Any] = json.loads(said)
    return found


def test_a_line_says_what_the_query_read_and_hides_its_constants() -> None:
    said = line(ended_at=NOW - timedelta(seconds=3), seconds=2.5, n_bytes=10)
    assert (said["query_id"], said["engine"], said["user"]) == ("q1", "trino", "olga")
    assert said["ended_at"] == "2026-11-27T11:59:57.000+00:00"
    assert said["tables"] == [
        {
            "db": "shop",
            "table": "ev",
            "filters": [{"column": "city", "kind": "="}],
            "n_bytes": 10,
            "n_files": 3,
            "share": 0.5,
        }
    ]
    assert len(said["hashes"]) == 4
    assert said["constants"] is None
    shape = json.loads(shape_line(of(TEXT).shape))
    assert shape["shape"] == said["shape"]
    assert shape["text"] == "SELECT a FROM t WHERE city = ? AND n IN (?) LIMIT ?"


def test_equal_constants_have_equal_hashes_and_another_key_has_others() -> None:
    first, other = of(TEXT), of("SELECT b FROM u WHERE x = 'Kiel'")
    assert first.hashes[0] == other.hashes[0]
    assert len(set(first.hashes)) == 4
    assert not set(first.hashes) & set(of(TEXT, key=b"l" * 32).hashes)


def test_kept_constants_put_the_query_together_again() -> None:
    said = line(keeps_constants=True)
    assert said["constants"] == ["'Kiel'", "4711, 4712", "10"]
    text = of(TEXT).shape.text
    for one in said["constants"]:
        text = text.replace("?", one, 1)
    assert text == TEXT


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("INSERT INTO t VALUES ('a', 1), ('b', 2)", ("'a', 1), ('b', 2",)),
        ("SELECT * FROM t WHERE x = ? AND y = 'a'", None),
        ("SELECT a FROM t WHERE :lwc0z = 7", ("7",)),
        (f"SELECT a FROM t WHERE x = '{'y' * MOST_FILLED}'", None),
        ("SELECT FROM WHERE x = 'secret'", None),
        ("CALL system.open('abc')", None),
    ],
)
def test_constants_are_kept_only_where_each_has_its_place(
    text: str, filled: tuple[str, ...] | None
) -> None:
    assert of(text).filled == filled


@given(WORDS, st.integers(10**9, 10**12), st.floats(0.001, 0.999))
def test_no_constant_is_written(word: str, number: int, part: float) -> None:
    secret = f"Q{word}Q"
    quoted = secret.replace("'", "''")
    share = f"{part:.17f}"
    texts = (
        f"SELECT a FROM t WHERE b = '{quoted}' AND n IN ({number}, 2) AND p < {share}",
        f"SELECT json_extract(a, '$.{quoted}') FROM t GROUP BY date_trunc('{quoted}', b)",
        f"WITH x AS (SELECT '{quoted}' c) SELECT * FROM x /* {secret} */ ORDER BY {number}",
        f"INSERT INTO t VALUES ('{quoted}', {number})",
        f"SELECT ( FROM WHERE '{quoted}' {number}",
        f"CREATE TABLE t WITH (location = '{quoted}') AS SELECT interval '{number}' day x",
        f"SHOW TABLES LIKE '{quoted}'",
        f"SET SESSION a.b = '{quoted}'",
        f"EXPLAIN SELECT '{quoted}'",
    )
    for text in texts:
        for dialect in ("trino", "spark"):
            found = of(text, dialect)
            said = shape_line(found.shape) + query_line(
                record(text), found, keeps_constants=False, now=NOW
            )
            values = (each for one in said.splitlines() for each in json.loads(one).values())
            plain = "\n".join(map(str, values))
            for one in (secret, str(number), share):
                assert one.lower() not in plain.lower(), (dialect, text[:200])


@pytest.mark.parametrize("dialect", ["trino", "spark"])
def test_a_text_that_is_cut_within_a_constant_hides_it(dialect: str) -> None:
    for spaces in range(6):
        text = "SELECT " + " " * spaces + " + ".join(["'Q12345Q'"] * 40_000)
        found = of(text, dialect)
        assert (found.shape.is_parsed, len(found.hashes)) == (False, 256)
        assert found.shape.text.startswith("select ? + ?")
        assert "q1" not in found.shape.text.lower()


def test_odd_instants_and_numbers_are_left_out() -> None:
    first = datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))
    said = line(ended_at=first, seconds=float("inf"))
    assert (said["ended_at"], said["seconds"]) == (None, None)
    assert line("SELECT '\ud800'")["hashes"]


def test_a_segment_is_old_after_minutes_and_where_the_clock_went_back() -> None:
    name = segment_name(NOW, "0" * 32)
    assert is_segment(name)
    assert [is_old(name, NOW + timedelta(minutes=n)) for n in (-2, 0, 4, 5)] == [
        True,
        False,
        False,
        True,
    ]
    assert not is_segment("../" + name)
    assert name < segment_name(NOW + timedelta(milliseconds=1), "0" * 32)


def test_what_reads_less_than_half_is_helped() -> None:
    assert [is_helped(one) for one in (None, 0.1, 0.5, 1.0)] == [None, True, False, False]
