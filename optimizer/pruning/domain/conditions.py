"""Turns conditions of another engine into Spark SQL that is true wherever they are.

Only what means the same in both engines is taken; the rest counts as unknown. A condition is made
weaker by leaving unknown parts of an AND out, never under NOT or OR.
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

from sqlglot import exp

from portal.lake.names import quoted

ColumnOf = Callable[[exp.Column], str | None]
"""The type of a column in Spark's words (`bigint`, `string`, ...), None where it is not ours."""

_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_TURNED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
WHOLE = ("tinyint", "smallint", "int", "bigint")
_FINER = re.compile(r"[.,]\d{7}")
MOST_IN = 10_000


def weaker(node: exp.Expr, column_of: ColumnOf) -> str | None:
    """Return a condition that every row satisfies which satisfies `node`; None knows nothing."""
    node = node.unnest()
    if isinstance(node, exp.And):
        parts = [weaker(part, column_of) for part in (node.left, node.right)]
        known = [part for part in parts if part is not None]
        return " AND ".join(known) if known else None
    return same(node, column_of)


def same(node: exp.Expr, column_of: ColumnOf) -> str | None:
    """Return the condition itself in Spark SQL, or None where it cannot be said exactly."""
    node = node.unnest()
    if isinstance(node, exp.And | exp.Or):
        word = "AND" if isinstance(node, exp.And) else "OR"
        left, right = same(node.left, column_of), same(node.right, column_of)
        return None if left is None or right is None else f"({left} {word} {right})"
    if isinstance(node, exp.Not):
        inner = same(node.this, column_of)
        return None if inner is None else f"(NOT {inner})"
    if isinstance(node, exp.Is):
        return _is_null(node, column_of)
    if isinstance(node, exp.In):
        return _in(node, column_of)
    if isinstance(node, exp.Between):
        return _between(node, column_of)
    if isinstance(node, exp.Like | exp.Escape):
        return _like(node, column_of)
    word_of = _COMPARISONS.get(type(node))
    return None if word_of is None else _compared(node, word_of, column_of)


def text_literal(text: str) -> str:
    """Return a text as a literal of Spark SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _column(node: exp.Expr, column_of: ColumnOf) -> tuple[str, str] | None:
    """Return a column's name for Spark and its type, where the node is a plain column of ours."""
    node = node.unnest()
    if not isinstance(node, exp.Column):
        return None
    kind = column_of(node)
    return None if kind is None else (quoted(node.name), kind)


def _compared(node: exp.Expr, word: str, column_of: ColumnOf) -> str | None:
    left, right = node.args["this"], node.args["expression"]
    found, value = _column(left, column_of), right
    if found is None:
        found, value, word = _column(right, column_of), left, _TURNED[word]
    if found is None:
        return None
    literal = literal_of(value, found[1])
    return None if literal is None else f"({found[0]} {word} {literal})"


def _is_null(node: exp.Is, column_of: ColumnOf) -> str | None:
    found = _column(node.this, column_of)
    if found is None or not isinstance(node.expression, exp.Null):
        return None
    return f"({found[0]} IS NULL)"


def _in(node: exp.In, column_of: ColumnOf) -> str | None:
    found = _column(node.this, column_of)
    if found is None or node.args.get("query") or not 0 < len(node.expressions) <= MOST_IN:
        return None
    literals = [literal_of(one, found[1]) for one in node.expressions]
    if None in literals:
        return None
    return f"({found[0]} IN ({', '.join(one for one in literals if one)}))"


def _between(node: exp.Between, column_of: ColumnOf) -> str | None:
    found = _column(node.this, column_of)
    if found is None or node.args.get("symmetric"):
        return None
    low, high = literal_of(node.args["low"], found[1]), literal_of(node.args["high"], found[1])
    return None if low is None or high is None else f"({found[0]} BETWEEN {low} AND {high})"


