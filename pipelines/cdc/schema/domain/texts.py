"""The text that a value travels as; the same whether a SELECT or the binary log gave the value.

| kind | text |
|---|---|
| integer, decimal, bit | digits; a decimal has all of its scale, bits are an unsigned number |
| float, double | the shortest digits that give the same float of 32 or 64 bits |
| date | `YYYY-MM-DD`; zero dates as they are |
| datetime, timestamp | `YYYY-MM-DD HH:MM:SS[.ffffff]`; a timestamp in UTC |
| time | `[-]HH:MM:SS[.ffffff]`, with up to 838 hours |
| year | four digits |
| enum, set | the member; members in their declared order, joined by commas |
| json | its text in MySQL's own form, numbers in the shortest (1.0 is 1) |
| uuid, inet4, inet6 | as MariaDB writes them |
| binary, geometry | base64 |

A fraction of a second is written with six digits, or not at all where it is zero. `selected` says
how a SELECT must ask.
"""

import base64
import ipaddress
import json
import re
import struct
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import Any

from pipelines.cdc.schema.domain.types import ColumnType, Kind
from portal.lake.errors import RuleViolation

_EXACT = Context(prec=120)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})(?: (\d{2}:\d{2}:\d{2})(?:\.(\d{1,6}))?)?")
_TIME = re.compile(r"(-?\d{2,3}:\d{2}:\d{2})(?:\.(\d{1,6}))?")


def text_of(value: object, column: ColumnType) -> str | None:
    """Return the text of a value as PyMySQL or mysql-replication gives it; None is NULL.

    Raises:
        RuleViolation: `cdc.value`, where it is no value of such a column.
    """
    if value is None:
        return None
    try:
        return _TEXTS[column.kind](value, column)
    except (ValueError, TypeError, AttributeError, ArithmeticError, struct.error) as error:
        # The value is not shown: its column may be protected.
        raise RuleViolation(
            "cdc.value",
            f"A value ({type(value).__name__}) is none of a column of type {column.name}: "
            f"{type(error).__name__}.",
        ) from error


def selected(quoted: str, column: ColumnType) -> str:
    """Return the expression by which a SELECT gets a column's whole value, in a session at +00:00.

    `quoted` is the column's name in backticks. A float is shown with six digits unless it is
    computed with.
    """
    return f"{quoted} + 0e0" if column.kind is Kind.FLOAT else quoted


def _integer(value: object, _: ColumnType) -> str:
    return str(int(_expected(value, int, str)))


def _decimal(value: object, column: ColumnType) -> str:
    number = Decimal(_expected(value, Decimal, int, str))
    step = Decimal(1).scaleb(-column.scale)
    exact = number.quantize(step, context=_EXACT)
    if exact != number:
        exact = number
    return format(abs(exact) if exact.is_zero() else exact, "f")


def _float(value: object, _: ColumnType) -> str:
    return shortest_float(float(_expected(value, float, int, Decimal)))


def shortest_float(number: float) -> str:
    """Return the shortest text that gives the same float of 32 bits.

    Raises:
        OverflowError: no float of 32 bits is near the number.
    """
    wanted = struct.pack("<f", number)
    (single,) = struct.unpack("<f", wanted)
    for digits in range(1, 10):
        short = float(f"{single:.{digits}g}")
        with suppress(OverflowError):
            if struct.pack("<f", short) == wanted:
                return repr(short)
    return repr(single)


def _double(value: object, _: ColumnType) -> str:
    return repr(float(_expected(value, float, int, Decimal)))


def _bit(value: object, _: ColumnType) -> str:
    """mysql-replication gives a text of 0 and 1, PyMySQL bytes."""
    given = _expected(value, bytes, str, int)
    if isinstance(given, bytes):
        return str(int.from_bytes(given, "big"))
    return str(int(given, 2)) if isinstance(given, str) else str(int(given))


def _text(value: object, _: ColumnType) -> str:
    """A text comes as bytes where Python does not know its charset; it must be UTF-8 then."""
    return _plain(value)


def _set(value: object, column: ColumnType) -> str:
    given = _expected(value, str, set, frozenset, list, tuple)
    chosen = set(given.split(",")) - {""} if isinstance(given, str) else set(given)
    if strange := chosen - set(column.members):
        raise ValueError(f"{sorted(strange)} are no members")
    return ",".join(one for one in column.members if one in chosen)


def _json(value: object, _: ColumnType) -> str:
    """PyMySQL gives the text; mysql-replication gives the tree, its strings as bytes.

    So a document that is a single string comes as bytes from the log.
    """
    if isinstance(value, str):
        value = json.loads(value, parse_float=Decimal)
    return _json_of(value)


