"""Whether a text fits a type of the lake: the reference of the guard that the apply has.

A cast of Spark that fails gives NULL, and one that overflows may give another number, so each text
is checked before it is cast. What does not fit goes to quarantine. A float or double must
hold every digit: a text of a wider type would lose some in silence.
"""

import base64
import binascii
import math
import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from functools import partial

from pipelines.cdc.schema.domain.texts import shortest_float

_INTEGER = re.compile(r"-?\d+")
_DECIMAL = re.compile(r"-?(\d+)(?:\.(\d+))?")
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf)|nan")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{6})?")
_OF_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


def cast_problem(text: str | None, lake: str) -> str:
    """Say why a text does not fit a type of the lake; empty where it fits. NULL fits every type."""
    if text is None or lake == "string":
        return ""
    if found := _OF_DECIMAL.fullmatch(lake):
        return _decimal(text, int(found[1]), int(found[2]))
    return _CHECKS[lake](text)


def _integer(text: str, bits: int, lake: str) -> str:
    if not _INTEGER.fullmatch(text):
        return f"it is no {lake}"
    return "" if -(1 << bits) <= int(text) < 1 << bits else f"it is beyond the range of {lake}"


def _decimal(text: str, precision: int, scale: int) -> str:
    found = _DECIMAL.fullmatch(text)
    if found is None:
        return "it is no decimal"
    if len(found[1].lstrip("0")) > precision - scale:
        return f"it has more than {precision - scale} digits before the point"
    if len((found[2] or "").rstrip("0")) > scale:
        return f"it has more than {scale} digits after the point"
    return ""


def _float(text: str) -> str:
    if problem := _double(text):
        return problem
    number = float(text)
    if math.isinf(number) or math.isnan(number):
        return ""
    try:
        shortest = shortest_float(number)
    except OverflowError:
        return "it is beyond the range of float"
    return "" if _is_same(shortest, text) else "it has more digits than float holds"


def _double(text: str) -> str:
    if not _NUMBER.fullmatch(text):
        return "it is no number"
    number = float(text)
    if math.isinf(number):
        return "" if "inf" in text else "it is beyond the range of double"
    if math.isnan(number) or _is_same(repr(number), text):
        return ""
    return "it has more digits than double holds"


def _boolean(text: str) -> str:
    return "" if text in {"0", "1"} else "it is neither 0 nor 1"


def _date(text: str) -> str:
    return _moment(text, _DATE, "date")


def _timestamp(text: str) -> str:
    return _moment(text, _TIMESTAMP, "timestamp")


def _moment(text: str, form: re.Pattern[str], lake: str) -> str:
    if not form.fullmatch(text):
        return f"it is no {lake}"
    if text.startswith("0000-00-00"):
        return "it is a zero date"
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return "it is in no calendar"
    return ""


def _binary(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return "it is no base64"
    return ""


def _is_same(one: str, other: str) -> bool:
    return Decimal(one) == Decimal(other)


_CHECKS: dict[str, Callable[[str], str]] = {
    "int": partial(_integer, bits=31, lake="int"),
    "bigint": partial(_integer, bits=63, lake="bigint"),
    "float": _float,
    "double": _double,
    "boolean": _boolean,
    "date": _date,
    "timestamp": _timestamp,
    "binary": _binary,
}
