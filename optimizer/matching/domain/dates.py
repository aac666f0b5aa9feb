"""Brings dates cut to years, months or days into one form, whichever engine's SQL they are in."""

from sqlglot import exp

_PARTS: dict[type[exp.Expr], str] = {
    exp.Year: "YEAR",
    exp.Quarter: "QUARTER",
    exp.Month: "MONTH",
    exp.Day: "DAY",
    exp.DayOfMonth: "DAY",
    exp.Hour: "HOUR",
    exp.Minute: "MINUTE",
}
_EXTRACTED = set(_PARTS.values())
_UNITS = {"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"}
_DATE_UNITS = {"YEAR", "QUARTER", "MONTH", "WEEK"}
"""To smaller ones Spark's `trunc` gives null."""
_SHORT = {"YYYY": "YEAR", "YY": "YEAR", "MON": "MONTH", "MM": "MONTH", "DD": "DAY"}
PARTS = _EXTRACTED
"""Numbers of a date: whole numbers of 32 bits in Spark, of 64 in Trino."""


def dated(node: exp.Expr) -> tuple[str, exp.Expr] | None:
    """Return a function of a date by one name, and what it is of; None for anything else.

    `TRUNC:<unit>` keeps the kind of its argument, `DATE` is the day of a time.
    """
    if isinstance(node, exp.TimestampTrunc | exp.DateTrunc):
        unit = node.args.get("unit")
        name = "" if unit is None else unit.name.upper()
        name = _SHORT.get(name, name)
        if name not in _UNITS or node.args.get("zone") is not None:
            return None
        word = "TRUNC" if isinstance(node, exp.TimestampTrunc) else "DATE_TRUNC"
        return f"{word}:{name}", node.this.unnest()
    if (part := _PARTS.get(type(node))) is not None:
        inner = node.this
        return part, (inner.this if isinstance(inner, exp.TsOrDsToDate) else inner).unnest()
    if isinstance(node, exp.Extract):
        part = node.this.name.upper()
        return (part, node.expression.unnest()) if part in _EXTRACTED else None
    if isinstance(node, exp.Date) and not node.expressions and node.this is not None:
        return "DATE", node.this.unnest()
    if isinstance(node, exp.Cast) and node.to.is_type(exp.DType.DATE):
        return "DATE", node.this.unnest()
    return None


def shared_form(node: exp.Expr, kind: str | None, dialect: str) -> tuple[str, exp.Expr] | None:
    """Return a function of a date by a name that is alike where Spark and Trino give the same.

    `kind` is the type of its argument in Spark's words. Spark's `date_trunc` makes a time of a day
    and of a time without zone, where Trino's keeps what it is given; Spark's `trunc` makes days.
    """
    found = dated(node)
    if found is None or kind not in ("date", "timestamp", "timestamp_ntz"):
        return None
    name, inner = found
    if name.startswith("TRUNC:") and dialect != "spark":
        if kind == "date":
            is_known = name.removeprefix("TRUNC:") in _DATE_UNITS
            return (f"DATE_{name}", inner) if is_known else None
        return found if kind == "timestamp" else None
    if name.startswith("DATE_TRUNC:") and kind != "date":
        return None
    if name == "DATE" and kind == "date":
        return None
    return found
