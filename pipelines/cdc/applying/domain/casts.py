"""Spark SQL by which the text of a value becomes the lake's type: NULL where it does not fit.

Spark's own cast is too kind for that: it takes `1.5` for an int, rounds a decimal and turns a
year alone into a date. So the form is checked first. A number with a point or an exponent and no
more digits than the type keeps is taken for a float's own text.
"""

import re

from portal.lake.errors import RuleViolation

_PLAIN = frozenset(
    {"string", "int", "bigint", "float", "double", "boolean", "date", "timestamp", "binary"}
)
_DECIMAL = re.compile(r"decimal\((\d{1,2}),(\d{1,2})\)")
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_FLOATING = "-?(?:[0-9]+(?:[.][0-9]+)?(?:e[+-]?[0-9]+)?|inf)|nan"
_DIGITS = {"float": 9, "double": 17}
_LONGEST_EXACT = 18


def check_type(lake: str) -> None:
    """Refuse what is no type of a column of the lake.

    Raises:
        RuleViolation: `cdc.lake_type`.
    """
    found = _DECIMAL.fullmatch(lake)
    is_decimal = found is not None and int(found[2]) <= int(found[1]) <= 38 and int(found[1]) > 0
    if lake not in _PLAIN and not is_decimal:
        raise RuleViolation("cdc.lake_type", f"{lake!r} is no type that columns of the lake have.")


def cast_sql(text: str, lake: str) -> str:
    """Return the expression of a type; `text` is the expression of a string.

    Raises:
        RuleViolation: `cdc.lake_type`.
    """
    check_type(lake)
    if found := _DECIMAL.fullmatch(lake):
        return _guarded(
            text, _decimal_form(int(found[1]), int(found[2])), f"try_cast({text} AS {lake})"
        )
    match lake:
        case "string":
            return text
        case "int" | "bigint":
            return _guarded(text, "-?[0-9]+", f"try_cast({text} AS {lake})")
        case "float" | "double":
            return _floating(text, lake)
        case "boolean":
            return f"CASE {text} WHEN '0' THEN false WHEN '1' THEN true END"
        case "date":
            return _guarded(text, _DAY, f"try_cast({text} AS date)")
        case "timestamp":
            form = f"{_DAY} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}(?:[.][0-9]{{6}})?"
            return _guarded(text, form, f"try_cast({text} AS timestamp)")
        case _:
            form = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
            return _guarded(text, form, f"unbase64({text})")


def _guarded(text: str, form: str, value: str) -> str:
    return f"CASE WHEN {text} RLIKE '^(?:{form})$' AND {text} NOT LIKE '%\\n' THEN {value} END"


def _decimal_form(precision: int, scale: int) -> str:
    return f"-?0*[0-9]{{0,{precision - scale}}}(?:[.][0-9]{{0,{scale}}}0*)?"


def _floating(text: str, lake: str) -> str:
    """A float's own text fits; an integer fits where the float has the same value."""
    digits = f"length(regexp_replace(regexp_replace({text}, 'e.*', ''), '^-?[0.]+|[-.]', ''))"
    value = f"try_cast({text} AS {lake})"
    is_whole = f"{text} RLIKE '^-?[0-9]{{1,{_LONGEST_EXACT}}}$'"
    is_exact = f"CAST({value} AS bigint) = try_cast({text} AS bigint)"
    is_finite = f"(abs({value}) < {lake}('infinity') OR {text} RLIKE 'inf|nan')"
    fits = f"({digits} <= {_DIGITS[lake]} AND NOT {is_whole}) OR ({is_whole} AND {is_exact})"
    return _guarded(
        text,
        _FLOATING,
        f"CASE WHEN {is_finite} AND ({text} RLIKE 'inf|nan' OR {fits}) THEN {value} END",
    )