def _like(node: exp.Expr, column_of: ColumnOf) -> str | None:
    """Say LIKE with an escape of its own: engines differ in what a backslash means without one."""
    escape = ""
    if isinstance(node, exp.Escape):
        if not isinstance(node.expression, exp.Literal) or len(node.expression.this) != 1:
            return None
        escape, node = node.expression.this, node.this
    if not isinstance(node, exp.Like) or not isinstance(node.expression, exp.Literal):
        return None
    lowered = isinstance(node.this, exp.Lower)
    found = _column(node.this.this if lowered else node.this, column_of)
    if found is None or found[1] != "string" or not node.expression.is_string:
        return None
    pattern = spark_pattern(node.expression.this, escape)
    if pattern is None:
        return None
    name = f"lower({found[0]})" if lowered else found[0]
    return f"({name} LIKE {text_literal(pattern)})"


def spark_pattern(pattern: str, escape: str) -> str | None:
    """Return a LIKE pattern as Spark reads it, whose escape is a backslash; None if it is wrong."""
    out: list[str] = []
    at = 0
    while at < len(pattern):
        one = pattern[at]
        if escape and one == escape:
            at += 1
            if at == len(pattern) or pattern[at] not in ("%", "_", escape):
                return None
            out.append("\\" + pattern[at] if pattern[at] in "%_\\" else pattern[at])
        else:
            out.append("\\\\" if one == "\\" else one)
        at += 1
    return "".join(out)


def literal_of(node: exp.Expr, kind: str) -> str | None:
    """Return a constant for a column of a type, where both engines compare them alike.

    Not taken: `float`, which one engine widens and the other does not; times with a zone against
    texts without one, because it is the session that decides; implicit casts of texts.
    """
    node = node.unnest()
    if kind == "string":
        return text_literal(node.this) if isinstance(node, exp.Literal) and node.is_string else None
    if kind in WHOLE or kind == "double" or kind.startswith("decimal"):
        return _number(node)
    if kind == "boolean":
        return str(node.this).lower() if isinstance(node, exp.Boolean) else None
    if kind == "date":
        return _date(node)
    if kind in ("timestamp_ntz", "timestamp"):
        return _timestamp(node, with_zone=kind == "timestamp")
    return None


def _number(node: exp.Expr) -> str | None:
    sign = ""
    if isinstance(node, exp.Neg):
        sign, node = "-", node.this.unnest()
    if not isinstance(node, exp.Literal) or node.is_string:
        return None
    try:
        value = Decimal(node.this)
    except InvalidOperation:
        return None
    is_plain = value.is_finite() and "e" not in node.this.lower() and len(node.this) <= 38
    return f"{sign}{node.this}" if is_plain else None


def _typed_text(node: exp.Expr, *types: exp.DType) -> str | None:
    """Return the text of `DATE '...'` and of casts alike."""
    if not isinstance(node, exp.Cast) or isinstance(node, exp.TryCast):
        return None
    inner = node.this
    if not node.is_type(*types) or not isinstance(inner, exp.Literal) or not inner.is_string:
        return None
    return str(inner.this)


def _date(node: exp.Expr) -> str | None:
    text = _typed_text(node, exp.DType.DATE)
    try:
        return None if text is None else f"DATE '{date.fromisoformat(text).isoformat()}'"
    except ValueError:
        return None


def _timestamp(node: exp.Expr, *, with_zone: bool) -> str | None:
    kinds = exp.DType
    text = _typed_text(node, kinds.TIMESTAMP, kinds.TIMESTAMPTZ, kinds.TIMESTAMPLTZ, kinds.DATETIME)
    try:
        value = None if text is None else datetime.fromisoformat(text)
    except ValueError:
        return None
    if value is None or (value.tzinfo is not None) is not with_zone:
        return None
    if _FINER.search(text or ""):
        return None  # Python cuts a seventh digit off, engines do not
    word = "TIMESTAMP" if with_zone else "TIMESTAMP_NTZ"
    return f"{word} '{value.isoformat(sep=' ', timespec='microseconds')}'"
