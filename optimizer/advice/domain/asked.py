"""What a query asks of each table that it reads: filters by kind, groups, aggregates, join keys.

It is read from the query's text. A condition above a subquery or a CTE is the outer query's own;
an engine may push it further down, and says so in its own events.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope

from optimizer.advice.domain.filters import Filter, FilterKind, either, negated
from optimizer.advice.domain.stars.terms import PLAIN, form_of, term_text
from optimizer.matching.domain.dates import dated
from optimizer.pruning.domain.uses import Found, Names, uses_in
from portal.lake.errors import RuleViolation

T = TypeVar("T")
_PLAIN = re.compile(r"\w+", re.ASCII)
Columns = Mapping[str, Collection[str]]
"""The columns of tables, in lower case, by `database.table`; with their types by Iceberg's names
where they are mappings."""


class Aggregate(NamedTuple):
    """An aggregate; `column` is `*` for all rows.

    Arithmetic of a table's columns stands as it is written (`price * quantity`); of any other
    expression it is empty.
    """

    function: str
    column: str


class JoinKey(NamedTuple):
    """A column that equals one of another table."""

    column: str
    other_table: str
    other_column: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a query asks of one table at one place; each tuple is in order and without repeats.

    A group is a column, or a form of one (`stars/terms.py`): `year(sold_on)`.
    """

    table: str
    filters: tuple[Filter, ...] = ()
    groups: tuple[str, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    joins: tuple[JoinKey, ...] = ()
    select: int = 0
    """Counts the SELECTs of the query; what is joined with each other has one number."""
    unfit: str = ""
    """What of the SELECT is in none of the above, as the end of a sentence; empty: nothing."""


def asked_in(sql: str, dialect: str, names: Names, columns: Columns) -> list[Asked]:
    """Return what a SELECT, or the SELECT of an INSERT or CTAS, asks of the lake's tables.

    A column without its table's name belongs to the only table that has it; where that is not
    known it is left out.

    Raises:
        RuleViolation: `advice.syntax`, the text cannot be read; `prune.syntax`, `prune.catalog`.
    """
    tree = query_in(sql, dialect)
    found = [] if tree is None else uses_in(tree, dialect, names)
    scopes = {id(one.scope): one.scope for one in found}.values()
    answers = {one.use.number: Asked(one.use.name) for one in found}
    for number, scope in enumerate(scopes):
        here = [one for one in found if one.scope is scope]
        _Reader(scope, here, columns, dialect).read_into(answers, number)
    return list(answers.values())


def query_in(sql: str, dialect: str) -> exp.Query | None:
    """Return the one SELECT that a text reads by; None where it has none, or several statements.

    Raises:
        RuleViolation: `advice.syntax`.
    """
    try:
        trees = [one for one in sqlglot.parse(sql, dialect=dialect) if one is not None]
    except (SqlglotError, RecursionError, ValueError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise RuleViolation("advice.syntax", f"The query cannot be read: {first[:300]}") from None
    if len(trees) != 1:
        return None
    tree = trees[0]
    if isinstance(tree, exp.Insert | exp.Create):
        tree = tree.expression
    return tree if isinstance(tree, exp.Query) else None


class _Reader:
    """Reads the conditions, groups and aggregates of one SELECT."""

    def __init__(self, scope: Scope, uses: Sequence[Found], columns: Columns, dialect: str) -> None:
        self._scope, self._uses, self._columns, self._dialect = scope, uses, columns, dialect
        self._by_alias = {one.use.alias.lower(): one for one in uses}

    def read_into(self, answers: dict[int, Asked], select: int) -> None:
        """Add what this SELECT asks of its tables."""
        filters = [one for node in self._conditions() for one in self._filters(node)]
        groups = [one for node in self._grouped() for one in self._group(node)]
        aggregates = list(self._aggregates())
        joins = [one for node in self._conditions() for one in self._joins(node)] + self._using()
        for number in {one.use.number for one in self._uses}:
            answers[number] = replace(
                answers[number],
                filters=_of(number, filters),
                groups=_of(number, groups),
                aggregates=_of(number, aggregates),
                joins=_of(number, joins),
                select=select,
                unfit=self._unfit(),
            )

    def _unfit(self) -> str:
        if len(self._scope.selected_sources) > len(self._uses):
            return "reads a subquery, or what is no table of the lake, beside it"
        if any(one.find(exp.Query) for one in self._conditions()):
            return "has a subquery in a condition"
        if any(
            one.kind in ("SEMI", "ANTI") for one in self._scope.expression.args.get("joins") or []
        ):
            return "is only looked up by a semi or anti join"
        for node in (*self._conditions(), *self._grouped()):
            for one in node.find_all(exp.Column):
                if self._owner(one) is None:
                    return "names a column of which the table is not known"
        return ""

    def _conditions(self) -> list[exp.Expr]:
        select = self._scope.expression
        where = select.args.get("where")
        joined = [one.args.get("on") for one in select.args.get("joins") or []]
        return [one for one in (where.this if where else None, *joined) if one is not None]

    # -- filters ---------------------------------------------------------------------------

    def _filters(self, node: exp.Expr) -> list[tuple[int, Filter]]:
        node = node.unnest()
        if isinstance(node, exp.And):
            return [*self._filters(node.left), *self._filters(node.right)]
        if isinstance(node, exp.Or):
            return either([self._filters(one) for one in _branches(node)])
        if isinstance(node, exp.Not):
            return negated(self._filters(node.this))
        subject, kind = _subject(node)
        if subject is not None and (owner := self._owner(subject)) is not None:
            return [(owner, Filter(subject.name.lower(), kind))]
        if isinstance(node, exp.EQ) and self._pair(node) is not None:
            return []
        return [(number, Filter(name, FilterKind.OTHER)) for number, name in self._owned(node)]

    def _joins(self, node: exp.Expr) -> list[tuple[int, JoinKey]]:
        node = node.unnest()
        if isinstance(node, exp.And):
            return [*self._joins(node.left), *self._joins(node.right)]
        if not isinstance(node, exp.EQ) or (pair := self._pair(node)) is None:
            return []
        (left, left_name), (right, right_name) = pair
        tables = {one.use.number: one.use.name for one in self._uses}
        return [
            (left, JoinKey(left_name, tables[right], right_name)),
            (right, JoinKey(right_name, tables[left], left_name)),
        ]

    def _using(self) -> list[tuple[int, JoinKey]]:
        """Return the keys of JOIN .. USING, where one table before the join has each."""
        found: list[tuple[int, JoinKey]] = []
        for join in self._scope.expression.args.get("joins") or []:
            right = self._by_alias.get(join.alias_or_name.lower())
            for name in (one.name.lower() for one in join.args.get("using") or []):
                lefts = [
                    one
                    for one in self._uses
                    if one is not right and name in self._columns.get(one.use.name, ())
                ]
                if right is not None and len(lefts) == 1:
                    left = lefts[0]
                    found.append((left.use.number, JoinKey(name, right.use.name, name)))
                    found.append((right.use.number, JoinKey(name, left.use.name, name)))
        return found

    def _pair(self, node: exp.EQ) -> tuple[tuple[int, str], tuple[int, str]] | None:
        sides = [one.unnest() for one in (node.left, node.right)]
        if not all(isinstance(one, exp.Column) for one in sides):
            return None
        owners = [self._owner(one) for one in sides if isinstance(one, exp.Column)]
        if owners[0] is None or owners[1] is None or owners[0] == owners[1]:
            return None
        return (owners[0], sides[0].name.lower()), (owners[1], sides[1].name.lower())

    # -- groups and aggregates -------------------------------------------------------------

    def _grouped(self) -> Iterable[exp.Expr]:
        select = self._scope.expression
        group = select.args.get("group")
        for one in group.expressions if group else []:
            yield from self._meant(one)
        for key in ("rollup", "cube", "grouping_sets"):
            for one in (group.args.get(key) or []) if group else []:
                yield from [one] if isinstance(one, exp.Expr) else []

    def _group(self, node: exp.Expr) -> list[tuple[int, str]]:
        """Return the column, or the form of one, that is grouped by; else all columns in it."""
        node = node.unalias().unnest()
        columns = list(node.find_all(exp.Column))
        owner = self._owner(columns[0]) if len(columns) == 1 else None
        if owner is None:
            return self._owned(node)
        name = columns[0].name.lower()
        (table,) = (one.use.name for one in self._uses if one.use.number == owner)
        known = self._columns.get(table)
        kind = known.get(name, "") if isinstance(known, Mapping) else ""
        # The form has to be of the column itself.
        is_outermost = (found := dated(node)) is not None and found[1] is columns[0]
        form = form_of(node, kind, self._dialect) if is_outermost else PLAIN
        return [(owner, term_text(form, name))]

    def _meant(self, node: exp.Expr) -> Iterable[exp.Expr]:
        """Give what a part of GROUP BY means: a place or a name of the SELECT's list, or itself."""
        select = self._scope.expression
        if isinstance(node, exp.Literal) and node.this.isdigit():
            place = int(node.this) - 1
            yield from select.expressions[place : place + 1]
            return
        if isinstance(node, exp.Column) and not node.table:
            name = node.name.lower()
            is_ours = any(name in self._columns.get(one.use.name, ()) for one in self._uses)
            named = [
                one.this
                for one in select.expressions
                if isinstance(one, exp.Alias) and one.alias.lower() == name
            ]
            if named and not is_ours:
                yield named[0]
                return
        yield node

    def _aggregates(self) -> Iterable[tuple[int, Aggregate]]:
        select = self._scope.expression
        nodes = [*select.expressions, select.args.get("having"), select.args.get("order")]
        for node in nodes:
            for one in node.find_all(exp.AggFunc) if node is not None else ():
                # Over a window it is computed from rows that are grouped already.
                is_window = isinstance(one.parent, exp.Window)
                if one.find_ancestor(exp.Select) is select and not is_window:
                    yield from self._aggregate(one)

    def _aggregate(self, node: exp.AggFunc) -> Iterable[tuple[int, Aggregate]]:
        function, inner = node.key, node.this
        if isinstance(inner, exp.Distinct):
            function = f"{function} distinct"
            inner = inner.expressions[0] if len(inner.expressions) == 1 else inner
        if isinstance(node.parent, exp.Filter):
            function = f"{function} filter"
        if isinstance(inner, exp.Star | exp.Literal) or inner is None:
            # All rows are asked of whichever table stands first.
            yield from [(self._uses[0].use.number, Aggregate(function, "*"))]
            return
        owned = self._owned(inner)
        text = arithmetic_of(inner) if len({number for number, _ in owned}) == 1 else ""
        if not owned:
            # Of a column whose table is not known: it is no aggregate of nothing.
            owned = [(self._uses[0].use.number, "")]
        yield from dict.fromkeys((number, Aggregate(function, text)) for number, _ in owned)

    # -- columns ---------------------------------------------------------------------------

    def _owned(self, node: exp.Expr) -> list[tuple[int, str]]:
        """Return the columns of our tables in an expression, with the uses that they are of."""
        found = []
        for column in node.find_all(exp.Column):
            if (owner := self._owner(column)) is not None:
                found.append((owner, column.name.lower()))
        return found

    def _owner(self, column: exp.Column) -> int | None:
        if column.find_ancestor(exp.Select) is not self._scope.expression:
            return None
        if column.table:
            found = self._by_alias.get(column.table.lower())
            return None if found is None else found.use.number
        if len(self._scope.selected_sources) == 1:
            return self._uses[0].use.number
        name = column.name.lower()
        having = [one for one in self._uses if name in self._columns.get(one.use.name, frozenset())]
        return having[0].use.number if len(having) == 1 else None


_ARITHMETIC = (exp.Column, exp.Identifier, exp.Paren, exp.Add, exp.Sub, exp.Mul, exp.Neg)


def arithmetic_of(node: exp.Expr) -> str:
    """Return a column's name, or arithmetic of columns in one way of writing it; else nothing.

    Columns lose their table's name. A constant makes it nothing: it may be a customer's number.
    """
    if any(type(one) not in _ARITHMETIC for one in node.walk()):
        return ""
    if isinstance(node, exp.Column):
        return node.name.lower()
    bare = node.copy()
    columns = list(bare.find_all(exp.Column))
    if not all(_PLAIN.fullmatch(one.name) for one in columns):
        return ""
    for one in columns:
        one.replace(exp.column(exp.to_identifier(one.name.lower(), quoted=False)))
    return bare.sql(dialect="spark", comments=False)


def _of(number: int, found: Iterable[tuple[int, T]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(one for owner, one in found if owner == number))


def _branches(node: exp.Expr) -> list[exp.Expr]:
    node = node.unnest()
    if isinstance(node, exp.Or):
        return [*_branches(node.left), *_branches(node.right)]
    return [node]


_RANGES = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)


def _subject(node: exp.Expr) -> tuple[exp.Column | None, FilterKind]:
    """Return the column that a plain condition is about, and its kind; None where there is none."""
    if isinstance(node, exp.Is):
        is_null = isinstance(node.expression, exp.Null)
        return _column(node.this), FilterKind.NULL if is_null else FilterKind.OTHER
    if isinstance(node, exp.In):
        if node.args.get("query"):
            return _column(node.this), FilterKind.DYNAMIC
        if any(one.find(exp.Column) for one in node.expressions):
            return None, FilterKind.OTHER
        is_one = len(node.expressions) == 1
        return _column(node.this), FilterKind.EQUAL if is_one else FilterKind.IN
    if isinstance(node, exp.Escape):
        node = node.this
    if isinstance(node, exp.Like | exp.StartsWith | exp.Contains):
        inner = node.this.unnest()
        lowered = inner.this if isinstance(inner, exp.Lower) else inner
        return _column(lowered), _text_kind(node)
    if isinstance(node, exp.EQ | exp.Between | exp.LT | exp.LTE | exp.GT | exp.GTE):
        return _compared(node)
    return None, FilterKind.OTHER


def _compared(node: exp.Expr) -> tuple[exp.Column | None, FilterKind]:
    if isinstance(node, exp.Between):
        others = [node.args["low"], node.args["high"]]
        column = _column(node.this)
    else:
        column, others = _column(node.args["this"]), [node.args["expression"]]
        if column is None:
            column, others = _column(node.args["expression"]), [node.args["this"]]
    if any(one.find(exp.Select) for one in others):
        return column, FilterKind.DYNAMIC
    if any(one.find(exp.Column) for one in others):
        return None, FilterKind.OTHER
    return column, FilterKind.RANGE if isinstance(node, _RANGES) else FilterKind.EQUAL


def _text_kind(node: exp.Expr) -> FilterKind:
    if isinstance(node, exp.StartsWith):
        return FilterKind.PREFIX
    if isinstance(node, exp.Contains):
        return FilterKind.CONTAINS
    pattern = node.args["expression"]
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        return FilterKind.OTHER
    text = str(pattern.this)
    if "%" not in text and "_" not in text:
        return FilterKind.EQUAL
    fixed = len(text) - len(text.lstrip("%_"))
    rest = text.rstrip("%")
    return FilterKind.PREFIX if not fixed and "%" not in rest else FilterKind.CONTAINS


def _column(node: exp.Expr) -> exp.Column | None:
    node = node.unnest()
    return node if isinstance(node, exp.Column) else None
