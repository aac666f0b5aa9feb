"""What a value in a query asks of a column: which points, or which range, of the column's class.

`None` means that this cannot be said for sure (engines cast one side), so nothing is dropped. A
point or a bound is a number, or the bytes of a string, a UUID or a binary.
"""

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias
from uuid import UUID

from optimizer.indexes.domain.predicates import Literal, Operator
from optimizer.indexes.domain.values import NAN_BITS, TOP, ColumnType, ValueClass

Point: TypeAlias = int | float | bytes
_EXACT_DOUBLE = 1 << 53
_MOST_DIGITS = 38
_LONG_DIGITS = 20
"""Of a `bigint` where an engine makes a decimal of it."""
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_ZONED_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH = _ZONED_EPOCH.replace(tzinfo=None)
_MICROSECOND = 1_000_000


@dataclass(frozen=True)
class Range:
    """All from `first` to `last`; None is no bound. NaN stands above all floats."""

    first: Point | None
    last: Point | None
    with_first: bool = True
    with_last: bool = True


@dataclass(frozen=True)
class Asked:
    """The points, or the range, that may satisfy a condition."""

    points: tuple[Point, ...] = ()
    range: Range | None = None
    exact: bool = True
    """Every value of these does satisfy it; false where engines may round."""


def asked_point(kind: ColumnType, value: Literal) -> Asked | None:
    """Return which values may be equal to this one; without points: none can be."""
    if kind.value_class == ValueClass.FLOAT:
        double = _double(value)
        if double is None:
            return None
        rounded = _rounded(double) if kind.single else double
        same = rounded == double or math.isnan(double)
        return Asked((double,)) if same else Asked((double, rounded), exact=False)
    if kind.value_class in _WHOLE:
        number = _number(kind, value)
        if number is None:
            return None
        return Asked((int(number),) if number.denominator == 1 else ())
    raw = _raw(kind, value)
    return None if raw is None else Asked((raw,))


def asked_range(kind: ColumnType, operator: Operator, value: Literal) -> Asked | None:
    """Return which values may stand in this relation to this one."""
    if operator == Operator.EQUAL:
        return asked_point(kind, value)
    if kind.value_class == ValueClass.FLOAT:
        return _float_range(kind, operator, value)
    if kind.value_class in _WHOLE:
        number = _number(kind, value)
        return None if number is None else Asked(range=_whole_range(operator, number))
    raw = _raw(kind, value)
    return None if raw is None else Asked(range=_open_range(operator, raw))


def _open_range(operator: Operator, bound: Point) -> Range:
    if operator in {Operator.LESS, Operator.AT_MOST}:
        return Range(None, bound, with_last=operator == Operator.AT_MOST)
    return Range(bound, None, with_first=operator == Operator.AT_LEAST)


def _whole_range(operator: Operator, number: Fraction) -> Range:
    if operator == Operator.LESS:
        return Range(None, math.ceil(number) - 1)
    if operator == Operator.AT_MOST:
        return Range(None, math.floor(number))
    if operator == Operator.GREATER:
        return Range(math.floor(number) + 1, None)
    return Range(math.ceil(number), None)


def _float_range(kind: ColumnType, operator: Operator, value: Literal) -> Asked | None:
    double = _double(value)
    if double is None or math.isnan(double):
        return None
    if not kind.single or _rounded(double) == double:
        return Asked(range=_open_range(operator, double))
    pair = sorted((double, _rounded(double)))
    if operator in {Operator.LESS, Operator.AT_MOST}:
        return Asked(range=Range(None, pair[1]), exact=False)
    return Asked(range=Range(pair[0], None), exact=False)


def _double(value: Literal) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        return float(value) + 0.0
    except (OverflowError, ValueError):
        return None


