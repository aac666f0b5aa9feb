"""Says from which stored states each aggregate of a query can be made."""

from dataclasses import dataclass
from enum import StrEnum

from sqlglot import exp

from optimizer.matching.domain.dimensions import Expressions
from optimizer.matching.domain.functions import AGGREGATES
from optimizer.matching.domain.rules import Rule, Unfit
from optimizer.matching.domain.views import ViewMeasure


class Made(StrEnum):
    """How an aggregate is made."""

    ROWS = "rows"
    COUNT = "count"
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    AVG = "avg"
    DISTINCT = "distinct"
    DISTINCT_COUNT = "distinct_count"
    """As it is stored: right for the stored groups alone."""
    SKETCH = "sketch"
    OF_KEYS = "keys"
    """By itself: all that it is of are dimensions, and rows that are alike do not change it."""
    COUNT_KEYS = "count keys"
    """The rows in which an expression over dimensions is not null."""


@dataclass(frozen=True)
class Aggregate:
    """One aggregate: how it is made, of which measure, and the condition of its FILTER."""

    made: Made
    call: exp.Expr
    measure: ViewMeasure | None = None
    condition: exp.Expr | None = None

    @property
    def states(self) -> tuple[str, ...]:
        """The functions of the measure whose states are needed."""
        if self.measure is None:
            return ()
        return ("sum", "count") if self.made is Made.AVG else (self.made.value,)


_PLAIN: dict[type[exp.Expr], Made] = {
    exp.Count: Made.COUNT,
    exp.Sum: Made.SUM,
    exp.Min: Made.MIN,
    exp.Max: Made.MAX,
    exp.Avg: Made.AVG,
}


def read_aggregate(node: exp.Expr, expressions: Expressions, time_zone: str) -> Aggregate:
    """Return how an aggregate call, with its FILTER, is made from stored states.

    Raises:
        Unfit: it cannot be.
    """
    condition = node.expression.this if isinstance(node, exp.Filter) else None
    call = node.this if isinstance(node, exp.Filter) else node
    text = call.sql()
    if any(isinstance(one, AGGREGATES) for one in call.walk() if one is not call):
        raise Unfit(Rule.MEASURE, f"{text} is an aggregate of an aggregate")
    if isinstance(call, exp.ApproxDistinct):
        measure = expressions.measures.get(expressions.key(call.this) or "")
        if call.args.get("accuracy") is None and measure and "sketch" in measure.functions:
            return Aggregate(Made.SKETCH, call, measure, condition)
        raise Unfit(Rule.MEASURE, f"no sketch is stored for {text}")
    inner = call.this
    if isinstance(inner, exp.Distinct):
        return _distinct(call, inner, expressions, time_zone, condition)
    if len(_arguments(call)) != 1:
        raise Unfit(Rule.MEASURE, f"{text} has other arguments than one")
    if isinstance(call, exp.Count) and (isinstance(inner, exp.Star) or _is_constant(inner)):
        return Aggregate(Made.ROWS, call, None, condition)
    made = _PLAIN[type(call)]
    measure = expressions.measures.get(expressions.key(inner) or "")
    wanted = {"sum", "count"} if made is Made.AVG else {made.value}
    if measure is not None and wanted <= measure.functions:
        return Aggregate(made, call, measure, condition)
    if made in (Made.MIN, Made.MAX, Made.COUNT) and _over_dimensions(
        [inner], expressions, time_zone
    ):
        of = Made.COUNT_KEYS if made is Made.COUNT else Made.OF_KEYS
        return Aggregate(of, call, None, condition)
    if measure is not None:
        has = ", ".join(sorted(measure.functions))
        raise Unfit(Rule.MEASURE, f"{text} needs more than the measure {measure.name} has: {has}")
    raise Unfit(Rule.MEASURE, f"{text} is of no measure")


def _distinct(
    call: exp.Expr,
    inner: exp.Distinct,
    expressions: Expressions,
    time_zone: str,
    condition: exp.Expr | None,
) -> Aggregate:
    """DISTINCT is exact over dimensions, and where the values themselves are stored."""
    text = call.sql()
    if _over_dimensions(inner.expressions, expressions, time_zone):
        return Aggregate(Made.OF_KEYS, call, None, condition)
    if isinstance(call, exp.Count) and len(inner.expressions) == 1:
        measure = expressions.measures.get(expressions.key(inner.expressions[0]) or "")
        if measure is not None and "distinct" in measure.functions:
            return Aggregate(Made.DISTINCT, call, measure, condition)
        if measure is not None and Made.DISTINCT_COUNT.value in measure.functions:
            return Aggregate(Made.DISTINCT_COUNT, call, measure, condition)
    raise Unfit(Rule.MEASURE, f"{text} is of no dimensions, and its values are not stored")


def _arguments(call: exp.Expr) -> list[exp.Expr]:
    more = call.args.get("expressions") or []
    return [one for one in (call.this, *more) if one is not None]


def _is_constant(node: exp.Expr) -> bool:
    return isinstance(node.unnest(), exp.Literal)


def _over_dimensions(parts: list[exp.Expr], expressions: Expressions, time_zone: str) -> bool:
    try:
        used = [expressions.used_in(one, time_zone, Rule.MEASURE) for one in parts]
    except Unfit as error:
        if error.rule is Rule.TYPE:
            raise
        return False
    return all(used)
