"""Says whether the conditions of a query leave only rows that a stored aggregate holds.

A stored aggregate with conditions of its own answers a query where each of them follows from one
of the query's: the same text, or a narrower range or list of the same expression. What the rules
do not know follows from nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from sqlglot import exp

from optimizer.matching.domain.rules import Rule, Unfit

FLOATS = ("float", "double")
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "decimal", *FLOATS)
_SWAPPED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
}
_SHOWN = 80


@dataclass(frozen=True)
class Bound:
    """One end of a range."""

    value: Any
    is_in: bool


@dataclass(frozen=True)
class Asked:
    """A condition in the form that is compared: what it is of, and what passes."""

    of: str
    kind: str
    """Of the literals: only those of one kind are compared."""
    low: Bound | None = None
    high: Bound | None = None
    values: frozenset[Any] | None = None

    def implies(self, other: "Asked") -> bool:
        """Whether whatever passes this passes the other as well."""
        if self.of != other.of:
            return False
        if other.kind == "not null":
            return True  # no comparison is true of NULL
        if self.kind != other.kind:
            return False
        if self.values is not None:
            return all(other.has(one) for one in self.values)
        return other.values is None and other._is_wider(self)

    def has(self, value: Any) -> bool:
        """Whether a value passes."""
        if self.values is not None:
            return value in self.values
        point = Bound(value, is_in=True)
        return self._is_wider(Asked(self.of, self.kind, point, point))

    def _is_wider(self, other: "Asked") -> bool:
        return _is_above(other.low, self.low) and _is_below(other.high, self.high)


Key = Callable[[exp.Expr], str | None]
"""Returns the form in which an expression is compared; None: it is not."""
TypeOf = Callable[[exp.Expr], str | None]
"""Returns Spark's type of an expression; None: it is not known."""


@dataclass(frozen=True)
class Reader:
    """Reads the conditions of a query, or of a stored aggregate."""

    key: Key
    type_of: TypeOf

    def read(self, condition: exp.Expr) -> list[Asked] | None:
        """Return a condition as what it asks, all of which must hold; None: it is not known."""
        node = condition.unnest()
        if isinstance(node, exp.Between):
            ends = [
                exp.GTE(this=node.this.copy(), expression=node.args["low"].copy()),
                exp.LTE(this=node.this.copy(), expression=node.args["high"].copy()),
            ]
            halves = [self._compared(one) for one in ends]
        elif isinstance(node, exp.In):
            halves = [self._listed(node)]
        elif _is_not_null(node):
            key = self.key(node.this.unnest().this)
            halves = [None if key is None else Asked(key, "not null")]
        else:
            halves = [self._compared(node)]
        found = [one for one in halves if one is not None]
        return found if len(found) == len(halves) else None

    def _compared(self, node: exp.Expr) -> Asked | None:
        made = type(node)
        if made not in _SWAPPED:
            return None
        left, right = node.this.unnest(), node.expression.unnest()
        if isinstance(left, exp.Literal | exp.Neg | exp.Cast) and _literal(left) is not None:
            left, right, made = right, left, _SWAPPED[made]
        literal, key = _literal(right), self.key(left)
        if literal is None or key is None:
            return None
        kind, value = literal[0], self._as_read(literal, left)
        if value is None:
            return None
        if made is exp.EQ:
            return Asked(key, kind, values=frozenset({value}))
        if made in (exp.GT, exp.GTE):
            return Asked(key, kind, low=Bound(value, made is exp.GTE))
        return Asked(key, kind, high=Bound(value, made is exp.LTE))

    def _listed(self, node: exp.In) -> Asked | None:
        if not node.expressions or any(node.args.get(one) for one in ("query", "unnest", "field")):
            return None
        literals = [_literal(one.unnest()) for one in node.expressions]
        kinds = {one[0] for one in literals if one is not None}
        of = node.this.unnest()
        key = self.key(of)
        values = frozenset(self._as_read(one, of) for one in literals if one is not None)
        if key is None or len(kinds) != 1 or None in literals or None in values:
            return None
        return Asked(key, kinds.pop(), values=values)

    def _as_read(self, literal: tuple[str, Any], of: exp.Expr) -> Any:
        """Return the value as engines compare the expression with it; None: not as it is here.

        A literal of another type is cast, or the expression is, one way for = and another for IN.
        """
        (kind, value), known = literal, (self.type_of(of) or "").split("(")[0]
        if kind != "number":
            return value if known == kind else None
        if known in FLOATS:
            return float(value)  # it has no more digits
        return value if known in _NUMBERS else None


def rest_of(
    wanted: Iterable[exp.Expr], own: Reader, asked: Sequence[exp.Expr], query: Reader
) -> list[exp.Expr]:
    """Return the query's conditions that still have to be asked of the stored rows.

    Raises:
        Unfit: a condition of the stored aggregate does not follow from the query's.
    """
    known = [(one, query.read(one), query.key(one)) for one in asked]
    stored: list[Asked] = []
    texts: set[str] = set()
    for one in wanted:
        text, halves = own.key(one), own.read(one)
        is_same = text is not None and any(text == found for _, _, found in known)
        if is_same and text is not None:
            texts.add(text)
        if halves is not None and _follow(
            halves, [half for _, had, _ in known for half in had or ()]
        ):
            stored += halves
        elif not is_same:
            shown = one.sql("spark")
            shown = shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."
            raise Unfit(
                Rule.FILTER, f"it holds only rows with {shown}, and the query may need others"
            )
    return [
        node
        for node, halves, text in known
        if text not in texts and not (halves and all(half in stored for half in halves))
    ]


def _follow(wanted: Iterable[Asked], known: Sequence[Asked]) -> bool:
    return all(any(one.implies(half) for one in known) for half in wanted)


def _is_above(inner: Bound | None, outer: Bound | None) -> bool:
    if outer is None or inner is None:
        return outer is None
    return bool(inner.value > outer.value) or (
        inner.value == outer.value and (outer.is_in or not inner.is_in)
    )


def _is_below(inner: Bound | None, outer: Bound | None) -> bool:
    if outer is None or inner is None:
        return outer is None
    return bool(inner.value < outer.value) or (
        inner.value == outer.value and (outer.is_in or not inner.is_in)
    )


def _is_not_null(node: exp.Expr) -> bool:
    inner = node.this.unnest() if isinstance(node, exp.Not) else None
    return isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null)


def _literal(node: exp.Expr) -> tuple[str, Any] | None:
    """Return the kind and the value of a constant; None: it is none that is compared."""
    if isinstance(node, exp.Neg):
        inner = _literal(node.this.unnest())
        return ("number", -inner[1]) if inner is not None and inner[0] == "number" else None
    if isinstance(node, exp.Literal):
        return ("string", node.this) if node.is_string else ("number", Decimal(node.this))
    if isinstance(node, exp.Cast) and node.to.is_type(exp.DataType.Type.DATE):
        inner = _literal(node.this.unnest())
        is_date = inner is not None and inner[0] == "string" and _is_iso(inner[1])
        return ("date", inner[1]) if inner is not None and is_date else None
    return None


def _is_iso(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