def _rounded(double: float) -> float:
    """Return the value as a `float` of 32 bits holds it."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", double))[0])
    except OverflowError:
        return math.copysign(math.inf, double)


def _number(kind: ColumnType, value: Literal) -> Fraction | None:
    return _WHOLE[kind.value_class](kind, value)


def _integer(_: ColumnType, value: Literal) -> Fraction | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        small = math.isfinite(value) and abs(value) < _EXACT_DOUBLE
        return Fraction(value) if small else None
    if isinstance(value, int):
        return Fraction(value)
    fits = isinstance(value, Decimal) and _fits(value, _LONG_DIGITS, 0)
    return Fraction(value) if fits and isinstance(value, Decimal) else None


def _decimal(kind: ColumnType, value: Literal) -> Fraction | None:
    if isinstance(value, bool | float) or not isinstance(value, int | Decimal):
        return None
    number = Decimal(value)
    if not _fits(number, kind.digits - kind.scale, kind.scale):
        return None
    return Fraction(number) * Fraction(10**kind.scale)


def _fits(number: Decimal, whole: int, scale: int) -> bool:
    """Tell whether both sides have one decimal type without rounding, as engines compare them."""
    if not number.is_finite():
        return False
    scale = max(-int(number.as_tuple().exponent), scale)
    return max(number.adjusted() + 1, whole) + scale <= _MOST_DIGITS


def _boolean(_: ColumnType, value: Literal) -> Fraction | None:
    return Fraction(value) if isinstance(value, bool) else None


def _date(_: ColumnType, value: Literal) -> Fraction | None:
    if isinstance(value, date) and not isinstance(value, datetime):
        return Fraction((value - _EPOCH.date()).days)
    return _count(value)


def _time(_: ColumnType, value: Literal) -> Fraction | None:
    if isinstance(value, time) and value.tzinfo is None:
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        return Fraction(seconds * _MICROSECOND + value.microsecond)
    return _count(value)


def _timestamp(kind: ColumnType, value: Literal) -> Fraction | None:
    zoned = kind.value_class in {ValueClass.TIMESTAMPTZ, ValueClass.TIMESTAMPTZ_NS}
    if not isinstance(value, datetime):
        return _count(value)
    if (value.tzinfo is not None) != zoned:
        return None
    since = value - (_ZONED_EPOCH if zoned else _EPOCH)
    micros = (since.days * 86_400 + since.seconds) * _MICROSECOND + since.microseconds
    nanos = kind.value_class in {ValueClass.TIMESTAMP_NS, ValueClass.TIMESTAMPTZ_NS}
    return Fraction(micros * 1_000 if nanos else micros)


def _count(value: Literal) -> Fraction | None:
    plain = isinstance(value, int) and not isinstance(value, bool)
    return Fraction(value) if plain and isinstance(value, int) else None


_WHOLE: dict[ValueClass, Callable[[ColumnType, Literal], Fraction | None]] = {
    ValueClass.BOOLEAN: _boolean,
    ValueClass.INTEGER: _integer,
    ValueClass.DATE: _date,
    ValueClass.TIME: _time,
    ValueClass.TIMESTAMP: _timestamp,
    ValueClass.TIMESTAMPTZ: _timestamp,
    ValueClass.TIMESTAMP_NS: _timestamp,
    ValueClass.TIMESTAMPTZ_NS: _timestamp,
    ValueClass.DECIMAL: _decimal,
}
"""Classes whose values are whole numbers, of decimals unscaled."""


def _raw(kind: ColumnType, value: Literal) -> bytes | None:
    if kind.value_class == ValueClass.STRING and isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError:
            return None
    if kind.value_class == ValueClass.UUID:
        return _uuid(value)
    return value if kind.value_class == ValueClass.BINARY and isinstance(value, bytes) else None


def _uuid(value: Literal) -> bytes | None:
    if isinstance(value, UUID):
        return value.bytes
    if not isinstance(value, str):
        return None
    try:
        found = UUID(value)
    except ValueError:
        return None
    # Engines compare the text: only the usual form is the same as its bytes.
    return found.bytes if str(found) == value else None


def value_bytes(kind: ColumnType, point: Point) -> bytes | None:
    """Return the bytes that are hashed of a point; None where no value of the column can be it."""
    if isinstance(point, bytes):
        return point
    if isinstance(point, float):
        return _float_bits(point).to_bytes(8, "little")
    if kind.value_class == ValueClass.DECIMAL:
        size = (point if point >= 0 else -point - 1).bit_length() // 8 + 1
        return point.to_bytes(size, "big", signed=True)
    return point.to_bytes(8, "little", signed=True) if _LEAST <= point <= _MOST else None


def order_number(kind: ColumnType, point: Point) -> int:
    """Return the order number of a point; of one outside 64 bits that of the nearest inside."""
    if isinstance(point, bytes):
        return int.from_bytes(point[:8].ljust(8, b"\0"), "big")
    if isinstance(point, float):
        bits = _float_bits(point)
        return ((1 << 64) - 1) ^ bits if bits & TOP else bits | TOP
    if kind.value_class == ValueClass.BOOLEAN:
        return min(max(point, 0), 1)
    return min(max(point, _LEAST), _MOST) + TOP


def _float_bits(value: float) -> int:
    if math.isnan(value):
        return NAN_BITS
    return int.from_bytes(struct.pack("<d", value + 0.0), "little")
