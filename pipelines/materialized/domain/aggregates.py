"""Reads the aggregates of a definition: those that changed rows can keep up to date."""

import msgspec
from sqlglot import exp

from pipelines.materialized.domain.refusals import Refused

_DIALECT = "spark"


class Measure(msgspec.Struct, frozen=True):
    """An aggregate: a column of the table; `argument` counts in the definition's arguments."""

    name: str
    kind: str
    """count_all, count, sum, min, max, avg or count_distinct."""
    argument: int = -1


def read_measure(name: str, item: exp.Expr, arguments: list[str]) -> Measure:
    """Read one aggregate; its argument is added to those that there are, once.

    Raises:
        Refused: What of it cannot be kept.
    """
    kind, argument = _count(item) if isinstance(item, exp.Count) else _other(item)
    if argument is None:
        return Measure(name, kind)
    if argument.find(exp.AggFunc):
        raise Refused("SELECT", f"{_sql(item)} is an aggregate of an aggregate")
    text = _sql(argument)
    if text not in arguments:
        arguments.append(text)
    return Measure(name, kind, arguments.index(text))


def _count(item: exp.Count) -> tuple[str, exp.Expr | None]:
    if item.expressions:
        raise Refused("SELECT", "count takes one column")
    match item.this:
        case exp.Star():
            return "count_all", None
        case exp.Distinct() as distinct if len(distinct.expressions) == 1:
            return "count_distinct", distinct.expressions[0]
        case exp.Distinct():
            raise Refused("SELECT", "count(DISTINCT ...) takes one column")
        case argument:
            return "count", argument


def _other(item: exp.Expr) -> tuple[str, exp.Expr]:
    match item:
        case exp.CountIf():
            return "count", exp.Case().when(item.this, exp.Literal.number(1))
        case exp.Sum() | exp.Avg() | exp.Min() | exp.Max():
            if isinstance(item.this, exp.Distinct):
                raise Refused("SELECT", f"{_sql(item)}: only count takes DISTINCT")
            if item.expressions:
                raise Refused("SELECT", f"{item.key} takes one column")
            return item.key, item.this
        case exp.AggFunc():
            raise Refused("SELECT", f"{item.sql_name().lower()} cannot be kept by changes of rows")
        case exp.Filter():
            raise Refused("FILTER", "write CASE WHEN ... THEN ... END into the aggregate")
        case _:
            raise Refused(
                "SELECT",
                f"{_sql(item)} is more than one aggregate; select its aggregates, and compute the "
                "rest when you read the table",
            )


def _sql(item: exp.Expr) -> str:
    return item.sql(dialect=_DIALECT)
