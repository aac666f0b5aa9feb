"""Checks the expressions of cubes: deterministic scalar Spark SQL over qualified columns, no more.

An expression is read by sqlglot and every node of it must be on the list below. So nothing in a
definition reads other tables, calls unknown functions, or differs from one run to the next.
"""

import re
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from portal.lake.errors import RuleViolation

MAX_LENGTH = 1_000
_ODD = re.compile(r"[\x00-\x1f\x7f;\\]|--|/\*|\*/")
"""Line ends, comments and escapes: parsers read them differently, and no expression needs them."""
_NAME_ODD = re.compile(r"[\x00-\x1f\x7f.`]")

_STRUCTURE: tuple[type[exp.Expression], ...] = (
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Boolean,
    exp.Null,
    exp.Paren,
    exp.Cast,
    exp.TryCast,
    exp.DataType,
    exp.DataTypeParam,
    exp.Var,
    exp.Interval,
)
_OPERATORS: tuple[type[exp.Expression], ...] = (
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.IntDiv,
    exp.Mod,
    exp.Neg,
    exp.EQ,
    exp.NEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.NullSafeEQ,
    exp.And,
    exp.Or,
    exp.Not,
    exp.Is,
    exp.In,
    exp.Between,
    exp.Like,
    exp.Case,
    exp.If,
    exp.DPipe,
)
_FUNCTIONS: tuple[type[exp.Expression], ...] = (
    exp.Coalesce,
    exp.Nullif,
    exp.Lower,
    exp.Upper,
    exp.Trim,
    exp.Substring,
    exp.Left,
    exp.Right,
    exp.Length,
    exp.Concat,
    exp.Pad,
    exp.Replace,
    exp.Abs,
    exp.Floor,
    exp.Ceil,
    exp.Round,
    exp.Greatest,
    exp.Least,
    exp.TimestampTrunc,
    exp.DateTrunc,
    exp.TsOrDsToDate,
    exp.Date,
    exp.Year,
    exp.Quarter,
    exp.Month,
    exp.Week,
    exp.WeekOfYear,
    exp.DayOfWeek,
    exp.DayOfMonth,
    exp.DayOfYear,
    exp.Day,
    exp.Hour,
    exp.Minute,
    exp.Extract,
    exp.TimeToStr,
    exp.DateAdd,
    exp.DateSub,
    exp.TsOrDsAdd,
)
_ALLOWED = frozenset((*_STRUCTURE, *_OPERATORS, *_FUNCTIONS))


@lru_cache(maxsize=4096)
def columns_of(text: str) -> tuple[tuple[str, str], ...]:
    """Return the columns that an expression uses, as (alias, column), each once, in order.

    Raises:
        RuleViolation: `cube.expression`, it is not allowed, with the reason and what is.
    """
    if len(text) > MAX_LENGTH:
        raise _refused(text[:60] + "…", f"is longer than {MAX_LENGTH:,} letters")
    odd = _ODD.search(text)
    if odd:
        raise _refused(text, f"has {odd.group()!r}; comments, escapes, `;` and line ends are out")
    try:
        tree = sqlglot.parse_one(text, read="spark")
    except (SqlglotError, RecursionError) as error:
        raise _refused(text, "cannot be read as one expression of Spark SQL") from error
    found: dict[tuple[str, str], None] = {}
    for node in tree.walk():
        if type(node) not in _ALLOWED:
            raise _refused(text, f"uses {_called(node)}, which a cube does not take")
        if isinstance(node, exp.Column):
            found[_qualified(text, node)] = None
        if isinstance(node, exp.In) and node.args.get("query"):
            raise _refused(text, "has a subquery")
    if not found:
        raise _refused(text, "names no column")
    return tuple(found)


def split_column(text: str) -> tuple[str, str]:
    """Return alias and column of `alias.column`.

    Raises:
        RuleViolation: `cube.expression`.
    """
    alias, dot, column = text.partition(".")
    if not dot or not alias or not column or _NAME_ODD.search(column):
        raise _refused(text, "must be one column, as alias.column")
    return alias, column


def _qualified(text: str, node: exp.Column) -> tuple[str, str]:
    if node.args.get("db") or not node.table or not isinstance(node.this, exp.Identifier):
        raise _refused(
            text, f"has {node.sql('spark')}; write columns as alias.column, fact.{node.name} say"
        )
    if _NAME_ODD.search(node.name):
        raise _refused(text, f"names the column {node.name!r}, with a dot or a quote in it")
    return node.table.lower(), node.name


def _called(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return f"{node.name}()"
    if isinstance(node, exp.Query):
        return "a subquery"
    if isinstance(node, exp.Window):
        return "a window"
    if isinstance(node, exp.Func):
        return f"{node.sql_name().lower()}()"
    return type(node).__name__


def _refused(text: str, reason: str) -> RuleViolation:
    return RuleViolation(
        "cube.expression",
        f"The expression {text} {reason}. Use columns as alias.column, arithmetic, comparisons, "
        "case, cast, and common functions of text and dates.",
        expression=text,
    )
