"""Compares a SELECT in normal form with one stored aggregate.

The rules, in this order: the same tables by the same joins; conditions over dimensions alone;
grouping and output over dimensions; every aggregate made from stored states. A join that the view
declares and the query does not use changes nothing, because every row has exactly one partner.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from optimizer.matching.domain.aggregates import Aggregate, Made, read_aggregate
from optimizer.matching.domain.blocks import Block, Pair
from optimizer.matching.domain.dimensions import Expressions
from optimizer.matching.domain.functions import AGGREGATES
from optimizer.matching.domain.rules import Rule, Unfit
from optimizer.matching.domain.views import FACT, Schema, View, ViewDimension, ViewJoin

_OUTER = ("expressions", "having", "order")


@dataclass(frozen=True)
class Match:
    """How a SELECT is answered from a view."""

    block: Block
    view: View
    expressions: Expressions
    fact: str
    """The query's alias of the view's table."""
    filters: tuple[exp.Expr, ...]
    """What is asked of the stored rows, as the query writes it."""
    keys: frozenset[str]
    """The dimensions that the answer is made of."""
    filtered: frozenset[str]
    """The dimensions of the conditions."""
    aggregates: tuple[Aggregate, ...]

    @property
    def used(self) -> frozenset[str]:
        """All dimensions that the query touches."""
        return self.keys | self.filtered


def match(block: Block, view: View, schema: Schema, dialect: str, time_zone: str = "") -> Match:
    """Compare.

    Raises:
        Unfit: the first rule that failed.
    """
    names, joined = _named(block, view)
    expressions = Expressions(view, names, schema, dialect)
    fact = next(alias for alias, name in names.items() if name == FACT)
    rest = [node for pair, node in block.pairs.items() if pair not in joined]
    filters = tuple(expressions.rest_of([*block.filters, *rest], time_zone))
    filtered: set[str] = set()
    for one in filters:
        filtered |= _used(expressions, one, time_zone)
    keys: set[str] = set()
    aggregates: list[Aggregate] = []

    def take(node: exp.Expr) -> exp.Expr:
        found = read_aggregate(node, expressions, time_zone)
        parts = [found.condition] if found.condition is not None else []
        if found.measure is None:
            parts.append(found.call.this)
        for one in parts:
            keys.update(expressions.used_in(one, time_zone, Rule.MEASURE))
        aggregates.append(found)
        return exp.null()

    def keep(dimension: ViewDimension) -> exp.Expr:
        keys.add(dimension.name)
        return exp.null()

    group = block.select.args.get("group")
    if group is not None:
        if group.find(*AGGREGATES):
            raise Unfit(Rule.SHAPE, "GROUP BY holds an aggregate")
        keys |= expressions.used_in(group, time_zone, Rule.DIMENSION)
    for root in _outer(block.select):
        expressions.replaced(root, time_zone, Rule.DIMENSION, keep, take)
    if any(one.made is Made.DISTINCT_COUNT for one in aggregates):
        _check_same_groups(group, view, expressions, time_zone)
    return Match(
        block, view, expressions, fact, filters, frozenset(keys), frozenset(filtered),
        tuple(aggregates),
    )  # fmt: skip


def _check_same_groups(
    group: exp.Expr | None, view: View, expressions: Expressions, time_zone: str
) -> None:
    """Refuse to add up counts of distinct values, which groups may share."""
    asked = [] if group is None else list(group.expressions)
    found = [expressions.dimension_of(one.unnest(), time_zone) for one in asked]
    extra = group is not None and any(
        value for name, value in group.args.items() if name != "expressions"
    )
    if (
        extra
        or None in found
        or {one.name for one in found if one} != {one.name for one in view.dimensions}
    ):
        raise Unfit(
            Rule.MEASURE,
            f"its counts of distinct values hold for its own groups, by "
            f"{', '.join(one.name for one in view.dimensions) or 'nothing'}, alone",
        )


def _used(expressions: Expressions, node: exp.Expr, time_zone: str) -> set[str]:
    try:
        return expressions.used_in(node, time_zone, Rule.FILTER)
    except Unfit as error:
        if error.rule is not Rule.FILTER:
            raise
        text = node.sql()
        shown = text if len(text) <= 80 else f"{text[:77]}..."
        raise Unfit(Rule.FILTER, f"the condition {shown}: {error.reason}") from None


def _outer(select: exp.Select) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for clause in _OUTER:
        value = select.args.get(clause)
        found += value if isinstance(value, list) else [value] if value is not None else []
    return found


def _named(block: Block, view: View) -> tuple[Mapping[str, str], set[Pair]]:
    """Return the view's alias for each alias of the query, and the equalities that joined them."""
    facts = [one for one in block.sources.values() if one.table == view.table]
    if len(facts) != 1:
        n = "not at all" if not facts else f"{len(facts)} times"
        raise Unfit(Rule.TABLES, f"it reads {view.table} {n}; once is compared")
    if facts[0].left is not None:
        raise Unfit(Rule.JOINS, f"nulls may stand for rows of {view.table} in a LEFT JOIN")
    names: dict[str, str] = {facts[0].alias: FACT}
    joined: set[Pair] = set()
    waiting = [one for one in block.sources.values() if one is not facts[0]]
    for join in view.joins:
        for source in waiting:
            if source.table != join.table:
                continue
            wanted = _wanted(join, source.alias, names)
            has = set(block.pairs if source.left is None else source.left)
            is_same = wanted is not None and (
                wanted <= has
                if source.left is None
                else wanted == has and not view.has_unsure_joins
            )
            if is_same and wanted is not None:
                names[source.alias] = join.alias
                joined |= wanted
                waiting.remove(source)
                break
    missing = [one.table for one in view.joins if one.alias not in names.values()]
    if view.has_unsure_joins and missing:
        raise Unfit(Rule.JOINS, f"it holds rows joined with {missing[0]}, and the query does not")
    if waiting:
        table = waiting[0].table
        known = any(one.table == table for one in view.joins)
        why = "on other columns than declared" if known else "which is not declared"
        raise Unfit(Rule.JOINS, f"it joins {table} as {waiting[0].alias}, {why}")
    return names, joined


def _wanted(join: ViewJoin, alias: str, names: Mapping[str, str]) -> set[Pair] | None:
    of = {view_alias: query_alias for query_alias, view_alias in names.items()}
    found: set[Pair] = set()
    for left, right in join.on:
        left_alias, _, column = left.rpartition(".")
        if left_alias not in of:
            return None
        found.add(frozenset({(of[left_alias], column.lower()), (alias, right.lower())}))
    return found
