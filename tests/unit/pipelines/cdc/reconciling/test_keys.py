"""A key that the lake's values give has the texts that the changelog has."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.reconciling.domain.keys import key_row
from pipelines.cdc.schema.domain.texts import text_of
from pipelines.cdc.schema.domain.types import parse_type


def of(kind: str, text: str | None) -> str | None:
    schema = TableSchema("shop", "t", 1, 1, (Column("k", kind),), ("k",))
    return key_row(json.dumps({"k": text}), schema)["k"]


@pytest.mark.parametrize(
    ("kind", "lake", "text"),
    [
        ("int(7) zerofill", "42", "42"),
        ("bigint unsigned", "18446744073709551615", "18446744073709551615"),
        ("year", "0", "0000"),
        ("decimal(5,2)", "1.50", "1.50"),
        ("bit(1)", "1", "1"),
        ("float", "1.5E10", "15000000000.0"),
        ("double", "1.0E-5", "1e-05"),
        ("date", "2024-02-29", "2024-02-29"),
        ("datetime(6)", "2024-02-29 12:00:00.5", "2024-02-29 12:00:00.500000"),
        ("timestamp", "2024-02-29 12:00:00", "2024-02-29 12:00:00"),
        ("varchar(9)", "É ", "É "),
        ("enum('a','b')", "b", "b"),
        ("binary(4)", "YQAAAA==", "YQAAAA=="),
        ("varbinary(4)", "", ""),
    ],
)
def test_the_lakes_text_becomes_that_of_the_changelog(kind: str, lake: str, text: str) -> None:
    assert of(kind, lake) == text


@pytest.mark.parametrize("kind", ["int", "date", "binary(2)", "bit(1)", "double"])
def test_what_no_source_can_have_had_stays(kind: str) -> None:
    assert of(kind, "{no}") == "{no}"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_has_one_text(number: float) -> None:
    assert of("double", repr(number)) == text_of(number, parse_type("double"))
