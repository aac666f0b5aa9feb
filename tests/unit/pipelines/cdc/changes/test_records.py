"""Records: one line each, equal ones equal in bytes, anything else refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.changes.domain.records import (
    Change,
    Header,
    decode_change,
    decode_header,
    encode,
)
from portal.lake.errors import RuleViolation

rows = st.dictionaries(st.text(min_size=1), st.none() | st.text(), max_size=4)
changes = st.builds(
    Change,
    db=st.text(min_size=1),
    table=st.text(min_size=1),
    op=st.sampled_from("cudr"),
    version=st.integers(0, 2**63 - 1),
    key=rows,
    schema=st.integers(1, 99),
    position=st.text(),
    at=st.integers(0, 2**45),
    before=st.none() | rows,
    after=st.none() | rows,
)


@given(changes)
def test_a_change_reads_as_it_was_written_on_one_line(change: Change) -> None:
    line = encode(change)
    assert decode_change(line) == change
    assert b"\n" not in line


@given(rows)
def test_the_order_of_columns_does_not_tell_rows_apart(row: dict[str, str | None]) -> None:
    one = Change("d", "t", "c", 1, {}, 1, "", 0, after=row)
    other = Change("d", "t", "c", 1, {}, 1, "", 0, after=dict(reversed(row.items())))
    assert encode(one) == encode(other)


def test_a_header_says_how_far_it_goes() -> None:
    header = Header("shop", 3, "0:bin.000001:4", "0:bin.000001:99", 5, 0, {"shop.orders": "{}"})
    assert decode_header(encode(header)) == header


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b'{"phone":"0911',
        b'{"op":"c","after":{"phone":0911}}',
        b"[]",
        b'{"db": 1}',
        b'{"op": "x"}',
        b"\xff",
    ],
)
def test_what_is_no_record_is_refused(line: bytes) -> None:
    for read in (decode_change, decode_header):
        with pytest.raises(RuleViolation) as refused:
            read(line)
        assert refused.value.code == "cdc.record"
        assert "0911" not in refused.value.message
