"""Forms in which column values are compared: any orderable type is one of three arrays.

Longs (also decimals without their point, days, microseconds and booleans), doubles, or the bytes
of a text in UTF-8, whose order is that of its characters. The form is stored with boundaries: a
column that was dropped and added again as another type does not fit the old ones.
"""

import re
from enum import StrEnum

from portal.lake.errors import RuleViolation

_DECIMAL = re.compile(r"decimal\((?P<precision>\d+),(?P<scale>\d+)\)")
_MOST_DIGITS = 18  # an unscaled decimal of more digits does not fit into a long


class Form(StrEnum):
    """What stands in the array; a decimal's form has its scale as well: `scaled(2)`."""

    WHOLE = "whole"
    SCALED = "scaled"
    DAYS = "days"
    MICROS = "micros"
    REAL = "real"
    TEXT = "text"


_FORMS = {
    **dict.fromkeys(("boolean", "tinyint", "smallint", "int", "bigint"), Form.WHOLE),
    **dict.fromkeys(("float", "double"), Form.REAL),
    **dict.fromkeys(("string", "varchar", "char"), Form.TEXT),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), Form.MICROS),
    "date": Form.DAYS,
}


def form_of(spark_type: str) -> str:
    """Return the form of a type as Spark writes it (`simpleString`).

    Decimals of more than 18 digits are compared as their nearest doubles.

    Raises:
        RuleViolation: `boundaries.type`.
    """
    decimal = _DECIMAL.fullmatch(spark_type)
    if decimal:
        small = int(decimal["precision"]) <= _MOST_DIGITS
        return f"{Form.SCALED}({decimal['scale']})" if small else Form.REAL
    form = _FORMS.get(spark_type.partition("(")[0])
    if form is None:
        raise RuleViolation(
            "boundaries.type",
            f"Rows cannot be ordered by a column of type {spark_type}. Take a number, a text, a "
            "date, a time or a boolean instead.",
            type=spark_type,
        )
    return form


def scale_of(form: str) -> int | None:
    """Return the scale in a decimal's form, nothing for the other forms."""
    name, _, scale = form.partition("(")
    return int(scale.rstrip(")")) if name == Form.SCALED else None
