"""Texts of values: the same by a SELECT and from the binary log, and they fit the lake's type."""

import base64
import json
import math
import struct
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.schema.domain.texts import selected, text_of
from pipelines.cdc.schema.domain.types import lake_type, parse_type
from portal.lake.errors import RuleViolation
from tests.support.fitting_texts import cast_problem

# Column type, value by PyMySQL, value by mysql-replication, text: as MariaDB 10.11 gave them.
SEEN = [
    ("tinyint(3) unsigned zerofill", 7, 7, "7"),
    ("bigint(20) unsigned", 2**64 - 1, 2**64 - 1, "18446744073709551615"),
    ("decimal(10,2)", Decimal("-12345678.90"), Decimal("-12345678.90"), "-12345678.90"),
    ("decimal(3,3)", Decimal("0.123"), Decimal(".123"), "0.123"),
    ("decimal(5,2)", Decimal("0.00"), Decimal("-0.00"), "0.00"),
    ("decimal(40,0)", Decimal(10) ** 39, Decimal("1" + "0" * 39 + "."), "1" + "0" * 39),
    ("float", 0.1, 0.10000000149011612, "0.1"),
    ("float", 3.4e38, 3.3999999521443642e38, "3.4e+38"),
    ("float(7,4)", 123.45670318603516, 123.45670318603516, "123.4567"),
    ("double", 0.1, 0.1, "0.1"),
    ("double", 5e-324, 5e-324, "5e-324"),
    ("bit(1)", b"\x01", "1", "1"),
    ("bit(5)", b"\x16", "10110", "22"),
    ("bit(64)", b"\x80" + b"\0" * 6 + b"\1", "1" + "0" * 62 + "1", "9223372036854775809"),
    ("varchar(20)", "é€", "é€", "é€"),
    ("text", "", "", ""),
    ("binary(4)", b"\x01\0\0\0", b"\x01", "AQAAAA=="),
    ("binary(4)", b"\0\0\0\0", "", "AAAAAA=="),
    ("varbinary(8)", b"\x01\0", b"\x01\0", "AQA="),
    ("blob", b"", "", ""),
    ("enum('a','b''c')", "b'c", "b'c", "b'c"),
    ("set('x','y','z')", "x,z", {"z", "x"}, "x,z"),
    ("date", date(2024, 2, 29), date(2024, 2, 29), "2024-02-29"),
    ("date", "0000-00-00", "0000-00-00", "0000-00-00"),
    ("datetime(3)", "0000-00-00 00:00:00.000", "0000-00-00 00:00:00", "0000-00-00 00:00:00"),
    (
        "datetime",
        datetime.fromisoformat("0001-01-01"),
        datetime.fromisoformat("0001-01-01"),
        "0001-01-01 00:00:00",
    ),
    (
        "timestamp(6)",
        datetime.fromisoformat("2024-02-29 01:02:03.000100"),
        datetime.fromisoformat("2024-02-29 01:02:03.000100"),
        "2024-02-29 01:02:03.000100",
    ),
    ("time", timedelta(hours=-838, minutes=-59, seconds=-59), "-838:59:59", "-838:59:59"),
    ("time(3)", -timedelta(milliseconds=500), "-00:00:00.500", "-00:00:00.500000"),
    ("year(4)", 0, 0, "0000"),
    (
        "uuid",
        "123e4567-e89b-12d3-a456-426655440000",
        b"\x12>Eg\xe8\x9b\x12\xd3\xa4VBfUD",
        "123e4567-e89b-12d3-a456-426655440000",
    ),
    ("inet6", "::ffff:1.2.3.4", b"\0" * 10 + b"\xff\xff\x01\x02\x03\x04", "::ffff:1.2.3.4"),
    ("inet6", "::", "", "::"),
    ("inet4", "1.2.3.0", b"\x01\x02\x03", "1.2.3.0"),
    ("json", '{"bb": [1.0, null], "a": "é"}', {b"a": b"\xc3\xa9", b"bb": [1.0, None]}, None),
]


@pytest.mark.parametrize(("column", "by_select", "by_log", "text"), SEEN)
def test_a_value_has_one_text_however_it_came(
    column: str, by_select: object, by_log: object, text: str | None
) -> None:
    texts = {text_of(value, parse_type(column)) for value in (by_select, by_log)}
    assert len(texts) == 1
    assert text is None or texts == {text}


@pytest.mark.parametrize("column", ["int", "json", "enum('a')", "date", "binary(3)", "bit(1)"])
def test_null_is_null(column: str) -> None:
    assert text_of(None, parse_type(column)) is None


