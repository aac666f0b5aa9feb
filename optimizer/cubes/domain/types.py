"""What types dimensions and measures may have, and what types their states have.

Types are written as Spark's simple names: int, bigint, decimal(9,2), string, timestamp.
"""

import re
from enum import StrEnum

_DECIMAL = re.compile(r"decimal\((\d{1,2}),(\d{1,2})\)")
_WHOLE = frozenset({"tinyint", "smallint", "int", "bigint"})
_FLOATS = frozenset({"float", "double"})
_PLAIN = frozenset({"boolean", "date", "timestamp", "timestamp_ntz", "string"})
_SKETCHED = frozenset({"int", "bigint", "string"})
MAX_PRECISION = 38
SUM_DIGITS = 10
"""A sum has so many digits more than its input, in Spark and here: 10^10 rows never overflow."""
MAX_DISTINCT = 1_000


class Function(StrEnum):
    """A state of a measure."""

    COUNT = "count"
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    DISTINCT = "distinct"
    SKETCH = "sketch"


def decimal_of(text: str) -> tuple[int, int] | None:
    """Return precision and scale of a decimal type; None for other types."""
    found = _DECIMAL.fullmatch(text)
    if not found:
        return None
    precision, scale = int(found[1]), int(found[2])
    return (precision, scale) if 1 <= precision <= MAX_PRECISION and scale <= precision else None


def is_whole(text: str) -> bool:
    """Whether a type is one of whole numbers."""
    return text in _WHOLE


def is_float(text: str) -> bool:
    """Whether a type is one of floats."""
    return text in _FLOATS


def is_dimension_type(text: str) -> bool:
    """Whether a cube may be grouped by a type; floats are out for their -0 and NaN."""
    return text in _PLAIN or text in _WHOLE or decimal_of(text) is not None


def unfit(function: Function, text: str) -> str:
    """Return why a function is not for a type; empty where it is."""
    known = is_dimension_type(text) or text in _FLOATS or text == "binary"
    if not known:
        return "this type is not known; take numbers, dates, times, text, booleans or bytes"
    if function is Function.SUM:
        return _unfit_sum(text)
    if function in (Function.MIN, Function.MAX) and text == "binary":
        return "bytes have no least and greatest"
    if function is Function.DISTINCT and (text in _FLOATS or text == "binary"):
        return "distinct values are kept of numbers without floats, dates, text and booleans"
    if function is Function.SKETCH and text not in _SKETCHED:
        return "sketches take int, bigint and string"
    return ""


def state_type(function: Function, text: str) -> str:
    """Return the type of a state's column."""
    if function is Function.COUNT:
        return "bigint"
    if function is Function.SUM:
        decimal = decimal_of(text)
        return f"decimal({decimal[0] + SUM_DIGITS},{decimal[1]})" if decimal else "bigint"
    if function is Function.DISTINCT:
        return f"array<{text}>"
    return "binary" if function is Function.SKETCH else text


def _unfit_sum(text: str) -> str:
    if text in _FLOATS:
        return "a sum of floats depends on the order of the rows; cast to decimal"
    decimal = decimal_of(text)
    if decimal and decimal[0] + SUM_DIGITS > MAX_PRECISION:
        return f"at most {MAX_PRECISION - SUM_DIGITS} digits can be summed without overflow"
    return "" if decimal or text in _WHOLE else "only whole numbers and decimals are summed"
