"""Takes an aggregating SELECT apart: tables, equal joins, conditions, with every column's table.

This is the normal form that stored aggregates are compared with. A SELECT that is no plain
aggregation of known tables is refused with the first thing that is not.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope

from optimizer.matching.domain.columns import qualify
from optimizer.matching.domain.functions import check_forms
from optimizer.matching.domain.rules import Rule, Unfit
from optimizer.matching.domain.views import Schema

Pair = frozenset[tuple[str, str]]
"""Two columns that are equal, each by the alias of its table and its name."""

_CLAUSES = ("expressions", "joins", "where", "group", "having", "order")
_KNOWN = {*_CLAUSES, "with_", "distinct", "from_", "limit", "offset"}


@dataclass(frozen=True)
class Source:
    """A table of the FROM clause; `left` has the equalities of its LEFT JOIN, None without one."""

    alias: str
    table: str
    node: exp.Table
    left: frozenset[Pair] | None = None


@dataclass(frozen=True)
class Block:
    """One aggregating SELECT; its columns all name their table."""

    select: exp.Select
    sources: Mapping[str, Source]
    pairs: Mapping[Pair, exp.Expr]
    """Columns of two tables that WHERE or ON makes equal, with the condition itself."""
    filters: tuple[exp.Expr, ...]


@dataclass(frozen=True)
class Candidate:
    """An aggregating SELECT as it stands in the query, with the tables behind its aliases."""

    select: exp.Select
    tables: Mapping[str, str | None]
    """None: a subquery, or a table that is not known."""


TableName = Callable[[exp.Table], str | None]
"""Returns `<db>.<table>` in lower case for a table that is known, else None."""


def candidates_of(tree: exp.Query, name_of: TableName) -> list[Candidate]:
    """Return the aggregating SELECTs that read at least one known table."""
    found = []
    for scope in traverse_scope(tree):
        select = scope.expression
        if not isinstance(select, exp.Select) or not is_aggregation(select):
            continue
        tables = {
            alias.lower(): name_of(source) if isinstance(source, exp.Table) else None
            for alias, (_, source) in scope.selected_sources.items()
        }
        if any(tables.values()):
            found.append(Candidate(select, tables))
    return found


def is_aggregation(select: exp.Select) -> bool:
    """Whether a SELECT by itself makes fewer rows of many."""
    if select.args.get("group") or select.args.get("distinct"):
        return True
    for root in _roots(select, ("expressions", "having", "order")):
        for node in root.walk(prune=lambda one: isinstance(one, exp.Query | exp.Window)):
            if isinstance(node, exp.AggFunc) and not isinstance(node.parent, exp.Window):
                return True
    return False


def read_block(candidate: Candidate, schema: Schema, dialect: str) -> Block:
    """Return a SELECT in normal form; the given one stays as it is.

    Raises:
        Unfit: it is no plain aggregation of known tables.
    """
    select = candidate.select.copy()
    _check_clauses(select)
    sources = _sources(select, candidate.tables, schema)
    qualify(select, {one.alias: one.table for one in sources.values()}, schema, dialect)
    for root in _roots(select, ("expressions", "where", "group", "having", "order")):
        check_forms(root)
    return _conditions(select, sources)


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """Return what an AND of conditions asks, one by one."""
    found, waiting = [], [] if condition is None else [condition]
    while waiting:
        node = waiting.pop().unnest()
        if isinstance(node, exp.And):
            waiting += [node.right, node.left]
        else:
            found.append(node)
    return found


def _roots(select: exp.Select, clauses: Iterable[str]) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for clause in clauses:
        value = select.args.get(clause)
        found += value if isinstance(value, list) else [value] if value is not None else []
    return found


def _check_clauses(select: exp.Select) -> None:
    for name, value in select.args.items():
        if value and name not in _KNOWN:
            raise Unfit(Rule.SHAPE, f"it has a {name.strip('_').upper()} that is not compared")
    if (distinct := select.args.get("distinct")) and distinct.args.get("on"):
        raise Unfit(Rule.SHAPE, "it has a DISTINCT ON")
    group = select.args.get("group")
    if group is not None and (group.args.get("all") is not None or group.args.get("totals")):
        raise Unfit(Rule.SHAPE, "it has a GROUP BY ALL or WITH TOTALS")


def _sources(
    select: exp.Select, tables: Mapping[str, str | None], schema: Schema
) -> dict[str, Source]:
    joins: list[exp.Join] = select.args.get("joins") or []
    found: dict[str, Source] = {}
    for join, node in [(None, select.args["from_"].this), *((one, one.this) for one in joins)]:
        if not isinstance(node, exp.Table):
            raise Unfit(Rule.TABLES, "it reads from a subquery; only tables are compared")
        alias = node.alias_or_name.lower()
        table = tables.get(alias)
        if table is None or not schema.knows(table):
            raise Unfit(
                Rule.TABLES,
                f"{node.name} is no Iceberg or Hudi table that is known here, but a subquery, a "
                "view or something else",
            )
        if node.args.get("version"):
            raise Unfit(Rule.TABLES, f"it reads {table} as of a snapshot that it names itself")
        extra = {name for name, value in node.args.items() if value}
        extra -= {"this", "db", "catalog", "alias"}
        named = node.args.get("alias")
        if extra or (named is not None and named.args.get("columns")):
            raise Unfit(Rule.TABLES, f"it reads {table} by parts, by a sample, or renamed")
        if alias in found:
            raise Unfit(Rule.TABLES, f"two of its tables are called {alias}")
        left = None if join is None else _left(join, table)
        found[alias] = Source(alias, table, node, frozenset() if left else None)
    return found


def _left(join: exp.Join, table: str) -> bool:
    """Whether a join is a LEFT JOIN; others than inner ones are refused."""
    extra = {name for name, value in join.args.items() if value}
    if extra - {"this", "on", "side", "kind"}:
        raise Unfit(Rule.JOINS, f"{table} is joined by USING, NATURAL or another form than ON")
    if join.side == "LEFT" and join.kind in ("", "OUTER"):
        return True
    if join.side or join.kind not in ("", "INNER", "CROSS"):
        kind = f"{join.side} {join.kind}".strip()
        raise Unfit(Rule.JOINS, f"{table} is joined by a {kind} JOIN")
    return False


def _conditions(select: exp.Select, sources: dict[str, Source]) -> Block:
    pairs: dict[Pair, exp.Expr] = {}
    filters: list[exp.Expr] = []
    where = select.args.get("where")
    asked = conjuncts(where.this if where is not None else None)
    for join in select.args.get("joins") or []:
        alias = join.this.alias_or_name.lower()
        on = conjuncts(join.args.get("on"))
        for one in on:
            check_forms(one)
        if sources[alias].left is None:
            asked += on
            continue
        equal = [pair_of(one) for one in on]
        if not equal or None in equal:
            raise Unfit(
                Rule.JOINS, f"the LEFT JOIN of {sources[alias].table} has other conditions than "
                "equal columns",
            )  # fmt: skip
        found = frozenset(one for one in equal if one is not None)
        sources[alias] = Source(alias, sources[alias].table, sources[alias].node, found)
    for one in asked:
        if (pair := pair_of(one)) is not None:
            pairs[pair] = one
        else:
            filters.append(one)
    return Block(select, sources, pairs, tuple(filters))


def pair_of(node: exp.Expr) -> Pair | None:
    """Return the two columns of an equality between tables, None for another condition."""
    if not isinstance(node, exp.EQ):
        return None
    left, right = node.this.unnest(), node.expression.unnest()
    if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
        return None
    if left.table == right.table:
        return None
    return frozenset({(left.table, left.name.lower()), (right.table, right.name.lower())})