def test_json_has_mysqls_form() -> None:
    column = parse_type("json")
    tree = {"long": True, "b": [1, 1.5, 1e300, Decimal("0.10")], "a": 'q"\n'}
    text = text_of(tree, column)
    assert text == '{"a": "q\\"\\n", "b": [1, 1.5, 1e+300, 0.1], "long": true}'
    assert text_of(text, column) == text
    assert text_of(b"x", column) == '"x"'
    assert text_of("null", column) == "null"
    when = datetime.fromisoformat("2024-01-02 03:04:05")
    assert (
        text_of([when, date(2024, 1, 2)], column) == '["2024-01-02 03:04:05.000000", "2024-01-02"]'
    )


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    ).filter(lambda tree: tree is not None)
)
def test_a_document_has_the_same_text_as_a_tree_and_as_json(tree: object) -> None:
    column = parse_type("json")
    text = text_of(tree.encode() if isinstance(tree, str) else tree, column)
    assert text is not None
    assert text_of(json.dumps(tree, ensure_ascii=False), column) == text
    assert text_of(text, column) == text


@given(st.floats(width=32, allow_nan=False))
def test_the_text_of_a_float_gives_the_same_float(value: float) -> None:
    text = text_of(value, parse_type("float"))
    assert text is not None
    if math.isinf(value):
        assert float(text) == value
        return
    assert struct.pack("<f", float(text)) == struct.pack("<f", value)
    assert cast_problem(text, "float") == ""


@given(st.floats(allow_nan=False))
def test_the_text_of_a_double_gives_the_same_double(value: float) -> None:
    text = text_of(value, parse_type("double"))
    assert text is not None
    assert float(text) == value
    assert cast_problem(text, "double") == ""


@given(st.integers(1, 64), st.data())
def test_bits_are_an_unsigned_number(size: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, 2**size - 1))
    column = parse_type(f"bit({size})")
    by_select = number.to_bytes((size + 7) // 8, "big")
    assert text_of(by_select, column) == text_of(f"{number:0{size}b}", column) == str(number)
    assert cast_problem(str(number), lake_type(column)) == ""


@given(st.timedeltas(timedelta(hours=-838), timedelta(hours=838)))
def test_times_are_signed_hours(value: timedelta) -> None:
    text = text_of(value, parse_type("time(6)"))
    assert text is not None
    hours, minutes, seconds = text.lstrip("-").split(":")
    whole = timedelta(hours=int(hours), minutes=int(minutes)) + timedelta(
        microseconds=int(Decimal(seconds) * 1_000_000)
    )
    assert (-whole if text.startswith("-") else whole) == value
    assert text_of(text, parse_type("time(6)")) == text


@given(st.datetimes(), st.sampled_from(["datetime(6)", "timestamp(6)"]))
def test_moments_fit_the_lake(value: datetime, column: str) -> None:
    text = text_of(value, parse_type(column))
    assert text is not None
    assert datetime.fromisoformat(text) == value
    assert cast_problem(text, "timestamp") == ""
    assert text_of(text, parse_type(column)) == text


@given(st.dates())
def test_dates_fit_the_lake(value: date) -> None:
    text = text_of(value, parse_type("date"))
    assert text == value.isoformat()
    assert cast_problem(text, "date") == ""


def test_a_moment_with_a_zone_is_told_in_utc() -> None:
    value = datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    assert text_of(value, parse_type("timestamp")) == "2023-12-31 23:00:00"
    assert text_of(value.astimezone(UTC), parse_type("timestamp")) == "2023-12-31 23:00:00"


@given(st.binary(max_size=30))
def test_bytes_are_base64(value: bytes) -> None:
    text = text_of(value, parse_type("blob"))
    assert text is not None
    assert base64.b64decode(text) == value
    assert cast_problem(text, "binary") == ""


@given(st.binary(max_size=16))
def test_padding_of_binary_comes_back(value: bytes) -> None:
    column = parse_type("binary(16)")
    padded = value.ljust(16, b"\0")
    assert text_of(padded, column) == text_of(padded.rstrip(b"\0"), column)


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=4, min_value=-(10**8), max_value=10**8
    )
)
def test_decimals_have_all_digits_of_their_scale(value: Decimal) -> None:
    text = text_of(value, parse_type("decimal(20,6)"))
    assert text is not None
    assert Decimal(text) == value
    assert len(text.partition(".")[2]) == 6
    assert cast_problem(text, "decimal(20,6)") == ""


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("int", 1.5),
        ("int", "x"),
        ("date", 5),
        ("set('a')", "b"),
        ("time", "1"),
        ("json", "{"),
        ("uuid", "x"),
        ("float", 1e300),
        ("blob", "x"),
        ("bit(1)", "2"),
    ],
)
def test_what_is_no_value_of_the_column_is_refused(column: str, value: object) -> None:
    with pytest.raises(RuleViolation) as refused:
        text_of(value, parse_type(column))
    assert refused.value.code == "cdc.value"
    assert len(str(value)) < 4 or str(value) not in refused.value.message


def test_a_float_is_selected_with_all_its_digits() -> None:
    assert selected("`f`", parse_type("float")) == "`f` + 0e0"
    assert selected("`d`", parse_type("double")) == "`d`"
