"""Lists the functions and forms of expressions that a rewritten SELECT may hold.

Each gives the same result for the same arguments all through a statement. What is not listed may
be random, or a function of somebody's own: such a SELECT is left as it is.
"""

from sqlglot import exp

from optimizer.matching.domain.rules import Rule, Unfit

AGGREGATES: tuple[type[exp.Expr], ...] = (
    exp.Count, exp.Sum, exp.Min, exp.Max, exp.Avg, exp.ApproxDistinct,
)  # fmt: skip
SCALARS: tuple[type[exp.Expr], ...] = (
    exp.Abs, exp.Case, exp.Cast, exp.Ceil, exp.Coalesce, exp.Concat, exp.CurrentDate,
    exp.CurrentTimestamp, exp.Date, exp.DateAdd, exp.DateDiff, exp.DateSub, exp.DateTrunc, exp.Day,
    exp.DayOfMonth, exp.DayOfWeek, exp.DayOfWeekIso, exp.DayOfYear, exp.Extract, exp.Floor,
    exp.Greatest, exp.Grouping, exp.Hour, exp.If, exp.Least, exp.Left, exp.Length, exp.Lower,
    exp.Minute, exp.Mod, exp.Month, exp.Nullif, exp.Quarter, exp.Right, exp.Round, exp.Second,
    exp.StartsWith, exp.StrPosition, exp.Substring, exp.TimestampTrunc, exp.Trim, exp.TryCast,
    exp.TsOrDsAdd, exp.TsOrDsToDate, exp.Upper, exp.WeekOfYear, exp.Year, exp.And, exp.Or, exp.Xor,
)  # fmt: skip
FORMS: tuple[type[exp.Expr], ...] = (
    exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Star, exp.Var, exp.Alias,
    exp.Paren, exp.Tuple, exp.Binary, exp.Not, exp.Neg, exp.In, exp.Between, exp.Escape, exp.Is,
    exp.Interval, exp.DataType, exp.DataTypeParam, exp.Distinct, exp.Filter, exp.Where, exp.Having,
    exp.Order, exp.Ordered, exp.Group, exp.Rollup, exp.Cube, exp.GroupingSets, exp.If, exp.Like,
    exp.IntervalSpan,
)  # fmt: skip


def check_forms(root: exp.Expr) -> None:
    """Look at every part of an expression.

    Raises:
        Unfit: a part is no known form, or no function that is known to be deterministic.
    """
    for node in root.walk():
        if isinstance(node, exp.Query | exp.Subquery | exp.Exists):
            raise Unfit(Rule.SHAPE, "it holds a subquery in an expression")
        if isinstance(node, exp.Window):
            raise Unfit(Rule.SHAPE, f"{_text(node)} is a window function")
        if isinstance(node, (*AGGREGATES, *SCALARS, *FORMS)) and not isinstance(node, exp.Dot):
            continue
        if isinstance(node, exp.AggFunc):
            raise Unfit(Rule.MEASURE, f"{_text(node)} cannot be made from stored states")
        if isinstance(node, exp.Func):
            raise Unfit(Rule.SHAPE, f"{_text(node)} is not known to give the same result each time")
        raise Unfit(Rule.SHAPE, f"{_text(node)} is a form that is not compared")


def _text(node: exp.Expr) -> str:
    text = node.sql()
    return text if len(text) <= 80 else f"{text[:77]}..."
