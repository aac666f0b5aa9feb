"""Reads single values out of a row image of the binary log, by the column's type.

The texts are those of `schema.domain.texts`, which has the rules; here are the forms of the log.
"""

import json
import struct
from collections.abc import Callable
from typing import Any

from pipelines.cdc.capture.domain import table_maps as maps
from pipelines.cdc.capture.domain.charsets import Decode
from pipelines.cdc.capture.domain.table_maps import MapColumn
from pipelines.cdc.schema.domain.texts import text_of
from pipelines.cdc.schema.domain.types import ColumnType, Kind
from portal.lake.errors import ExternalFailure

Cell = Callable[[bytes, int], tuple[str, int]]
"""Reads the value at a place; returns its text and the place after it."""
JsonReader = Callable[[bytes], Any]

_INTEGERS = {maps.TINY: 1, maps.SHORT: 2, maps.INT24: 3, maps.LONG: 4, maps.LONGLONG: 8}
_BLOBS = frozenset(
    {maps.BLOB, maps.TINY_BLOB, maps.MEDIUM_BLOB, maps.LONG_BLOB, maps.GEOMETRY, maps.VECTOR}
)
_DIGITS = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
"""Bytes that so many digits of a decimal take."""


def cell_of(column: MapColumn, kind: ColumnType, decode: Decode, read_json: JsonReader) -> Cell:
    """Return the reader of a column's values.

    Raises:
        ExternalFailure: `cdc.column`, where the log has a type that is not known.
    """
    if column.type in _INTEGERS:
        told = column.is_unsigned
        is_unsigned = kind.is_unsigned if told is None else told
        return _integer(_INTEGERS[column.type], signed=not is_unsigned)
    if column.type in _BLOBS or column.type in (maps.VARCHAR, maps.STRING, maps.VAR_STRING):
        return _string(column, kind, decode)
    if column.type in _MAKERS:
        return _MAKERS[column.type](column, kind)
    if column.type in (maps.ENUM, maps.SET):
        return _members(column, kind, decode)
    if column.type == maps.JSON:
        return _json(column, kind, read_json)
    raise ExternalFailure(
        "cdc.column",
        f"A column of type {kind.name} has number {column.type} in the binary log, which is not "
        "known; leave its table out.",
        service="mysql",
        retryable=False,
    )


def _integer(size: int, *, signed: bool) -> Cell:
    def read(data: bytes, at: int) -> tuple[str, int]:
        end = at + size
        return str(int.from_bytes(data[at:end], "little", signed=signed)), end

    return read


def _string(column: MapColumn, kind: ColumnType, decode: Decode) -> Cell:
    short = 2 if column.meta > 255 else 1
    width = column.meta if column.type in _BLOBS else short
    is_text = kind.kind is Kind.TEXT

    def read(data: bytes, at: int) -> tuple[str, int]:
        start = at + width
        end = start + int.from_bytes(data[at:start], "little")
        value = data[start:end]
        return (decode(value) if is_text else str(text_of(value, kind))), end

    return read


def _json(column: MapColumn, kind: ColumnType, read_json: JsonReader) -> Cell:
    width = column.meta

    def read(data: bytes, at: int) -> tuple[str, int]:
        start = at + width
        end = start + int.from_bytes(data[at:start], "little")
        # A row that was written before its column became JSON has no bytes: the server shows null.
        tree = read_json(data[start:end]) if end > start else json.loads("null")
        return str(text_of(tree, kind)) if tree is not None else "null", end

    return read


def _members(column: MapColumn, kind: ColumnType, decode: Decode) -> Cell:
    names = tuple(decode(one) for one in column.members) or kind.members
    size = column.meta

    def read_enum(data: bytes, at: int) -> tuple[str, int]:
        end = at + size
        index = int.from_bytes(data[at:end], "little")
        return (names[index - 1] if index else ""), end

    def read_set(data: bytes, at: int) -> tuple[str, int]:
        end = at + size
        mask = int.from_bytes(data[at:end], "little")
        return ",".join(name for n, name in enumerate(names) if mask >> n & 1), end

    return read_enum if column.type == maps.ENUM else read_set


def _float(_: MapColumn, kind: ColumnType) -> Cell:
    form, size = ("<f", 4) if kind.kind is Kind.FLOAT else ("<d", 8)

    def read(data: bytes, at: int) -> tuple[str, int]:
        (value,) = struct.unpack_from(form, data, at)
        return str(text_of(value, kind)), at + size

    return read


def _year(_: MapColumn, __: ColumnType) -> Cell:
    def read(data: bytes, at: int) -> tuple[str, int]:
        return (str(1900 + data[at]) if data[at] else "0000"), at + 1

    return read


def _bit(column: MapColumn, _: ColumnType) -> Cell:
    size = (column.meta + 7) // 8

    def read(data: bytes, at: int) -> tuple[str, int]:
        return str(int.from_bytes(data[at : at + size], "big")), at + size

    return read


