"""Values of the binary log, written here as MySQL writes them and read back."""

import struct
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.capture.domain import table_maps as maps
from pipelines.cdc.capture.domain.cells import cell_of
from pipelines.cdc.capture.domain.charsets import decoder
from pipelines.cdc.capture.domain.table_maps import MapColumn
from pipelines.cdc.schema.domain.texts import text_of
from pipelines.cdc.schema.domain.types import parse_type

DIGITS = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)


def read(kind: str, code: int, meta: int, data: bytes) -> str:
    column = MapColumn(code, meta, is_nullable=True)
    cell = cell_of(column, parse_type(kind), decoder("latin1"), lambda _: None)
    text, end = cell(b"before" + data + b"after", 6)
    assert end == 6 + len(data)
    return text


def packed_decimal(value: Decimal, digits: int, scale: int) -> bytes:
    whole, _, part = f"{value.copy_abs():.{scale}f}".partition(".")
    whole = whole.lstrip("0").rjust(digits - scale, "0")
    data = b""
    head = len(whole) % 9
    groups = [whole[:head]] if head else []
    groups += [whole[n : n + 9] for n in range(head, len(whole), 9)]
    groups += [part[n : n + 9] for n in range(0, len(part), 9)]
    for group in groups:
        data += int(group).to_bytes(DIGITS[len(group)], "big")
    if value < 0:
        data = bytes(byte ^ 0xFF for byte in data)
    return bytes((data[0] ^ 0x80,)) + data[1:]


@given(st.data(), st.integers(1, 65))
def test_a_decimal_has_all_of_its_digits(data: st.DataObject, digits: int) -> None:
    scale = data.draw(st.integers(0, min(digits, 30)))
    number = data.draw(st.integers(-(10**digits) + 1, 10**digits - 1))
    kind = f"decimal({digits},{scale})"
    value = Decimal(f"{number}e-{scale}")
    found = read(kind, maps.NEWDECIMAL, digits << 8 | scale, packed_decimal(value, digits, scale))
    assert found == text_of(value, parse_type(kind))


@given(st.integers(-838 * 3600 * 10**6, 838 * 3600 * 10**6), st.integers(0, 6))
def test_a_time_below_zero_keeps_its_fraction(micro: int, scale: int) -> None:
    step = 10 ** (6 - scale)
    micro = micro // step * step
    seconds, rest = divmod(abs(micro), 10**6)
    clock = (seconds // 3600) << 12 | (seconds // 60 % 60) << 6 | seconds % 60
    size = (scale + 1) // 2
    whole = (clock << 8 * size) + rest // 10 ** (6 - 2 * size)
    stored = (0x800000 << 8 * size) + (-whole if micro < 0 else whole)
    found = read(f"time({scale})", maps.TIME2, scale, stored.to_bytes(3 + size, "big"))
    assert found == text_of(timedelta(microseconds=micro), parse_type("time(6)"))


@given(st.integers(1, 2**32 - 1))
def test_a_timestamp_is_in_utc(seconds: int) -> None:
    wanted = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    assert read("timestamp", maps.TIMESTAMP2, 0, seconds.to_bytes(4, "big")) == wanted
    assert read("timestamp", maps.TIMESTAMP, 0, seconds.to_bytes(4, "little")) == wanted


@given(st.datetimes(min_value=datetime(1, 1, 1)))  # noqa: DTZ001  (a datetime of MySQL has no zone)
def test_a_datetime_of_six_digits(value: datetime) -> None:
    months = value.year * 13 + value.month
    whole = months << 22 | value.day << 17 | value.hour << 12 | value.minute << 6 | value.second
    data = (whole | 1 << 39).to_bytes(5, "big") + value.microsecond.to_bytes(3, "big")
    assert read("datetime(6)", maps.DATETIME2, 6, data) == text_of(value, parse_type("datetime(6)"))


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_has_its_shortest_digits(value: float) -> None:
    found = read("float", maps.FLOAT, 4, struct.pack("<f", value))
    assert struct.pack("<f", float(found)) == struct.pack("<f", value)


def test_old_forms_of_times() -> None:
    old = int("20240229123456").to_bytes(8, "little")
    assert read("datetime", maps.DATETIME, 0, old) == "2024-02-29 12:34:56"
    assert read("time", maps.TIME, 0, (-8385959).to_bytes(3, "little", signed=True)) == "-838:59:59"
    assert read("timestamp", maps.TIMESTAMP, 0, bytes(4)) == "0000-00-00 00:00:00"
    assert read("year", maps.YEAR, 0, b"\0") == "0000"


def test_latin1_is_windows_1252_with_nothing_left_out() -> None:
    text = decoder("latin1")(bytes(range(256)))
    assert len(set(text)) == 256
    assert text[0x80] == "€"
    assert text[0x81] == "\x81"
