"""Repairs of mysql-replication: values as MariaDB 10.11 wrote them and the library read them."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.schema.domain.logged import repaired
from pipelines.cdc.schema.domain.texts import text_of
from pipelines.cdc.schema.domain.types import parse_type
from portal.lake.errors import RuleViolation


@pytest.mark.parametrize(
    ("column", "value", "none_source", "text"),
    [
        ("date", None, "out of date range", "0000-00-00"),
        ("datetime", None, "out of datetime range", "0000-00-00 00:00:00"),
        ("datetime(3)", None, "out of datetime2 range", "0000-00-00 00:00:00"),
        ("set('a','b')", None, "empty set", ""),
        ("set('a','b')", None, "null", None),
        ("date", None, "null", None),
        ("int", None, "", None),
        ("timestamp", datetime.fromisoformat("1970-01-01"), "", "0000-00-00 00:00:00"),
        ("timestamp", datetime.fromisoformat("1970-01-01 00:00:01"), "", "1970-01-01 00:00:01"),
        ("datetime", datetime.fromisoformat("1970-01-01"), "", "1970-01-01 00:00:00"),
        ("year(4)", 1900, "", "0000"),
        ("year(4)", 1901, "", "1901"),
        ("time(3)", timedelta(days=-1, seconds=82676, microseconds=250000), "", "-01:02:03.250000"),
        ("time(3)", timedelta(days=-1, seconds=86399, microseconds=500000), "", "-00:00:00.500000"),
        ("time", timedelta(days=-1, seconds=41104), "", "-12:34:56"),
        ("int", 1900, "", "1900"),
    ],
)
def test_a_value_becomes_that_of_a_select(
    column: str, value: object, none_source: str, text: str | None
) -> None:
    parsed = parse_type(column)
    assert text_of(repaired(value, parsed, none_source), parsed) == text


@given(st.timedeltas(timedelta(hours=-838), timedelta(hours=838)))
def test_times_below_zero_are_repaired(value: timedelta) -> None:
    read = value
    if value < timedelta(0) and value.microseconds:
        # The library adds the fraction, which has its sign already, to the second before.
        whole, micro = divmod(-value // timedelta(microseconds=1), 1_000_000)
        read = -(timedelta(seconds=whole + 1) - timedelta(microseconds=micro))
    assert repaired(read, parse_type("time(6)")) == value


@pytest.mark.parametrize("none_source", ["cols bitmap", "same with before values"])
def test_a_row_that_is_not_whole_is_refused(none_source: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        repaired(None, parse_type("int"), none_source)
    assert refused.value.code == "cdc.row_image"
