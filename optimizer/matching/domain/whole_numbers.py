"""Says whether arithmetic of whole numbers stays within its type, from the bounds of its columns.

Spark wraps around where Trino fails. Where nothing can overflow both compute the same, so a measure
such as `price * discount` that Spark stored can stand for Trino's.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

_WIDTHS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
ARITHMETIC: tuple[type[exp.Expr], ...] = (exp.Add, exp.Sub, exp.Mul)


@dataclass(frozen=True)
class Whole:
    """The least and the greatest that an expression can be, and how wide its type is."""

    low: int
    high: int
    bits: int

    def fits(self) -> bool:
        """Whether no value overflows."""
        most: int = 2 ** (self.bits - 1)
        return -most <= self.low and self.high < most


WholeOf = Callable[[exp.Column], Whole | None]


def whole_of(kind: str | None, bounds: tuple[int, int] | None) -> Whole | None:
    """Return a column's numbers; None where it holds none, or its bounds are not known."""
    if kind not in _WIDTHS or bounds is None:
        return None
    return Whole(bounds[0], bounds[1], _WIDTHS[kind])


def never_overflows(node: exp.Expr, whole: WholeOf) -> bool:
    """Whether an expression is sums, differences and products of whole columns within bounds."""
    return _bounds(node, whole) is not None


def _bounds(node: exp.Expr, whole: WholeOf) -> Whole | None:
    node = node.unnest()
    if isinstance(node, exp.Column):
        return whole(node)
    if isinstance(node, exp.Literal):
        is_small = not node.is_string and node.this.isdigit() and len(node.this) <= 9
        return Whole(int(node.this), int(node.this), 32) if is_small else None
    if not isinstance(node, ARITHMETIC):
        return None
    left, right = _bounds(node.args["this"], whole), _bounds(node.args["expression"], whole)
    if left is None or right is None:
        return None
    if isinstance(node, exp.Mul):
        ends = [one * other for one in (left.low, left.high) for other in (right.low, right.high)]
    elif isinstance(node, exp.Add):
        ends = [left.low + right.low, left.high + right.high]
    else:
        ends = [left.low - right.high, left.high - right.low]
    found = Whole(min(ends), max(ends), max(left.bits, right.bits))
    return found if found.fits() else None