def _decimal(column: MapColumn, _: ColumnType) -> Cell:
    digits, scale = column.meta >> 8, column.meta & 0xFF
    whole_groups, whole_rest = divmod(digits - scale, 9)
    part_groups, part_rest = divmod(scale, 9)
    groups = [(_DIGITS[whole_rest], whole_rest)] if whole_rest else []
    groups += [(4, 9)] * (whole_groups + part_groups)
    groups += [(_DIGITS[part_rest], part_rest)] if part_rest else []
    size = sum(n for n, _ in groups)

    def read(data: bytes, at: int) -> tuple[str, int]:
        end = at + size
        is_negative = not data[at] & 0x80
        number = int.from_bytes(data[at:end], "big") ^ (0x80 << 8 * (size - 1))
        if is_negative:
            number ^= (1 << 8 * size) - 1
        left, parts = number.to_bytes(size, "big"), []
        place = 0
        for n, width in groups:
            parts.append(f"{int.from_bytes(left[place : place + n], 'big'):0{width}}")
            place += n
        text = "".join(parts)
        whole = text[: digits - scale].lstrip("0") or "0"
        shown = f"{whole}.{text[digits - scale :]}" if scale else whole
        return (f"-{shown}" if is_negative and number else shown), end

    return read


def _date(_: MapColumn, __: ColumnType) -> Cell:
    def read(data: bytes, at: int) -> tuple[str, int]:
        value = int.from_bytes(data[at : at + 3], "little")
        return f"{value >> 9:04}-{value >> 5 & 15:02}-{value & 31:02}", at + 3

    return read


def _fraction_size(digits: int) -> int:
    return (digits + 1) // 2


def _micro(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "big") * int(10 ** (6 - 2 * size)) if size else 0


def _datetime(column: MapColumn, _: ColumnType) -> Cell:
    size = _fraction_size(column.meta)

    def read(data: bytes, at: int) -> tuple[str, int]:
        value = int.from_bytes(data[at : at + 5], "big") & 0x7FFFFFFFFF
        months, day = value >> 22, value >> 17 & 31
        year, month = divmod(months, 13)
        clock = f"{value >> 12 & 31:02}:{value >> 6 & 63:02}:{value & 63:02}"
        micro = _micro(data, at + 5, size)
        tail = f".{micro:06}" if micro else ""
        return f"{year:04}-{month:02}-{day:02} {clock}{tail}", at + 5 + size

    return read


def _timestamp(column: MapColumn, kind: ColumnType) -> Cell:
    size = _fraction_size(column.meta)

    def read(data: bytes, at: int) -> tuple[str, int]:
        seconds = int.from_bytes(data[at : at + 4], "big")
        return _utc(seconds, _micro(data, at + 4, size)), at + 4 + size

    return read


def _utc(seconds: int, micro: int) -> str:
    """No timestamp is second 0, so it is the zero date."""
    if not seconds:
        return "0000-00-00 00:00:00"
    days, clock = divmod(seconds, 86_400)
    year, month, day = _civil(days)
    text = f"{year:04}-{month:02}-{day:02} {clock // 3600:02}:{clock // 60 % 60:02}:{clock % 60:02}"
    return f"{text}.{micro:06}" if micro else text


def _civil(days: int) -> tuple[int, int, int]:
    """Return year, month and day of a count of days since 1970, in years that begin in March."""
    era, of_era = divmod(days + 719_468, 146_097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    day = of_year - (153 * shifted + 2) // 5 + 1
    return year_of_era + era * 400 + (month <= 2), month, day


def _time(column: MapColumn, _: ColumnType) -> Cell:
    size = _fraction_size(column.meta)
    middle = 0x800000 << 8 * size

    def read(data: bytes, at: int) -> tuple[str, int]:
        """The fraction follows the clock in one number, which is below the middle if negative."""
        end = at + 3 + size
        value = int.from_bytes(data[at:end], "big") - middle
        sign, value = ("-", -value) if value < 0 else ("", value)
        clock, part = value >> 8 * size, value & ((1 << 8 * size) - 1)
        micro = part * int(10 ** (6 - 2 * size)) if size else 0
        text = f"{sign}{clock >> 12:02}:{clock >> 6 & 63:02}:{clock & 63:02}"
        return (f"{text}.{micro:06}" if micro else text), end

    return read


def _old_datetime(_: MapColumn, __: ColumnType) -> Cell:
    def read(data: bytes, at: int) -> tuple[str, int]:
        text = f"{int.from_bytes(data[at : at + 8], 'little'):014}"
        day = f"{text[:4]}-{text[4:6]}-{text[6:8]}"
        return f"{day} {text[8:10]}:{text[10:12]}:{text[12:]}", at + 8

    return read


def _old_timestamp(_: MapColumn, __: ColumnType) -> Cell:
    def read(data: bytes, at: int) -> tuple[str, int]:
        return _utc(int.from_bytes(data[at : at + 4], "little"), 0), at + 4

    return read


def _old_time(_: MapColumn, __: ColumnType) -> Cell:
    def read(data: bytes, at: int) -> tuple[str, int]:
        value = int.from_bytes(data[at : at + 3], "little", signed=True)
        sign, value = ("-", -value) if value < 0 else ("", value)
        text = f"{value // 10_000:02}:{value // 100 % 100:02}:{value % 100:02}"
        return sign + text, at + 3

    return read


_MAKERS: dict[int, Callable[[MapColumn, ColumnType], Cell]] = {
    **{maps.FLOAT: _float, maps.DOUBLE: _float, maps.YEAR: _year, maps.BIT: _bit},
    **{maps.NEWDECIMAL: _decimal, maps.DATE: _date, maps.NEWDATE: _date},
    **{maps.DATETIME2: _datetime, maps.TIMESTAMP2: _timestamp, maps.TIME2: _time},
    **{maps.DATETIME: _old_datetime, maps.TIMESTAMP: _old_timestamp, maps.TIME: _old_time},
}