def _json_of(value: object) -> str:
    if isinstance(value, dict):
        pairs = sorted(
            ((_plain(key), item) for key, item in value.items()),
            key=lambda pair: (len(pair[0].encode()), pair[0].encode()),
        )
        return "{" + ", ".join(f"{_quoted(key)}: {_json_of(item)}" for key, item in pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_json_of(item) for item in value) + "]"
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int | float | Decimal):
        return _json_number(Decimal(repr(value) if isinstance(value, float) else value))
    if isinstance(value, datetime):
        return _quoted(f"{value:%Y-%m-%d %H:%M:%S.%f}")
    if isinstance(value, time):
        return _quoted(f"{value:%H:%M:%S.%f}")
    return _quoted(value.isoformat() if isinstance(value, date) else _plain(value))


def _json_number(value: Decimal) -> str:
    """A number has one text, however it was stored: 1.0 as a double is 1, and -0.0 is 0."""
    exact = value.normalize(_EXACT)
    if not exact:
        return "0"
    return format(exact, "f") if -7 <= exact.adjusted() < 21 else str(exact).lower()


def _plain(value: object) -> str:
    given = _expected(value, str, bytes)
    return given.decode() if isinstance(given, bytes) else str(given)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _date(value: object, _: ColumnType) -> str:
    """PyMySQL gives what is no date of a calendar as its text."""
    given = _expected(value, date, str)
    if isinstance(given, date):
        return given.strftime("%Y-%m-%d").rjust(10, "0")
    return _matched(_DATE, given)[0]


def _moment(value: object, _: ColumnType) -> str:
    given = _expected(value, datetime, str)
    if isinstance(given, datetime):
        if given.tzinfo is not None:
            given = given.astimezone(UTC).replace(tzinfo=None)
        return given.isoformat(" ")
    found = _matched(_MOMENT, given)
    return f"{found[1]} {found[2] or '00:00:00'}{_fraction(found[3])}"


def _time(value: object, _: ColumnType) -> str:
    given = _expected(value, timedelta, str)
    if isinstance(given, str):
        found = _matched(_TIME, given)
        return f"{found[1]}{_fraction(found[2])}"
    seconds, micro = divmod(abs(given) // timedelta(microseconds=1), 1_000_000)
    sign = "-" if given < timedelta(0) else ""
    hours, rest = divmod(seconds, 3600)
    fraction = f".{micro:06}" if micro else ""
    return f"{sign}{hours:02}:{rest // 60:02}:{rest % 60:02}{fraction}"


def _year(value: object, _: ColumnType) -> str:
    return f"{int(_expected(value, int, str)):04}"


def _bytes(value: object, column: ColumnType) -> str:
    """The binary log leaves the zero bytes at the end of `binary(n)` out."""
    given = _octets(value)
    if column.is_fixed:
        given = given.ljust(column.size, b"\0")
    return base64.b64encode(given).decode("ascii")


def _uuid(value: object, _: ColumnType) -> str:
    if isinstance(value, str) and value:
        return str(uuid.UUID(value))
    return str(uuid.UUID(bytes=_octets(value).ljust(16, b"\0")))


def _inet4(value: object, _: ColumnType) -> str:
    if isinstance(value, str) and value:
        return str(ipaddress.IPv4Address(value))
    return str(ipaddress.IPv4Address(_octets(value).ljust(4, b"\0")))


def _inet6(value: object, _: ColumnType) -> str:
    """An address of IPv4 inside of IPv6 is shown with points, as MariaDB does."""
    if isinstance(value, str) and value:
        address = ipaddress.IPv6Address(value)
    else:
        address = ipaddress.IPv6Address(_octets(value).ljust(16, b"\0"))
    return f"::ffff:{address.ipv4_mapped}" if address.ipv4_mapped else str(address)


def _octets(value: object) -> bytes:
    """An empty value of mysql-replication is an empty text, whatever its column is."""
    return b"" if value == "" else bytes(_expected(value, bytes, bytearray))


def _fraction(digits: str | None) -> str:
    padded = (digits or "").ljust(6, "0")
    return f".{padded}" if padded.strip("0") else ""


def _matched(form: re.Pattern[str], text: str) -> re.Match[str]:
    found = form.fullmatch(text)
    if found is None:
        raise ValueError("it has another form")
    return found


def _expected(value: object, *kinds: type) -> Any:
    if not isinstance(value, kinds):
        raise TypeError(f"a {type(value).__name__} was not expected")
    return value


_TEXTS: dict[Kind, Callable[[object, ColumnType], str]] = {
    Kind.INTEGER: _integer,
    Kind.DECIMAL: _decimal,
    Kind.FLOAT: _float,
    Kind.DOUBLE: _double,
    Kind.BIT: _bit,
    Kind.TEXT: _text,
    Kind.ENUM: _text,
    Kind.SET: _set,
    Kind.JSON: _json,
    Kind.DATE: _date,
    Kind.DATETIME: _moment,
    Kind.TIMESTAMP: _moment,
    Kind.TIME: _time,
    Kind.YEAR: _year,
    Kind.BINARY: _bytes,
    Kind.GEOMETRY: _bytes,
    Kind.UUID: _uuid,
    Kind.INET4: _inet4,
    Kind.INET6: _inet6,
}
