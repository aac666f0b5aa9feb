"""Turns the predicates of a Trino plan into filters on columns, whatever their constants are.

The trees are those of Trino 476's events. What one of them says in a way that is not known here is
a filter of the kind `other` on the columns that it names.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from optimizer.advice.domain.filters import Filter, FilterKind, either, negated
from portal.lake.errors import RuleViolation

MOST_DEPTH = 200
MOST_PARTS = 5_000
DYNAMIC = "$internal$dynamic_filter_function"
"""How Trino marks a filter by the values of a join's other side."""
Names = Mapping[str, str]
"""Columns, by the symbols of a plan."""
_EQUAL = {"EQUAL", "IDENTICAL"}
_RANGES = {
    *("LESS_THAN", "LESS_THAN_OR_EQUAL", "GREATER_THAN", "GREATER_THAN_OR_EQUAL"),
}


def predicate_filters(node: object, names: Names) -> list[Filter]:
    """Return the filters of a predicate, in order and without repeats.

    A `LIKE` for which Trino also compares the column begins with fixed letters: it is a prefix.

    Raises:
        RuleViolation: `queries.plan`, it has too many levels or parts.
    """
    found = list(dict.fromkeys(one for _, one in _Predicate(names).filters(node)))
    liked = {one.column for one in found if one.kind is FilterKind.CONTAINS}
    ranged = {one.column for one in found if one.kind is FilterKind.RANGE}
    of_like = liked & ranged
    kept = [one for one in found if one.column not in of_like or one.kind is not FilterKind.RANGE]
    return [
        Filter(one.column, FilterKind.PREFIX)
        if one.column in of_like and one.kind is FilterKind.CONTAINS
        else one
        for one in kept
    ]


def domain_kind(domain: Mapping[str, Any]) -> FilterKind:
    """Return how a column's domain, as a connector enforces it, narrows the column."""
    values = domain.get("values")
    found: Mapping[str, Any] = values if isinstance(values, Mapping) else {}
    ends = found.get("inclusive")
    if found.get("@type") == "allOrNone" or ends == []:
        return FilterKind.NULL
    if found.get("discreteSetMarker") == "DISCRETE" and isinstance(ends, list):
        return FilterKind.EQUAL if len(ends) == 2 else FilterKind.IN
    return FilterKind.IN if found.get("@type") == "equatable" else FilterKind.RANGE


class _Predicate:
    """Reads an expression of Trino's plan within limits."""

    def __init__(self, names: Names) -> None:
        self._names, self._n_parts = names, 0

    def filters(self, node: object, depth: int = 0) -> list[tuple[int, Filter]]:
        self._n_parts += 1
        if depth > MOST_DEPTH or self._n_parts > MOST_PARTS:
            raise RuleViolation(
                "queries.plan",
                f"A predicate has more than {MOST_DEPTH} levels or {MOST_PARTS} parts.",
            )
        if not isinstance(node, Mapping):
            return []
        kind = node.get("@type")
        if kind == "logical":
            parts = [self.filters(one, depth + 1) for one in _listed(node, "terms")]
            if node.get("operator") == "OR":
                return either(parts)
            return [one for part in parts for one in part]
        if kind == "call":
            return self._call(node, depth)
        if kind == "reference":
            # A boolean column by itself asks for what is true.
            return self._of(node, FilterKind.EQUAL)
        if (column := self._compared(node)) is not None:
            return self._of(*column)
        return self._others(node)

    def _call(self, node: Mapping[str, Any], depth: int) -> list[tuple[int, Filter]]:
        arguments, name = _listed(node, "arguments"), _function(node)
        if not arguments:
            return []
        first = arguments[0]
        if name == "$not":
            return negated(self.filters(first, depth + 1))
        kinds = {
            "$like": FilterKind.CONTAINS,
            "starts_with": FilterKind.PREFIX,
            DYNAMIC: FilterKind.DYNAMIC,
        }
        if name in kinds and _is_symbol(first) and not list(_symbols(arguments[1:])):
            return self._of(first, kinds[name])
        return self._others(node)

    def _compared(self, node: Mapping[str, Any]) -> tuple[object, FilterKind] | None:
        """Return the symbol that is compared with constants alone, and how; else None."""
        kind = node.get("@type")
        if kind == "comparison":
            sides = [node.get("left"), node.get("right")]
            symbols = [one for one in sides if _is_symbol(one)]
            operator = node.get("operator")
            if len(symbols) != 1 or len(list(_symbols(sides))) != 1:
                return None
            if operator in _EQUAL:
                return symbols[0], FilterKind.EQUAL
            return symbols[0], FilterKind.RANGE if operator in _RANGES else FilterKind.OTHER
        value = node.get("value")
        if not _is_symbol(value):
            return None
        if kind == "isnull":
            return value, FilterKind.NULL
        if kind == "between" and not list(_symbols([node.get("min"), node.get("max")])):
            return value, FilterKind.RANGE
        if kind == "in" and not list(_symbols(values := _listed(node, "valueList"))):
            return value, FilterKind.EQUAL if len(values) == 1 else FilterKind.IN
        return None

    def _of(self, symbol: object, kind: FilterKind) -> list[tuple[int, Filter]]:
        name = self._names.get(str(symbol["name"])) if isinstance(symbol, Mapping) else None
        return [] if name is None else [(0, Filter(name, kind))]

    def _others(self, node: object) -> list[tuple[int, Filter]]:
        named = dict.fromkeys(_symbols([node]))
        return [
            (0, Filter(self._names[one], FilterKind.OTHER)) for one in named if one in self._names
        ]


def _is_symbol(node: object) -> bool:
    return isinstance(node, Mapping) and node.get("@type") == "reference" and "name" in node


def _symbols(nodes: list[Any]) -> Iterator[str]:
    """Give the symbols in some expressions; read without recursion, for they may be deep."""
    left = list(nodes)
    while left:
        node = left.pop()
        if isinstance(node, Mapping):
            if _is_symbol(node):
                yield str(node["name"])
            left += node.values()
        elif isinstance(node, list):
            left += node


def _function(node: Mapping[str, Any]) -> str:
    """Return the name of a called function: `$like` of `$like(varchar(x),likepattern):boolean`."""
    function = node.get("function")
    identity = function.get("functionId") if isinstance(function, Mapping) else ""
    return str(identity).partition("(")[0].partition("<")[0]


def _listed(node: Mapping[str, Any], name: str) -> list[Any]:
    found = node.get(name)
    return found if isinstance(found, list) else []
