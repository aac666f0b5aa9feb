"""Merges stored states of measures into the aggregates of a query, with the engine's own types.

Where the type or a digit of a result is not sure to be the engine's own, the aggregate is refused.
"""

import re
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from optimizer.matching.domain.aggregates import Aggregate, Made
from optimizer.matching.domain.rules import Rule, Unfit
from optimizer.rewriting.domain.facts import CubeFacts

_WHOLE = {"tinyint": 2**7, "smallint": 2**15, "int": 2**31, "bigint": 2**63}
_FLOATS = ("float", "double")
_LONGEST = 38
ROWS = "rows"


@dataclass(frozen=True)
class Merger:
    """Writes aggregates over states for one dialect; `rows` is how many rows there are at most."""

    dialect: str
    cube: CubeFacts
    rows: int
    state: str
    """The alias of the subquery that has the states."""

    def merged(self, aggregate: Aggregate, condition: exp.Expr | None) -> exp.Expr:
        """Return the aggregate over the states; `condition` is its FILTER over the keys.

        Raises:
            Unfit: the result could differ.
        """
        made = aggregate.made
        if made is Made.ROWS:
            return self._count(ROWS, condition)
        measure = aggregate.measure
        if measure is None:
            raise TypeError(f"{made} is of no measure")
        if made is Made.COUNT:
            return self._count(f"{measure.name}_count", condition)
        if made is Made.DISTINCT:
            return self._distinct(measure.name, measure.type, condition)
        if made is Made.DISTINCT_COUNT:
            one = self._call("max", f"{measure.name}_{made.value}", condition)
            return exp.Coalesce(this=one, expressions=[exp.Literal.number(0)])
        if made is Made.SKETCH:
            return self._sketch(measure.name, condition)
        if made in (Made.MIN, Made.MAX):
            self._check_floats(measure.name, measure.type)
            return self._call(made.value, f"{measure.name}_{made.value}", condition)
        self._check_sum(measure.name, measure.type)
        total = self._call("sum", f"{measure.name}_sum", condition)
        if made is Made.SUM:
            return self._sum(total, measure.type)
        return self._average(total, measure.name, measure.type, condition)

    def count_keys(self, inner: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
        """Return the count of rows in which an expression over keys is not null."""
        there = exp.Not(this=exp.Is(this=exp.paren(inner), expression=exp.null()))
        both = there if condition is None else exp.and_(there, condition)
        return self._count(ROWS, both)

    def _column(self, name: str) -> exp.Column:
        return exp.column(exp.to_identifier(name, quoted=True), table=self.state)

    def _call(self, function: str, column: str, condition: exp.Expr | None) -> exp.Expr:
        call = exp.func(function, self._column(column), dialect=self.dialect)
        return self._filtered(call, condition)

    def _filtered(self, call: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
        if condition is None:
            return call
        return exp.Filter(this=call, expression=exp.Where(this=condition.copy()))

    def _count(self, column: str, condition: exp.Expr | None) -> exp.Expr:
        total = self._call("sum", column, condition)
        return exp.Coalesce(this=total, expressions=[exp.Literal.number(0)])

    def _check_sum(self, name: str, kind: str) -> None:
        if kind in _FLOATS:
            raise Unfit(Rule.TYPE, f"the sum of {name}, a {kind}, depends on the order of rows")
        if kind in _WHOLE:
            if self._greatest(name, kind) * self.rows >= 2**63:
                raise Unfit(Rule.TYPE, f"the sum of {name} could pass 64 bits")
            return
        precision, _ = decimal_of(kind)
        if precision > _LONGEST - 10 or self.rows >= 10**10:
            raise Unfit(Rule.TYPE, f"the sum of {name}, a {kind}, could pass 38 digits")

    def _greatest(self, name: str, kind: str) -> int:
        return min(self.cube.max_abs.get(name, _WHOLE[kind]), _WHOLE[kind])

    def _check_floats(self, name: str, kind: str) -> None:
        if kind not in _FLOATS:
            return
        if self.dialect != "spark" or name in self.cube.negative_zero:
            raise Unfit(
                Rule.TYPE, f"{name} is a {kind}, of which engines order NaN and negative zeros "
                "each in their own way",
            )  # fmt: skip

    def _sum(self, total: exp.Expr, kind: str) -> exp.Expr:
        if kind in _WHOLE or self.dialect != "spark":
            return total
        precision, scale = decimal_of(kind)
        return exp.cast(total, f"DECIMAL({precision + 10}, {scale})", dialect="spark")

    def _average(
        self, total: exp.Expr, name: str, kind: str, condition: exp.Expr | None
    ) -> exp.Expr:
        if self.dialect not in ("trino", "spark"):
            raise Unfit(Rule.TYPE, f"how {self.dialect} rounds the average of {name} is not known")
        n = self._call("sum", f"{name}_count", condition)
        if kind in _WHOLE:
            # Engines add whole numbers up as doubles: exact and in any order below 2^53.
            if self._greatest(name, kind) * self.rows >= 2**53:
                raise Unfit(Rule.TYPE, f"the average of {name} could pass what a double holds")
            above, below = exp.cast(total, "DOUBLE"), exp.cast(n, "DOUBLE")
            return exp.paren(_divided(above, below))
        precision, scale = decimal_of(kind)
        if self.dialect == "trino":
            # Trino rounds half away from zero to the column's own scale, once.
            quotient = _divided(total, exp.cast(n, "DECIMAL(19, 0)"))
            return exp.cast(quotient, f"DECIMAL({precision}, {scale})", dialect="trino")
        digits = len(str(max(self.rows, 1)))
        whole = precision - scale + digits
        if precision + digits > _LONGEST or digits > min(
            17, _LONGEST - whole - scale - 4
        ) or scale + 4 > _LONGEST:  # fmt: skip
            raise Unfit(Rule.TYPE, f"the average of {name}, a {kind}, could be rounded twice")
        above = exp.cast(total, f"DECIMAL({precision + digits}, {scale})", dialect="spark")
        below = exp.cast(n, "DECIMAL(20, 0)", dialect="spark")
        result = f"DECIMAL({min(precision + 4, _LONGEST)}, {scale + 4})"
        return exp.cast(_divided(above, below), result, dialect="spark")

    def _distinct(self, name: str, kind: str, condition: exp.Expr | None) -> exp.Expr:
        if kind in _FLOATS:
            raise Unfit(Rule.TYPE, f"{name} is a {kind}: engines tell NaN and zeros apart or not")
        column = self._column(f"{name}_distinct")
        texts = {
            "trino": "COALESCE(CARDINALITY(ARRAY_DISTINCT(FLATTEN(ARRAY_AGG({}) {}))), 0)",
            "spark": "CAST(SIZE(ARRAY_DISTINCT(FLATTEN(COLLECT_LIST({})))) AS BIGINT)",
        }
        return self._written(texts, f"the distinct values of {name}", column, condition)

    def _sketch(self, name: str, condition: exp.Expr | None) -> exp.Expr:
        column = self._column(f"{name}_sketch")
        texts = {"spark": "COALESCE(HLL_SKETCH_ESTIMATE(HLL_UNION_AGG({}) {}), 0)"}
        return self._written(texts, f"the sketch of {name}", column, condition)

    def _written(
        self, texts: dict[str, str], what: str, column: exp.Column, condition: exp.Expr | None
    ) -> exp.Expr:
        if self.dialect not in texts:
            raise Unfit(Rule.MEASURE, f"{what} cannot be merged by {self.dialect}")
        asked: exp.Expr = exp.Not(this=exp.Is(this=column, expression=exp.null()))
        if condition is not None:
            asked = exp.and_(asked, condition)
        where = f"FILTER (WHERE {asked.sql(dialect=self.dialect)})"
        text = texts[self.dialect].format(column.sql(dialect=self.dialect), where)
        return sqlglot.parse_one(text, dialect=self.dialect)


def _divided(above: exp.Expr, below: exp.Expr) -> exp.Expr:
    nothing = exp.Nullif(this=below, expression=exp.Literal.number(0))
    return exp.Div(this=above, expression=nothing, typed=True, safe=False)


def decimal_of(kind: str) -> tuple[int, int]:
    """Return precision and scale of a decimal type.

    Raises:
        Unfit: it is no number.
    """
    found = re.fullmatch(r"decimal\((\d+),\s*(\d+)\)", kind)
    if found is None:
        raise Unfit(Rule.TYPE, f"a {kind} is not summed")
    return int(found[1]), int(found[2])


def state_of(function: str, argument: exp.Expr, dialect: str) -> exp.Expr:
    """Return the aggregate that makes a state afresh from rows."""
    text = argument.sql(dialect=dialect)
    if function == "distinct":
        form = {
            "trino": "ARRAY_AGG(DISTINCT {0}) FILTER (WHERE {0} IS NOT NULL)",
            "spark": "COLLECT_SET({0})",
        }[dialect]
    elif function == "sketch":
        form = "HLL_SKETCH_AGG({0}, 12)"
    else:
        form = f"{function.upper()}({{0}})"
    return sqlglot.parse_one(form.format(text), dialect=dialect)
